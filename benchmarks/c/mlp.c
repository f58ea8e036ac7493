#include "common.h"
BLOCK(32) KERNEL mlp(GLOBAL const f16 *restrict weights, GLOBAL const f16 *restrict x, GLOBAL float *restrict out) {
  u32 column = LANE % 16, half = LANE / 16, row = 16 * column + 8 * half;
  f16x8 input;
  for (int e = 0; e < 8; ++e)
    input[e] = x[16 * (8 * half + e) + column];
  f16x8 first = *(GLOBAL const f16x8 *)(weights + row), second = *(GLOBAL const f16x8 *)(weights + 256 + row);
  f32x8 hidden = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12(first, input, (f32x8)0);
  f16x8 between = __builtin_convertvector(hidden, f16x8);
  f32x8 result = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12(second, between, (f32x8)0);
  for (int e = 0; e < 8; ++e)
    out[16 * (8 * half + e) + column] = result[e];
}
