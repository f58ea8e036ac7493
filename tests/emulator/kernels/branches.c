#include "common.h"
KERNEL branches(GLOBAL int *x, GLOBAL const int *op, int uniform) {
  u32 i = INDEX;
  int a = x[i], b = a + 3;
  switch (op[i]) {
  case 0: a += b; break;
  case 1: a -= b * 5; break;
  case 2: a *= b; break;
  case 3: a ^= b >> 2; break;
  case 4: a = -a; break;
  case 5: a = a > b ? a : b; break;
  case 6: a = b << (a & 31); break;
  case 17: a = ~b; break;
  default: a = 77;
  }
  switch (uniform) {
  case 0: a += 1; break;
  case 1: a *= 3; break;
  case 2: a -= 100000; break;
  case 3: a |= 0x12345; break;
  case 4: a &= -7; break;
  default: a ^= b;
  }
  x[i] = a;
}
