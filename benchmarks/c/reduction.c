#include "common.h"
SHARED float tree[256];
BLOCK(256) KERNEL reduction(GLOBAL const float *restrict x, GLOBAL float *restrict out, u32 n) {
  u32 first = GRID, step = __builtin_amdgcn_grid_size_x(), whole = n / 4;
  f32x4 four = 0;
  for (u32 i = first; i < whole; i += step)
    four += *(GLOBAL const f32x4 *)(x + 4 * i);
  float total = (four[0] + four[1]) + (four[2] + four[3]);
  for (u32 i = 4 * whole + first; i < n; i += step)
    total += x[i];
  u32 t = LANE;
  tree[t] = total;
  barrier();
  for (u32 stride = 128; stride > 0; stride /= 2) {
    if (t < stride)
      tree[t] += tree[t + stride];
    barrier();
  }
  if (t == 0)
    out[__builtin_amdgcn_workgroup_id_x()] = tree[0];
}
