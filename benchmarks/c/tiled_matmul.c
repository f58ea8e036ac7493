#include "common.h"
SHARED float left[16][16], right[16][16];
BLOCK(256) KERNEL tiled_matmul(GLOBAL const float *restrict a, GLOBAL const float *restrict b, GLOBAL float *restrict c,
                               u32 n, u32 depth) {
  u32 tx = LANE, ty = __builtin_amdgcn_workitem_id_y();
  u32 column = 16 * __builtin_amdgcn_workgroup_id_x() + tx, row = 16 * __builtin_amdgcn_workgroup_id_y() + ty;
  float total = 0;
#pragma unroll 1
  for (u32 k = 0; k < depth; k += 16) {
    left[ty][tx] = a[row * depth + k + tx];
    right[ty][tx] = b[(k + ty) * n + column];
    lds_barrier();
#pragma unroll
    for (u32 i = 0; i < 16; ++i)
      total += left[ty][i] * right[i][tx];
    lds_barrier();
  }
  c[row * n + column] = total;
}
