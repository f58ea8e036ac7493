#include "common.h"
/* D = alpha A B^T + beta C of f16, 128 by 128 a workgroup of 4 waves, two tiles of LDS in turn, as examples/perf_hgemm.py. */
#define DEPTH 32
#define PITCH (DEPTH + 8)
typedef f16 element;
typedef f16x8 part;
#include "tiles.h"

static inline void multiply(SHARED_POINTER(f16) a_tile, SHARED_POINTER(f16) b_tile, f32x8 total[4][4]) {
  for (u32 step = 0; step < DEPTH; step += 16) {
    f16x8 left[4];
    for (u32 j = 0; j < 4; ++j)
      left[j] = *(lds_part *)(b_tile + PITCH * 16 * j + step);
    for (u32 i = 0; i < 4; ++i) {
      f16x8 right = *(lds_part *)(a_tile + PITCH * 16 * i + step);
      for (u32 j = 0; j < 4; ++j)
        total[i][j] = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12(left[j], right, total[i][j]);
    }
  }
}

BLOCK(128)
KERNEL perf_hgemm(GLOBAL const f16 *restrict a, GLOBAL const f16 *restrict b, GLOBAL const f16 *restrict c,
                  GLOBAL f16 *restrict d, u32 rows, u32 columns, u32 depth, float alpha, float beta) {
  u32 t = LANE, lane = t % 32, quarter = __builtin_amdgcn_readfirstlane(t / 32);
  u32 first_row = TILE * __builtin_amdgcn_workgroup_id_y(), first_column = TILE * __builtin_amdgcn_workgroup_id_x();
  u32 row = 64 * (quarter / 2), column = 64 * (quarter % 2), pitch = 2 * depth;
  __amdgpu_buffer_rsrc_t left = BUFFER(a, rows * pitch), right = BUFFER(b, columns * pitch);
  u32 offset = t / 4 * pitch + 16 * (t % 4), a_first = first_row * pitch, b_first = first_column * pitch;
  u32 to = PITCH * (t / 4) + 8 * (t % 4), from = PITCH * (lane % 16) + 8 * (lane / 16);
  part a_parts[4], b_parts[4];
  f32x8 total[4][4] = {0};
  load_parts(left, offset, a_first, pitch, a_parts);
  load_parts(right, offset, b_first, pitch, b_parts);
#pragma clang loop unroll(disable)
  for (u32 k = 0; k < pitch; k += 4 * DEPTH) {
#pragma unroll
    for (u32 turn = 0; turn < 2; ++turn) {
      SHARED_POINTER(f16) a_tile = a_tiles + turn * TILE * PITCH;
      SHARED_POINTER(f16) b_tile = b_tiles + turn * TILE * PITCH;
      u32 next = k + 2 * DEPTH * (turn + 1);
      if (turn == 0 || next - 2 * DEPTH < pitch) {
        store_parts(a_tile + to, a_parts);
        store_parts(b_tile + to, b_parts);
        lds_barrier();
        if (next < pitch) {
          load_parts(left, offset, a_first + next, pitch, a_parts);
          load_parts(right, offset, b_first + next, pitch, b_parts);
        }
        __builtin_amdgcn_sched_barrier(0);
        multiply(a_tile + PITCH * row + from, b_tile + PITCH * column + from, total);
        __builtin_amdgcn_sched_barrier(0);
      }
    }
  }
  for (u32 i = 0; i < 4; ++i)
    for (u32 j = 0; j < 4; ++j) {
      u32 place = (first_row + row + 16 * i + lane % 16) * columns + first_column + column + 16 * j + 8 * (lane / 16);
      f32x8 old = __builtin_convertvector(*(GLOBAL const f16x8 *)(c + place), f32x8);
      *(GLOBAL f16x8 *)(d + place) = __builtin_convertvector(alpha * total[i][j] + beta * old, f16x8);
    }
}
