#include "common.h"
SHARED float partial[8];
#define SWAP(v, mask) \
  __builtin_bit_cast(float, __builtin_amdgcn_update_dpp(0, __builtin_bit_cast(int, v), 0x160 + mask, 15, 15, 1))
BLOCK(256) KERNEL wave_reduction(GLOBAL const float *restrict x, GLOBAL float *restrict out, u32 n) {
  u32 t = LANE, i = 256 * __builtin_amdgcn_workgroup_id_x() + t;
  float total = i < n ? x[i] : 0;
  total += SWAP(total, 1);
  total += SWAP(total, 2);
  total += SWAP(total, 4);
  total += SWAP(total, 8);
  u32 bits = __builtin_bit_cast(u32, total);
  total += __builtin_bit_cast(float, __builtin_amdgcn_permlanex16(bits, bits, 0x76543210, 0xfedcba98, 0, 1));
  if (t % 32 == 0)
    partial[t / 32] = total;
  lds_barrier();
  float last = partial[t % 8];
  last += SWAP(last, 1);
  last += SWAP(last, 2);
  last += SWAP(last, 4);
  if (t == 0)
    out[__builtin_amdgcn_workgroup_id_x()] = last;
}
