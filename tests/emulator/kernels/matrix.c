#include "common.h"
KERNEL matrix_f16(GLOBAL const f16x8 *a, GLOBAL const f16x8 *b, GLOBAL f32x8 *c, u32 steps) {
  u32 lane = LANE;
  f32x8 sum = {0};
  for (u32 k = 0; k < steps; ++k)
    sum = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12(a[32 * k + lane], b[32 * k + lane], sum);
  c[lane] = sum;
}
KERNEL matrix_iu8(GLOBAL const i32x2 *a, GLOBAL const i32x2 *b, GLOBAL i32x8 *c) {
  u32 lane = LANE;
  c[lane] = __builtin_amdgcn_wmma_i32_16x16x16_iu8_w32_gfx12(1, a[lane], 0, b[lane], c[lane], 1);
}
KERNEL matrix_fp8(GLOBAL const i32x2 *a, GLOBAL const i32x2 *b, GLOBAL f32x8 *c) {
  u32 lane = LANE;
  c[lane] = __builtin_amdgcn_wmma_f32_16x16x16_fp8_bf8_w32_gfx12(a[lane], b[lane], c[lane]);
}
