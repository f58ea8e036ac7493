#include "common.h"
BLOCK(32) KERNEL transpose_wmma(GLOBAL const f16 *restrict source, GLOBAL f16 *restrict out) {
  u32 row = LANE % 16, half = LANE / 16, place = 16 * row + 8 * half;
  f16x8 identity;
  for (u32 e = 0; e < 8; ++e)
    identity[e] = 8 * half + e == row ? 1 : 0;
  f16x8 rows = *(GLOBAL const f16x8 *)(source + place);
  *(GLOBAL f16x8 *)(out + place) = __builtin_amdgcn_wmma_f16_16x16x16_f16_w32_gfx12(rows, identity, (f16x8)0);
}
