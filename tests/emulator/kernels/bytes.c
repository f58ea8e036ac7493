#include "common.h"
KERNEL bytes(GLOBAL u8 *x, GLOBAL const signed char *y, GLOBAL u16 *z, GLOBAL u32 *w) {
  u32 i = INDEX;
  u8 a = x[i];
  signed char b = y[i];
  x[i] = (u8)(a * 3 + b);
  z[i] = (u16)(z[i] + a - b);
  w[i] = __builtin_amdgcn_perm(w[i], a, 0x0C0C0501) + __builtin_amdgcn_alignbyte(w[i], a, 3);
  w[i] += __builtin_amdgcn_ubfe(w[i], 5, 9) + (u32)__builtin_amdgcn_sbfe(a, 2, 4);
}
