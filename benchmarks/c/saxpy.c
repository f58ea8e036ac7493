#include "common.h"
KERNEL saxpy(float a, GLOBAL const float *restrict x, GLOBAL const float *restrict y, GLOBAL float *restrict out, u32 n) {
  u32 i = GRID;
  if (i < n)
    out[i] = a * x[i] + y[i];
}
