#include "common.h"
static inline i32x4 load_tile(GLOBAL const signed char *matrix, u32 tile, u32 k) {
  u32 lane = LANE;
  return *(GLOBAL const i32x4 *)(matrix + (16 * tile + lane % 16) * 64 + 32 * k + 16 * (lane / 16));
}
BLOCK(32)
KERNEL wide_k_int8(GLOBAL const signed char *restrict a, GLOBAL const signed char *restrict b, GLOBAL int *restrict c) {
  i32x8 total[2][3] = {0};
  for (u32 k = 0; k < 2; ++k)
    for (u32 m = 0; m < 2; ++m) {
      i32x4 left = load_tile(a, m, k);
      for (u32 n = 0; n < 3; ++n) {
        i32x4 right = load_tile(b, n, k);
        total[m][n] = __builtin_amdgcn_wmma_i32_16x16x16_iu8_w32_gfx12(1, left.xy, 1, right.xy, total[m][n], 0);
        total[m][n] = __builtin_amdgcn_wmma_i32_16x16x16_iu8_w32_gfx12(1, left.zw, 1, right.zw, total[m][n], 0);
      }
    }
  u32 lane = LANE;
  for (u32 m = 0; m < 2; ++m)
    for (u32 n = 0; n < 3; ++n) {
      GLOBAL i32x4 *place = (GLOBAL i32x4 *)(c + 16 * m + 8 * (lane / 16) + 32 * (16 * n + lane % 16));
      place[0] = total[m][n].lo;
      place[1] = total[m][n].hi;
    }
}
