// Fragments as structs, with the calls that rocWMMA has: a wave of 32 lanes holds 16 x 16 elements, eight in a lane.
#pragma once
#include "device.h"

enum class Use { a, b, accumulator };

template <Use use, typename T> struct Fragment {
  T x[8];
};

template <Use use, typename T> __device__ void fill_fragment(Fragment<use, T> &fragment, T value) {
#pragma unroll
  for (int i = 0; i < 8; ++i)
    fragment.x[i] = value;
}

// Of A a lane holds half a row of 16, of B half a column: k = 8 (lane / 16) + i.
template <Use use, typename T>
__device__ void load_matrix_sync(Fragment<use, T> &fragment, const T *block, u32 leading) {
  const T *mine = block + (lane() % 16) * leading + 8 * (lane() / 16);
#pragma unroll
  for (int i = 0; i < 8; ++i)
    fragment.x[i] = mine[i];
}

// Of C a lane holds half a column: row = 8 (lane / 16) + i.
template <typename T>
__device__ void store_matrix_sync(T *block, const Fragment<Use::accumulator, T> &fragment, u32 leading, u32 rows,
                                  u32 columns) {
  u32 column = lane() % 16;
#pragma unroll
  for (u32 i = 0; i < 8; ++i) {
    u32 row = 8 * (lane() / 16) + i;
    if (row < rows && column < columns)
      block[row * leading + column] = fragment.x[i];
  }
}

using F32 = Fragment<Use::accumulator, float>;
using I32 = Fragment<Use::accumulator, int>;
template <typename T> using A = Fragment<Use::a, T>;
template <typename T> using B = Fragment<Use::b, T>;

inline __device__ void mma_sync(F32 &d, const A<half> &a, const B<half> &b) {
  auto sum = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12(__builtin_bit_cast(Vector<half, 8>, a),
                                                              __builtin_bit_cast(Vector<half, 8>, b),
                                                              __builtin_bit_cast(Vector<float, 8>, d));
  d = __builtin_bit_cast(F32, sum);
}
// bf16 as its bits.
inline __device__ void mma_sync(F32 &d, const A<u16> &a, const B<u16> &b) {
  auto sum = __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32_gfx12(__builtin_bit_cast(Vector<short, 8>, a),
                                                               __builtin_bit_cast(Vector<short, 8>, b),
                                                               __builtin_bit_cast(Vector<float, 8>, d));
  d = __builtin_bit_cast(F32, sum);
}
// fp8 (e4m3) as its bits.
inline __device__ void mma_sync(F32 &d, const A<u8> &a, const B<u8> &b) {
  auto sum = __builtin_amdgcn_wmma_f32_16x16x16_fp8_fp8_w32_gfx12(__builtin_bit_cast(Vector<int, 2>, a),
                                                                  __builtin_bit_cast(Vector<int, 2>, b),
                                                                  __builtin_bit_cast(Vector<float, 8>, d));
  d = __builtin_bit_cast(F32, sum);
}
inline __device__ void mma_sync(I32 &d, const A<signed char> &a, const B<signed char> &b) {
  auto sum = __builtin_amdgcn_wmma_i32_16x16x16_iu8_w32_gfx12(true, __builtin_bit_cast(Vector<int, 2>, a), true,
                                                              __builtin_bit_cast(Vector<int, 2>, b),
                                                              __builtin_bit_cast(Vector<int, 8>, d), false);
  d = __builtin_bit_cast(I32, sum);
}
