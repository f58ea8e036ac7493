#include "common.h"
BLOCK(32) KERNEL transpose_shuffle(GLOBAL const f16 *restrict source, GLOBAL f16 *restrict out) {
  u32 lane = LANE, place = 16 * (lane % 16) + 8 * (lane / 16);
  i32x4 fragment = *(GLOBAL const i32x4 *)(source + place);
  u32 first = 16 * (lane / 8 % 2) + 8 * (lane / 16);
  f16x8 transposed;
  for (int e = 0; e < 8; ++e) {
    i32x4 other;
    for (int word = 0; word < 4; ++word)
      other[word] = __builtin_amdgcn_ds_bpermute(4 * (first + e), fragment[word]);
    transposed[e] = __builtin_bit_cast(f16x8, other)[lane % 8];
  }
  *(GLOBAL f16x8 *)(out + place) = transposed;
}
