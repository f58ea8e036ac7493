#include "common.h"
KERNEL private_arrays(GLOBAL int *x, GLOBAL const int *order, u32 n) {
  u32 i = INDEX;
  int values[16];
  u8 bytes[32];
  for (u32 k = 0; k < 16; ++k) {
    values[k] = x[i * 16 + k];
    bytes[k + 3] = (u8)values[k];
  }
  int sum = 0;
  for (u32 k = 0; k < n; ++k)
    sum += values[order[i + k] & 15] * bytes[3 + (order[k] & 15)];
  x[i] = sum;
}
