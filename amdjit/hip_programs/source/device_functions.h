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
#undef DEVICE_FUNCTION
#define DEVICE_FUNCTION extern "C" __attribute__((device)) inline
DEVICE_FUNCTION bool __ockl_wfany_i32(int value) { return __builtin_amdgcn_ballot_w64(value != 0) != 0; }
DEVICE_FUNCTION bool __ockl_wfall_i32(int value) { return __builtin_amdgcn_ballot_w64(value == 0) == 0; }
DEVICE_FUNCTION int __ockl_mul_hi_i32(int a, int b) { return static_cast<long>(a) * b >> 32; }
DEVICE_FUNCTION unsigned __ockl_mul_hi_u32(unsigned a, unsigned b) { return static_cast<unsigned long>(a) * b >> 32; }
DEVICE_FUNCTION int __ockl_mul24_i32(int a, int b) { return (a << 8 >> 8) * (b << 8 >> 8); }
DEVICE_FUNCTION unsigned __ockl_mul24_u32(unsigned a, unsigned b) { return (a & 0xffffff) * (b & 0xffffff); }
DEVICE_FUNCTION float __ocml_rsqrt_f32(float x) { return __builtin_amdgcn_rsqf(x); }
DEVICE_FUNCTION double __ocml_rsqrt_f64(double x) { return 1 / __builtin_sqrt(x); }
// Reductions of a workgroup, for __syncthreads_count and its relatives.
#define WORKGROUP_REDUCTION(name, start, combine)                                                \
  DEVICE_FUNCTION int name(int value) {                                                          \
    static __attribute__((shared)) int result;                                                   \
    if (!__ockl_get_local_id(0) && !__ockl_get_local_id(1) && !__ockl_get_local_id(2)) result = start; \
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup");                                       \
    __builtin_amdgcn_s_barrier();                                                                \
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup");                                       \
    combine(&result, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);                     \
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup");                                       \
    __builtin_amdgcn_s_barrier();                                                                \
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup");                                       \
    int found = result;                                                                          \
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup");                                       \
    __builtin_amdgcn_s_barrier(); /* before the next reduction */                                \
    return found;                                                                                \
  }
WORKGROUP_REDUCTION(__ockl_wgred_add_i32, 0, __hip_atomic_fetch_add)
WORKGROUP_REDUCTION(__ockl_wgred_and_i32, -1, __hip_atomic_fetch_and)
WORKGROUP_REDUCTION(__ockl_wgred_or_i32, 0, __hip_atomic_fetch_or)
#undef WORKGROUP_REDUCTION
// HIP's header declares it later, with types of its own. scope: OpenCL's, 1 is a workgroup.
__attribute__((device, weak, used)) void fence(unsigned, int, int scope) __asm__("__atomic_work_item_fence");
__attribute__((device, weak, used)) void fence(unsigned, int, int scope) {
  if (scope == 1) __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup");
  else __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent");
}
