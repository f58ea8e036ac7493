#include "common.h"
BLOCK(256) KERNEL naive_gemm(GLOBAL const f16 *restrict a, GLOBAL const f16 *restrict b, GLOBAL float *restrict c, u32 m,
                             u32 n, u32 depth) {
  u32 column = 16 * __builtin_amdgcn_workgroup_id_x() + LANE;
  u32 row = 16 * __builtin_amdgcn_workgroup_id_y() + __builtin_amdgcn_workitem_id_y();
  if (row < m && column < n) {
    float total = 0;
#pragma unroll 1
    for (u32 k = 0; k < depth; ++k)
      total += (float)a[row * depth + k] * (float)b[k * n + column];
    c[row * n + column] = total;
  }
}
