#include "common.h"
KERNEL cross_lane(GLOBAL u32 *x, GLOBAL u32 *y) {
  u32 i = INDEX, lane = LANE, a = x[i];
  u32 vote = __builtin_amdgcn_ballot_w32((a & 1) != 0);
  u32 first = __builtin_amdgcn_readfirstlane(a), fifth = __builtin_amdgcn_readlane(a, 5);
  u32 moved = (u32)__builtin_amdgcn_ds_bpermute((int)((lane ^ 3) * 4), (int)a);
  moved += (u32)__builtin_amdgcn_ds_permute((int)((lane ^ 1) * 4), (int)a);
  moved += (u32)__builtin_amdgcn_ds_swizzle((int)a, 0x401F);
  moved += (u32)__builtin_amdgcn_update_dpp(0, (int)a, 0x111, 0xF, 0xF, 1);
  moved += (u32)__builtin_amdgcn_update_dpp((int)a, (int)a, 0x141, 0x5, 0x3, 0);
  moved += __builtin_amdgcn_mov_dpp8(a, 0x688FAC);
  moved += __builtin_amdgcn_permlanex16(a, a, 0x76543210, 0xFEDCBA98, 0, 0);
  moved += __builtin_amdgcn_mbcnt_lo(vote, 0);
  x[i] = moved ^ first ^ fifth;
  y[i] = vote + (u32)__builtin_popcount(vote);
}
