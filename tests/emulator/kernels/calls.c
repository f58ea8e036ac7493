#include "common.h"
__attribute__((noinline)) static u32 fibonacci(u32 n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__attribute__((noinline)) static float blend(float a, float b, float t) { return a + (b - a) * t; }
KERNEL calls(GLOBAL u32 *x, GLOBAL float *y, float t) {
  u32 i = INDEX;
  x[i] = fibonacci(x[i] & 7);
  y[i] = blend(y[i], y[i + 1], t);
}
