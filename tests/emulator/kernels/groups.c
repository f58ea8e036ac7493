#include "common.h"
/* What the work-items of a workgroup of 256 do together: LDS, atomics, votes and moves between lanes. */
#define PROGRAM(name) KERNEL name(GLOBAL u32 *x, GLOBAL u32 *y, u32 n)
SHARED u32 box[256];
SHARED u64 wide_box[128];
SHARED u32 counter;
#define WAVE_LANE __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0))

PROGRAM(sums_before) {
  u32 t = LANE, i = INDEX;
  box[t] = x[i];
  barrier();
  for (u32 step = 1; step < 256; step *= 2) {
    u32 v = t >= step ? box[t - step] : 0;
    barrier();
    box[t] += v;
    barrier();
  }
  y[i] = box[t] - x[i] + n;
}
PROGRAM(sorted_together) {
  u32 t = LANE, i = INDEX;
  box[t] = x[i];
  barrier();
  for (u32 size = 2; size <= 256; size *= 2)
    for (u32 step = size / 2; step; step /= 2) {
      u32 other = t ^ step, mine = box[t], theirs = box[other];
      barrier();
      u32 ascending = (t & size) == 0, lower = t < other;
      box[t] = (mine < theirs) == (lower == ascending) ? mine : theirs;
      barrier();
    }
  x[i] = box[t];
}
PROGRAM(kept_values) {
  u32 t = LANE, i = INDEX;
  if (t == 0)
    counter = 0;
  box[t] = 0xffffffff;
  barrier();
  if (x[i] % 3 == n % 3)
    box[__atomic_fetch_add(&counter, 1, __ATOMIC_RELAXED)] = t;
  barrier();
  y[i] = counter;
  if (box[t] != 0xffffffff)
    x[BLOCK * 256 + box[t]] ^= 0x80000000u;
}
PROGRAM(counted_values) {
  u32 t = LANE, i = INDEX;
  box[t] = 0;
  barrier();
  __atomic_fetch_add(&box[x[i] & 15], 1, __ATOMIC_RELAXED);
  __atomic_fetch_max(&box[16 + (x[i] & 7)], x[i] >> 8, __ATOMIC_RELAXED);
  __atomic_fetch_xor(&box[32], x[i], __ATOMIC_RELAXED);
  barrier();
  if (t < 64)
    __atomic_fetch_add(&y[t], box[t], __ATOMIC_RELAXED);
}
PROGRAM(wide_atomics) {
  u32 t = LANE, i = INDEX;
  if (t < 128)
    wide_box[t] = 0;
  barrier();
  __atomic_fetch_add(&wide_box[t & 3], (u64)x[i] << 20, __ATOMIC_RELAXED);
  u64 old = 0;
  while (!__atomic_compare_exchange_n(&wide_box[4], &old, old + x[i] * 3ul, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    ;
  barrier();
  y[i] = (u32)(wide_box[t & 3] >> 18) + (u32)(wide_box[4] >> 2);
}
PROGRAM(votes_and_moves) {
  u32 i = INDEX, lane = WAVE_LANE, v = x[i];
  u32 row = lane & 15;
  u32 shifted = (u32)__builtin_amdgcn_update_dpp(0, (int)v, 0x111, 0xf, 0xf, 1);
  u32 mirrored = (u32)__builtin_amdgcn_update_dpp(0, (int)v, 0x140, 0xf, 0xf, 1);
  u32 pulled = (u32)__builtin_amdgcn_ds_bpermute((int)((lane ^ 5) * 4), (int)v);
  u32 swapped = (u32)__builtin_amdgcn_ds_swizzle((int)v, 0x041f);
  u64 odd = __builtin_amdgcn_ballot_w64(v & 1);
  u32 neighbours = (u32)(odd >> (lane & 48)) & 0xffff;
  y[i] = shifted + 3 * mirrored + 5 * pulled + 7 * swapped + neighbours * 11 + row;
}
PROGRAM(first_lanes) {
  u32 i = INDEX, lane = WAVE_LANE, v = x[i], s = 0;
  /* Each value that occurs in a row of 16 lanes is treated once, by all lanes that have it. */
  u32 key = (v & 3) | (i / 16) << 2;
  for (u32 done = 0; !done;) {
    u32 first = __builtin_amdgcn_readfirstlane(key);
    if (first == key) {
      s = first * 3 + 1;
      done = 1;
    }
  }
  y[i] = s + lane % 16;
}
