// C = A B' of any size: four waves share a tile of 64 x 64, whose parts of A and B go through LDS in two buffers.
#include "fragments.h"

constexpr u32 tile = 64, depth = 32, items = 128, pad = 16;

template <typename T> struct Buffers {
  T a[2][tile][depth + pad / sizeof(T)];
  T b[2][tile][depth + pad / sizeof(T)];
};

// Each work-item carries 16 elements of a tile of A or B from memory to LDS, in two steps.
template <typename T> struct Carried {
  T x[tile * depth / items];

  __device__ void take(const T *matrix, u32 first, u32 rows, u32 start, u32 k) {
#pragma unroll
    for (u32 n = 0; n < tile * depth / items; ++n) {
      u32 number = n * items + work_item(), row = first + number / depth, column = start + number % depth;
      x[n] = row < rows && column < k ? matrix[row * k + column] : T{};
    }
  }
  __device__ void put(T (&buffer)[tile][depth + pad / sizeof(T)]) const {
#pragma unroll
    for (u32 n = 0; n < tile * depth / items; ++n) {
      u32 number = n * items + work_item();
      buffer[number / depth][number % depth] = x[n];
    }
  }
};

template <typename T, typename Sum>
__device__ void gemm(Buffers<T> &lds, const T *a, const T *b, Sum *c, u32 m, u32 n, u32 k) {
  u32 wave = work_item() / 32, down = wave / 2 * 32, across = wave % 2 * 32;
  u32 row = block_y() * tile, column = block_x() * tile;
  Fragment<Use::accumulator, Sum> sums[2][2];
  for (auto &line : sums)
    for (auto &sum : line)
      fill_fragment(sum, Sum{});
  Carried<T> next_a, next_b;
  next_a.take(a, row, m, 0, k);
  next_b.take(b, column, n, 0, k);
  next_a.put(lds.a[0]);
  next_b.put(lds.b[0]);
  u32 current = 0;
  for (u32 start = 0; start < k; start += depth, current ^= 1) {
    bool more = start + depth < k;
    syncthreads();
    if (more) {
      next_a.take(a, row, m, start + depth, k);
      next_b.take(b, column, n, start + depth, k);
    }
    for (u32 inner = 0; inner < depth; inner += 16) {
      A<T> left[2];
      B<T> right[2];
      for (u32 i = 0; i < 2; ++i) {
        load_matrix_sync(left[i], &lds.a[current][down + 16 * i][inner], depth + pad / sizeof(T));
        load_matrix_sync(right[i], &lds.b[current][across + 16 * i][inner], depth + pad / sizeof(T));
      }
      for (u32 i = 0; i < 2; ++i)
        for (u32 j = 0; j < 2; ++j)
          mma_sync(sums[i][j], left[i], right[j]);
    }
    if (more) {
      next_a.put(lds.a[current ^ 1]);
      next_b.put(lds.b[current ^ 1]);
    }
  }
  for (u32 i = 0; i < 2; ++i)
    for (u32 j = 0; j < 2; ++j) {
      u32 top = row + down + 16 * i, left = column + across + 16 * j;
      if (top < m && left < n)
        store_matrix_sync(c + top * n + left, sums[i][j], n, m - top, n - left);
    }
}

#define GEMM(name, T, Sum)                                                                                             \
  EXPORTED void __launch_bounds__(items) name(const T *a, const T *b, Sum *c, u32 m, u32 n, u32 k) {                   \
    __shared__ Buffers<T> lds;                                                                                         \
    gemm<T, Sum>(lds, a, b, c, m, n, k);                                                                               \
  }
GEMM(gemm_f16, half, float)
GEMM(gemm_bf16, u16, float)
GEMM(gemm_fp8, u8, float)
GEMM(gemm_i8, signed char, int)
