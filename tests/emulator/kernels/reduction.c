#include "common.h"
SHARED float partial[256];
KERNEL reduction(GLOBAL const float *x, GLOBAL float *sums, u32 n) {
  u32 lane = LANE, i = INDEX;
  partial[lane] = i < n ? x[i] : 0.0f;
  barrier();
  for (u32 step = 128; step > 0; step >>= 1) {
    if (lane < step)
      partial[lane] += partial[lane + step];
    barrier();
  }
  if (lane == 0)
    sums[BLOCK] = partial[0];
}
