// Many 16-bit values at a time, so that a compiler puts them into both halves of registers.
#include "common.h"
KERNEL half_registers(GLOBAL unsigned short *x, GLOBAL const unsigned short *y, GLOBAL f16 *z, GLOBAL const f16 *v, u32 n) {
  u32 i = INDEX;
  unsigned short a = x[i], b = y[i], c = y[i + 1], d = y[i + 2];
  f16 f = z[i], g = v[i];
  for (u32 k = 0; k < n; k++) {
    unsigned short old = a;
    a = b;
    b = (unsigned short)(old + c * d);
    c = (unsigned short)(c > d ? c - d : c ^ (d >> 1));
    d = (short)d < (short)a ? (unsigned short)(d << (c & 7)) : (unsigned short)(d | 3);
    f16 h = f;
    f = g;
    g = h * (f16)0.5 + (b & 1 ? (f16)1.0 : (f16)-2.0);
    if (a == 0) break;
  }
  x[i] = (unsigned short)(a + (b ^ c) - d);
  z[i] = f > g ? f - g : __builtin_elementwise_max(f, -g);
}
KERNEL half_conversions(GLOBAL short *x, GLOBAL const f16 *y, GLOBAL float *z, GLOBAL u32 *w) {
  u32 i = INDEX;
  short a = x[i];
  f16 p = y[i], q = (f16)z[i], r = (f16)a;
  unsigned char low = (unsigned char)a, high = (unsigned char)((unsigned short)a >> 8);
  short whole = p > (f16)-1000.0 && p < (f16)1000.0 ? (short)p : 7;
  w[i] = (u32)(unsigned short)whole << 16 | (unsigned short)(low * high);
  x[i] = (short)(whole + (short)__builtin_popcount((unsigned short)a));
  z[i] = (float)(p - q) + (float)r * 0.25f;
}
