#include "common.h"
__attribute__((reqd_work_group_size(256, 1, 1)))
KERNEL saxpy_256(float a, GLOBAL const float *restrict x, GLOBAL const float *restrict y, GLOBAL float *restrict out, u32 n) {
  u32 i = 256 * __builtin_amdgcn_workgroup_id_x() + LANE;
  if (i < n)
    out[i] = a * x[i] + y[i];
}
