#include "common.h"
KERNEL half_precision(GLOBAL f16x2 *x, GLOBAL const f16x2 *y, GLOBAL f16 *z, GLOBAL float *w) {
  u32 i = INDEX;
  f16x2 a = x[i], b = y[i];
  f16x2 c = a * b + a;
  x[i] = __builtin_elementwise_max(c, -b) - (f16x2){(f16)0.5, (f16)3.25};
  f16 s = z[i];
  z[i] = s > (f16)1.0 ? s / a.x : __builtin_elementwise_fma(s, a.y, b.x);
  w[i] = (float)s * (float)a.x + (float)b.y;
  z[i + 1] = (f16)w[i];
}
KERNEL short_integers(GLOBAL i16x2 *x, GLOBAL const i16x2 *y, GLOBAL short *z) {
  u32 i = INDEX;
  i16x2 a = x[i], b = y[i];
  x[i] = __builtin_elementwise_max(a * b + a, b) >> (i16x2){3, 5};
  short s = z[i];
  z[i] = (short)(s * a.x + (s >> 2)) > b.y ? (short)(s + 1) : (short)(s ^ a.y);
}
