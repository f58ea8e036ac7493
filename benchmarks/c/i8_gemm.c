#include "common.h"
/* D = ReLU(A B^T) / 16 + C of i8, 128 by 128 a workgroup of 4 waves, two tiles of LDS in turn, as examples/i8_gemm.py. */
#define DEPTH 64
#define PITCH (DEPTH + 16)
typedef signed char i8;
typedef i8 i8x8 __attribute__((ext_vector_type(8)));
typedef i8 element;
typedef i32x4 part;
#include "tiles.h"

static inline void multiply(SHARED_POINTER(i8) a_tile, SHARED_POINTER(i8) b_tile, i32x8 total[4][4]) {
  for (u32 step = 0; step < DEPTH; step += 32) {
    i32x4 left[4];
    for (u32 j = 0; j < 4; ++j)
      left[j] = *(lds_part *)(b_tile + PITCH * 16 * j + step);
    for (u32 i = 0; i < 4; ++i) {
      i32x4 right = *(lds_part *)(a_tile + PITCH * 16 * i + step);
      for (u32 j = 0; j < 4; ++j) {
        total[i][j] = __builtin_amdgcn_wmma_i32_16x16x16_iu8_w32_gfx12(1, left[j].lo, 1, right.lo, total[i][j], 0);
        total[i][j] = __builtin_amdgcn_wmma_i32_16x16x16_iu8_w32_gfx12(1, left[j].hi, 1, right.hi, total[i][j], 0);
      }
    }
  }
}

BLOCK(128)
KERNEL i8_gemm(GLOBAL const i8 *restrict a, GLOBAL const i8 *restrict b, GLOBAL const i8 *restrict c,
               GLOBAL i8 *restrict d, u32 rows, u32 columns, u32 depth) {
  u32 t = LANE, lane = t % 32, quarter = __builtin_amdgcn_readfirstlane(t / 32);
  u32 first_row = TILE * __builtin_amdgcn_workgroup_id_y(), first_column = TILE * __builtin_amdgcn_workgroup_id_x();
  u32 row = 64 * (quarter / 2), column = 64 * (quarter % 2);
  __amdgpu_buffer_rsrc_t left = BUFFER(a, rows * depth), right = BUFFER(b, columns * depth);
  u32 offset = t / 4 * depth + 16 * (t % 4), a_first = first_row * depth, b_first = first_column * depth;
  u32 to = PITCH * (t / 4) + 16 * (t % 4), from = PITCH * (lane % 16) + 16 * (lane / 16);
  part a_parts[4], b_parts[4];
  i32x8 total[4][4] = {0};
  load_parts(left, offset, a_first, depth, a_parts);
  load_parts(right, offset, b_first, depth, b_parts);
#pragma clang loop unroll(disable)
  for (u32 k = 0; k < depth; k += 2 * DEPTH) {
#pragma unroll
    for (u32 turn = 0; turn < 2; ++turn) {
      SHARED_POINTER(i8) a_tile = a_tiles + turn * TILE * PITCH;
      SHARED_POINTER(i8) b_tile = b_tiles + turn * TILE * PITCH;
      u32 next = k + DEPTH * (turn + 1);
      if (turn == 0 || next - DEPTH < depth) {
        store_parts(a_tile + to, a_parts);
        store_parts(b_tile + to, b_parts);
        lds_barrier();
        if (next < depth) {
          load_parts(left, offset, a_first + next, depth, a_parts);
          load_parts(right, offset, b_first + next, depth, b_parts);
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
      i8x8 old = *(GLOBAL const i8x8 *)(c + place), new;
      for (int e = 0; e < 8; ++e) {
        int sum = ((total[i][j][e] > 0 ? total[i][j][e] : 0) >> 4) + old[e];
        new[e] = sum < -128 ? -128 : sum > 127 ? 127 : sum;
      }
      *(GLOBAL i8x8 *)(d + place) = new;
    }
}
