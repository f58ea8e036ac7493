#include "common.h"
KERNEL wide_integers(GLOBAL long *x, GLOBAL const u64 *y, GLOBAL int *z, u64 k) {
  u32 i = INDEX;
  long a = x[i];
  u64 b = y[i] | 1;
  x[i] = a * (long)b + a / (long)b - a % 10 + (a << (b & 63)) + (a >> 7) + (long)(b / k);
  z[i] = z[i] / (int)(b | 1) + z[i] % 7 + (int)((u32)a / 10u) + __builtin_popcountll(b) + __builtin_clzll(b);
  z[i] ^= (int)__builtin_bitreverse32((u32)b) + __builtin_ctz((u32)b) + (int)((u64)a * b >> 32);
  z[i] += (int)(a > (long)b) + (int)(b < k);
}
