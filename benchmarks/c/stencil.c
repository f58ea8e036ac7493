#include "common.h"
BLOCK(256) KERNEL stencil(GLOBAL const float *restrict x, GLOBAL float *restrict out, u32 height, u32 width) {
  u32 c = 32 * __builtin_amdgcn_workgroup_id_x() + LANE;
  u32 r = 8 * __builtin_amdgcn_workgroup_id_y() + __builtin_amdgcn_workitem_id_y();
  if (0 < r && r < height - 1 && 0 < c && c < width - 1) {
    u32 i = r * width + c;
    out[i] = 0.25f * (x[i - width] + x[i + width] + x[i - 1] + x[i + 1]) - x[i];
  }
}
