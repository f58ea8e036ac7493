// C += A B where A is 2:4 sparse: of each four elements of a row two are kept, with two bits each that say which.
#include "fragments.h"

// A: 16 x k/2 kept elements; places: as many, 0 to 3; B: k x 16. One wave a block of 16 rows.
EXPORTED void __launch_bounds__(32) sparse_f16(const half *a, const u8 *places, const half *b, float *c, u32 k) {
  u32 half_wave = lane() / 16, line = lane() % 16, kept = k / 2;
  const half *row = a + (block_x() * 16 + line) * kept;
  const u8 *where = places + (block_x() * 16 + line) * kept;
  Vector<float, 8> sum = 0;
  for (u32 start = 0; start < k; start += 32) {
    Vector<half, 8> left;
    Vector<half, 16> right;
    u32 index = 0;
    for (u32 i = 0; i < 8; ++i) {
      u32 place = start / 2 + i / 4 * 8 + half_wave * 4 + i % 4;
      left[i] = row[place];
      index |= (u32)where[place] << (2 * i);
    }
    for (u32 i = 0; i < 16; ++i)
      right[i] = b[(start + i / 8 * 16 + half_wave * 8 + i % 8) * 16 + line];
    sum = __builtin_amdgcn_swmmac_f32_16x16x32_f16_w32(left, right, sum, (short)index);
  }
  for (u32 i = 0; i < 8; ++i)
    c[(block_x() * 16 + half_wave * 8 + i) * 16 + line] = sum[i];
}
