// Sums, scans and counts of blocks, and of all blocks together by atomics.
#include "device.h"

template <typename T> __device__ T wave_sum(T value) {
  for (u32 distance = 16; distance; distance /= 2)
    value += shuffle_down(value, distance);
  return value;
}

template <typename T> struct BlockSum {
  T parts[8];

  __device__ T operator()(T value) {
    value = wave_sum(value);
    if (lane() == 0)
      parts[work_item() / 32] = value;
    syncthreads();
    value = work_item() < 8 ? parts[work_item()] : T{};
    return work_item() < 32 ? wave_sum(value) : T{};
  }
};

EXPORTED void __launch_bounds__(256) sum_f32(const float *x, float *total, u32 n) {
  __shared__ BlockSum<float> block;
  u32 i = block_x() * 256 + work_item();
  float sum = block(i < n ? x[i] : 0.0f);
  if (work_item() == 0)
    atomic_add(total, sum);
}

// The block that takes the last ticket adds what the others have left in memory.
EXPORTED void __launch_bounds__(256) sum_in_order(const float *x, float *parts, u32 *ticket, float *total, u32 n, u32 blocks) {
  __shared__ BlockSum<float> block;
  __shared__ bool last;
  u32 i = block_x() * 256 + work_item();
  float sum = block(i < n ? x[i] : 0.0f);
  if (work_item() == 0) {
    parts[block_x()] = sum;
    last = __scoped_atomic_fetch_add(ticket, 1u, __ATOMIC_ACQ_REL, __MEMORY_SCOPE_DEVICE) == blocks - 1;
  }
  syncthreads();
  if (last && work_item() == 0) {
    float all = 0;
    for (u32 j = 0; j < blocks; ++j)
      all += parts[j];
    *total = all;
  }
}

EXPORTED void __launch_bounds__(256) scan_i32(const int *x, int *out, u32 n) {
  __shared__ int buffer[2][256];
  u32 me = work_item(), i = block_x() * 256 + me, current = 0;
  buffer[0][me] = i < n ? x[i] : 0;
  for (u32 distance = 1; distance < 256; distance *= 2, current ^= 1) {
    syncthreads();
    buffer[current ^ 1][me] = buffer[current][me] + (me >= distance ? buffer[current][me - distance] : 0);
  }
  syncthreads();
  if (i < n)
    out[i] = buffer[current][me];
}

EXPORTED void __launch_bounds__(256) histogram(const u8 *x, u32 *counts, u32 n) {
  __shared__ u32 mine[256];
  mine[work_item()] = 0;
  syncthreads();
  for (u32 i = block_x() * 256 + work_item(); i < n; i += 2 * 256)
    __scoped_atomic_fetch_add(&mine[x[i]], 1u, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
  syncthreads();
  if (u32 count = mine[work_item()])
    atomic_add(&counts[work_item()], count);
}

// A maximum of doubles of which the hardware may have no atomic: compare and swap until it holds.
EXPORTED void __launch_bounds__(256) largest_f64(const double *x, u64 *largest, u32 n) {
  u32 i = block_x() * 256 + work_item();
  if (i >= n)
    return;
  u64 seen = __scoped_atomic_load_n(largest, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
  while (__builtin_bit_cast(double, seen) < x[i] &&
         !__scoped_atomic_compare_exchange_n(largest, &seen, __builtin_bit_cast(u64, x[i]), false, __ATOMIC_RELAXED,
                                             __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE))
    ;
}

extern __shared__ float dynamic[];

// A stencil whose tile, as long as the launch says, lies in LDS with its two neighbours.
EXPORTED void __launch_bounds__(256) stencil(const float *x, float *out, u32 n, u32 length) {
  u32 me = work_item(), i = block_x() * length + me;
  dynamic[me + 1] = i < n ? x[i] : 0.0f;
  if (me == 0)
    dynamic[0] = i ? x[i - 1] : 0.0f;
  if (me == length - 1)
    dynamic[length + 1] = i + 1 < n ? x[i + 1] : 0.0f;
  syncthreads();
  if (i < n)
    out[i] = dynamic[me] + 2 * dynamic[me + 1] + dynamic[me + 2];
}
