#include "common.h"
KERNEL vector_add(GLOBAL const float *restrict x, GLOBAL const float *restrict y, GLOBAL float *restrict out, u32 n) {
  u32 i = GRID;
  if (i < n)
    out[i] = x[i] + y[i];
}
