#include "common.h"
BLOCK(32) KERNEL wmma_matmul(GLOBAL const f16 *restrict a, GLOBAL const f16 *restrict b, GLOBAL f16 *restrict c) {
  u32 column = LANE % 16, half = LANE / 16;
  f16x8 b_column;
  for (int e = 0; e < 8; ++e)
    b_column[e] = b[16 * (8 * half + e) + column];
  f16x8 a_row = *(GLOBAL const f16x8 *)(a + 16 * column + 8 * half);
  f32x8 d = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12(a_row, b_column, (f32x8)0);
  for (int e = 0; e < 8; ++e)
    c[16 * (8 * half + e) + column] = (f16)d[e];
}
