#include "common.h"
KERNEL saxpy(u32 n, float a, GLOBAL const float *x, GLOBAL float *y) {
  u32 i = INDEX;
  if (i < n)
    y[i] = a * x[i] + y[i];
}
