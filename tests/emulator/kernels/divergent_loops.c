#include "common.h"
KERNEL collatz(GLOBAL u32 *x) {
  u32 n = x[INDEX], steps = 0;
  while (n > 1) {
    n = n & 1 ? 3 * n + 1 : n >> 1;
    if (++steps > 1000)
      break;
  }
  x[INDEX] = steps;
}
KERNEL mandelbrot(GLOBAL u32 *out, float scale, u32 limit) {
  float cr = (float)LANE * scale - 2.0f, ci = (float)BLOCK * scale - 1.0f, zr = 0, zi = 0;
  u32 n = 0;
  for (; n < limit; ++n) {
    float r = zr * zr, s = zi * zi;
    if (r + s > 4.0f)
      break;
    zi = 2.0f * zr * zi + ci;
    zr = r - s + cr;
  }
  out[INDEX] = n;
}
