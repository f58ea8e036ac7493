// Stable radix sort of pairs, four bits a pass: counts of blocks, a scan of them, and a scatter.
#include "program.h"

#include <algorithm>
#include <numeric>

constexpr int BLOCK = 128, DIGITS = 16;
__device__ unsigned digit_of(unsigned key, int shift) { return (key >> shift) % DIGITS; }

__global__ void count(const unsigned *keys, unsigned *counts, int shift) {
  __shared__ unsigned bins[DIGITS];
  if (threadIdx.x < DIGITS) bins[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&bins[digit_of(keys[blockIdx.x * BLOCK + threadIdx.x], shift)], 1u);
  __syncthreads();
  if (threadIdx.x < DIGITS) counts[threadIdx.x * gridDim.x + blockIdx.x] = bins[threadIdx.x];
}
__global__ void scan(unsigned *counts, int n) {
  unsigned sum = 0;
  for (int i = 0; i < n; i++) {
    unsigned here = counts[i];
    counts[i] = sum;
    sum += here;
  }
}
__global__ void scatter(const unsigned *keys, const unsigned *values, const unsigned *starts, unsigned *to_keys,
                        unsigned *to_values, int shift) {
  __shared__ unsigned digits[BLOCK];
  unsigned i = blockIdx.x * BLOCK + threadIdx.x, digit = digit_of(keys[i], shift), rank = 0;
  digits[threadIdx.x] = digit;
  __syncthreads();
  for (unsigned j = 0; j < threadIdx.x; j++) rank += digits[j] == digit;
  unsigned to = starts[digit * gridDim.x + blockIdx.x] + rank;
  to_keys[to] = keys[i];
  to_values[to] = values[i];
}

int main() {
  constexpr int BLOCKS = 6, COUNT = BLOCK * BLOCKS;
  std::vector<unsigned> keys = random_numbers(COUNT, 65535), order(COUNT);
  std::iota(order.begin(), order.end(), 0);
  unsigned *from[] = {on_device(keys), on_device(order)}, *to[2], *counts;
  for (auto &each : to) HIP(hipMalloc(&each, COUNT * sizeof(unsigned)));
  HIP(hipMalloc(&counts, DIGITS * BLOCKS * sizeof(unsigned)));
  for (int shift = 0; shift < 16; shift += 4) {
    count<<<BLOCKS, BLOCK>>>(from[0], counts, shift);
    scan<<<1, 1>>>(counts, DIGITS * BLOCKS);
    scatter<<<BLOCKS, BLOCK>>>(from[0], from[1], counts, to[0], to[1], shift);
    std::swap(from, to);
  }
  std::stable_sort(order.begin(), order.end(), [&](unsigned a, unsigned b) { return keys[a] < keys[b]; });
  EXPECT(on_host(from[1], COUNT) == order);
  for (auto *each : {from[0], from[1], to[0], to[1], counts}) HIP(hipFree(each));
  return passed();
}
