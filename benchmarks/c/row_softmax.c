#include "common.h"
#define SWAP(v, mask) \
  __builtin_bit_cast(float, __builtin_amdgcn_update_dpp(0, __builtin_bit_cast(int, v), 0x160 + mask, 15, 15, 1))
static inline float rows(float v) {
  u32 bits = __builtin_bit_cast(u32, v);
  return __builtin_bit_cast(float, __builtin_amdgcn_permlanex16(bits, bits, 0x76543210, 0xfedcba98, 0, 1));
}
static inline float larger(float a, float b) { return b > a ? b : a; }
BLOCK(32) KERNEL row_softmax(GLOBAL const float *restrict x, GLOBAL float *restrict out, u32 columns) {
  u32 row = __builtin_amdgcn_workgroup_id_x(), lane = LANE;
  float largest = -3.0e38f, total = 0;
#pragma unroll 1
  for (u32 c = lane; c < columns; c += 32)
    largest = larger(largest, x[row * columns + c]);
  largest = larger(largest, SWAP(largest, 1));
  largest = larger(largest, SWAP(largest, 2));
  largest = larger(largest, SWAP(largest, 4));
  largest = larger(largest, SWAP(largest, 8));
  largest = larger(largest, rows(largest));
#pragma unroll 1
  for (u32 c = lane; c < columns; c += 32)
    total += __builtin_amdgcn_exp2f((x[row * columns + c] - largest) * 1.4426950408889634f);
  total += SWAP(total, 1);
  total += SWAP(total, 2);
  total += SWAP(total, 4);
  total += SWAP(total, 8);
  total += rows(total);
  float scale = __builtin_amdgcn_rcpf(total);
#pragma unroll 1
  for (u32 c = lane; c < columns; c += 32)
    out[row * columns + c] = __builtin_amdgcn_exp2f((x[row * columns + c] - largest) * 1.4426950408889634f) * scale;
}
