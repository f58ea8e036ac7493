#include "common.h"
SHARED float tree[256];
BLOCK(256) KERNEL tree_reduction(GLOBAL const float *restrict x, GLOBAL float *restrict out) {
  u32 t = LANE;
  tree[t] = x[256 * __builtin_amdgcn_workgroup_id_x() + t];
  lds_barrier();
#pragma unroll
  for (u32 stride = 128; stride > 0; stride /= 2) {
    if (t < stride)
      tree[t] += tree[t + stride];
    lds_barrier();
  }
  if (t == 0)
    out[__builtin_amdgcn_workgroup_id_x()] = tree[0];
}
