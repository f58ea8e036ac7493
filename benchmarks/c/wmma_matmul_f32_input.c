#include "common.h"
static inline f16x8 pack(f32x8 x) {
  f16x8 r;
  for (int i = 0; i < 4; ++i) {
    f16x2 pair = __builtin_bit_cast(f16x2, __builtin_amdgcn_cvt_pkrtz(x[2 * i], x[2 * i + 1]));
    r[2 * i] = pair[0];
    r[2 * i + 1] = pair[1];
  }
  return r;
}
BLOCK(32)
KERNEL wmma_matmul_f32_input(GLOBAL const float *restrict a, GLOBAL const float *restrict b, GLOBAL float *restrict c) {
  u32 column = LANE % 16, half = LANE / 16;
  GLOBAL const float *row = a + 16 * column + 8 * half;
  f32x4 low = *(GLOBAL const f32x4 *)row, high = *(GLOBAL const f32x4 *)(row + 4);
  f32x8 b_column;
  for (int e = 0; e < 8; ++e)
    b_column[e] = b[16 * (8 * half + e) + column];
  f32x8 a_row = __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7);
  f32x8 d = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12(pack(a_row), pack(b_column), (f32x8)0);
  for (int e = 0; e < 8; ++e)
    c[16 * (8 * half + e) + column] = d[e];
}
