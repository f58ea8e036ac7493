#include "common.h"
SHARED u32 counters[64];
KERNEL atomics(GLOBAL u32 *x, GLOBAL int *y, GLOBAL float *f, GLOBAL u64 *w) {
  u32 lane = LANE;
  if (lane < 64)
    counters[lane] = 0;
  barrier();
  __atomic_fetch_add(&counters[lane & 63], lane, __ATOMIC_RELAXED);
  u32 old = __atomic_fetch_or(&counters[lane & 31], 1u << (lane & 7), __ATOMIC_SEQ_CST);
  barrier();
  __atomic_fetch_add(&x[0], counters[lane & 63] + old, __ATOMIC_RELAXED);
  x[lane + 1] = __atomic_fetch_sub(&x[0], 1, __ATOMIC_ACQ_REL);
  __atomic_fetch_min(&y[0], (int)lane - 5, __ATOMIC_RELAXED);
  y[lane + 1] = __atomic_fetch_max(&y[1], (int)lane, __ATOMIC_RELAXED);
  u32 expected = x[2];
  while (!__atomic_compare_exchange_n(&x[2], &expected, expected * 3 + 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
    ;
  __atomic_fetch_add(&w[0], (u64)lane << 33, __ATOMIC_RELAXED);
  w[lane + 1] = __atomic_exchange_n(&w[1], (u64)lane, __ATOMIC_SEQ_CST);
  __atomic_fetch_add(&f[0], 0.5f, __ATOMIC_RELAXED);
}
