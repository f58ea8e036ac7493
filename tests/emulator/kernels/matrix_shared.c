#include "common.h"
SHARED float left[16][17];
SHARED float right[16][17];
KERNEL matrix_shared(GLOBAL const float *a, GLOBAL const float *b, GLOBAL float *c, u32 n) {
  u32 x = LANE & 15, y = LANE >> 4, column = BLOCK * 16 + x;
  u32 row = __builtin_amdgcn_workgroup_id_y() * 16 + y;
  float sum = 0;
  for (u32 k = 0; k < n; k += 16) {
    left[y][x] = a[row * n + k + x];
    right[y][x] = b[(k + y) * n + column];
    barrier();
    for (u32 j = 0; j < 16; ++j)
      sum += left[y][j] * right[j][x];
    barrier();
  }
  c[row * n + column] = sum;
}
