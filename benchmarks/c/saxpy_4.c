#include "common.h"
BLOCK(256) KERNEL saxpy_4(float a, GLOBAL const float *restrict x, GLOBAL const float *restrict y, GLOBAL float *restrict out, u32 n) {
  u32 i = 4 * (256 * __builtin_amdgcn_workgroup_id_x() + LANE);
  if (i < n)
    *(GLOBAL f32x4 *)(out + i) = a * *(GLOBAL const f32x4 *)(x + i) + *(GLOBAL const f32x4 *)(y + i);
}
