#include "common.h"
KERNEL double_math(GLOBAL double *x, GLOBAL const double *y, GLOBAL float *z) {
  u32 i = INDEX;
  double a = x[i], b = y[i];
  double c = __builtin_fma(a, b, -1.5) / (b + 0.1);
  c = __builtin_sqrt(c > 0 ? c : -c) + __builtin_floor(a) * 3.25;
  x[i] = __builtin_fmax(c, __builtin_ldexp(b, 3));
  z[i] = (float)c / (float)a + __builtin_sqrtf((float)b) + (float)(long)a + (float)(u64)b;
  z[i] += __builtin_rintf((float)a) * __builtin_fabsf((float)b) - __builtin_copysignf(2.0f, (float)a);
}
