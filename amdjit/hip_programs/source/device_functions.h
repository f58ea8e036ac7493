// The functions of ROCm's device library that HIP's headers call, so that none is needed.
#pragma once
#if __has_include(<hip/hip_version.h>) && !defined(__HIPCC_RTC__)
#include <hip/hip_version.h>
// The library behaves as the version whose headers the program has.
extern "C" __attribute__((weak, visibility("default"))) int amdjit_hip_headers = HIP_VERSION;
#endif
#define DEVICE_FUNCTION extern "C" __attribute__((device)) inline unsigned long
DEVICE_FUNCTION __ockl_get_group_id(unsigned axis) {
  return axis == 0   ? __builtin_amdgcn_workgroup_id_x()
         : axis == 1 ? __builtin_amdgcn_workgroup_id_y()
                     : __builtin_amdgcn_workgroup_id_z();
}
DEVICE_FUNCTION __ockl_get_local_id(unsigned axis) {
  return axis == 0   ? __builtin_amdgcn_workitem_id_x()
         : axis == 1 ? __builtin_amdgcn_workitem_id_y()
                     : __builtin_amdgcn_workitem_id_z();
}
DEVICE_FUNCTION __ockl_get_local_size(unsigned axis) {
  return axis == 0   ? __builtin_amdgcn_workgroup_size_x()
         : axis == 1 ? __builtin_amdgcn_workgroup_size_y()
                     : __builtin_amdgcn_workgroup_size_z();
}
DEVICE_FUNCTION __ockl_get_num_groups(unsigned axis) {
  unsigned items = axis == 0   ? __builtin_amdgcn_grid_size_x()
                   : axis == 1 ? __builtin_amdgcn_grid_size_y()
                               : __builtin_amdgcn_grid_size_z();
  unsigned block = __ockl_get_local_size(axis);
  return (items + block - 1) / block;
}
DEVICE_FUNCTION __ockl_get_global_size(unsigned axis) {
  return axis == 0   ? __builtin_amdgcn_grid_size_x()
         : axis == 1 ? __builtin_amdgcn_grid_size_y()
                     : __builtin_amdgcn_grid_size_z();
}
// HIP's header declares it later, with types of its own. scope: OpenCL's, 1 is a workgroup.
__attribute__((device, weak, used)) void fence(unsigned, int, int scope) __asm__("__atomic_work_item_fence");
__attribute__((device, weak, used)) void fence(unsigned, int, int scope) {
  if (scope == 1) __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup");
  else __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent");
}
