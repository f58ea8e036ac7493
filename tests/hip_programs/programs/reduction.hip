// Sums of blocks through LDS and shuffles, added by an atomic; a template for two types.
#include "program.h"

template <class T, int BLOCK> __global__ void sum(const T *values, int n, T *total) {
  __shared__ T parts[BLOCK];
  T mine = 0;
  for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += gridDim.x * BLOCK) mine += values[i];
  parts[threadIdx.x] = mine;
  __syncthreads();
  for (int half = BLOCK / 2; half >= 32; half /= 2) {
    if (threadIdx.x < half) parts[threadIdx.x] += parts[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x < 32) {
    mine = parts[threadIdx.x];
    for (int lane = 16; lane; lane /= 2) mine += __shfl_xor(mine, lane, 32);
    if (threadIdx.x == 0) atomicAdd(total, mine);
  }
}

template <class T> void check(int n) {
  std::vector<T> values(n);
  T expected = 0;
  for (int i = 0; i < n; i++) expected += values[i] = i % 17 - 8;
  T *x = on_device(values), *total = on_device(std::vector<T>(1, 0));
  sum<T, 256><<<5, 256>>>(x, n, total);
  EXPECT(on_host(total, 1)[0] == expected);
  HIP(hipFree(x));
  HIP(hipFree(total));
}

int main() {
  check<int>(10000);
  check<float>(3333);
  return passed();
}
