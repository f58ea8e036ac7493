#include "common.h"
#define TILE 128
#define DEPTH 32
#define PITCH (DEPTH + 8)
SHARED f16 a_tile[PITCH * TILE], b_tile[PITCH * TILE];

static inline int least(int x, int y) { return x < y ? x : y; }

static inline void load_tiles(GLOBAL const f16 *a, GLOBAL const f16 *b, int rows, int columns, int depth, int k,
                              f16x8 *a_part, f16x8 *b_part) {
  int t = LANE, bx = __builtin_amdgcn_workgroup_id_x(), by = __builtin_amdgcn_workgroup_id_y();
  int a_column = least(k + 8 * (t % 4), depth - 8), b_row = least(k + 4 * (t / 16), depth - 4);
  int b_column = least(TILE * bx + 8 * (t % 16), columns - 8);
  for (int i = 0; i < 4; ++i) {
    int a_row = least(TILE * by + 32 * i + t / 4, rows - 1);
    a_part[i] = *(GLOBAL const f16x8 *)(a + (u32)(a_row * depth + a_column));
    b_part[i] = *(GLOBAL const f16x8 *)(b + (u32)((b_row + i) * columns + b_column));
  }
}

static inline void store_tiles(const f16x8 *a_part, const f16x8 *b_part) {
  u32 t = LANE;
  for (u32 i = 0; i < 4; ++i)
    *(__attribute__((address_space(3))) f16x8 *)(a_tile + PITCH * (32 * i + t / 4) + 8 * (t % 4)) = a_part[i];
  for (u32 j = 0; j < 8; ++j) {
    f16x4 column = {b_part[0][j], b_part[1][j], b_part[2][j], b_part[3][j]};
    *(__attribute__((address_space(3))) f16x4 *)(b_tile + PITCH * (8 * (t % 16) + j) + 4 * (t / 16)) = column;
  }
}

static inline void multiply(u32 step, u32 row, u32 column, f32x8 total[4][4]) {
  u32 lane = LANE % 32, place = PITCH * (lane % 16) + 8 * (lane / 16) + 16 * step;
  f16x8 a_fragments[4];
  for (u32 i = 0; i < 4; ++i)
    a_fragments[i] = *(__attribute__((address_space(3))) f16x8 *)(a_tile + PITCH * (row + 16 * i) + place);
  for (u32 j = 0; j < 4; ++j) {
    f16x8 b_fragment = *(__attribute__((address_space(3))) f16x8 *)(b_tile + PITCH * (column + 16 * j) + place);
    for (u32 i = 0; i < 4; ++i)
      total[i][j] = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12(b_fragment, a_fragments[i], total[i][j]);
  }
}

BLOCK(128)
KERNEL wmma_gemm(GLOBAL const f16 *restrict a, GLOBAL const f16 *restrict b, GLOBAL float *restrict c, int rows, int columns,
                 int depth) {
  f16x8 a_part[4], b_part[4];
  f32x8 total[4][4] = {0};
  u32 quarter = __builtin_amdgcn_readfirstlane(LANE / 32), row = 64 * (quarter / 2), column = 64 * (quarter % 2);
  load_tiles(a, b, rows, columns, depth, 0, a_part, b_part);
  for (int k = 0; k < depth; k += DEPTH) {
    store_tiles(a_part, b_part);
    lds_barrier();
    if (k + DEPTH < depth)
      load_tiles(a, b, rows, columns, depth, k + DEPTH, a_part, b_part);
    multiply(0, row, column, total);
    if (k + 16 < depth)
      multiply(1, row, column, total);
    lds_barrier();
  }
  u32 lane = LANE % 32;
  row += TILE * __builtin_amdgcn_workgroup_id_y();
  column += TILE * __builtin_amdgcn_workgroup_id_x();
  for (u32 i = 0; i < 4; ++i)
    for (u32 j = 0; j < 4; ++j)
      if (row + 16 * i < rows && column + 16 * j < columns) {
        u32 place = (row + 16 * i + lane % 16) * columns + column + 16 * j + 8 * (lane / 16);
        *(GLOBAL f32x4 *)(c + place) = total[i][j].lo;
        *(GLOBAL f32x4 *)(c + place + 4) = total[i][j].hi;
      }
}
