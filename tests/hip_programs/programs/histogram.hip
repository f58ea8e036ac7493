// A histogram: atomics in LDS, then in global memory; compare and swap; votes of a wave.
#include "program.h"

__global__ void histogram(const unsigned char *values, int n, unsigned *counts, unsigned *largest, int *odd) {
  __shared__ unsigned own[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) own[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    atomicAdd(&own[values[i]], 1u);
    unsigned known = *(volatile unsigned *)largest;
    while (values[i] > known) {
      unsigned before = atomicCAS(largest, known, values[i]);
      if (before == known) break;
      known = before;
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x)
    if (own[i]) atomicAdd(&counts[i], own[i]);
  int votes = __popcll(__ballot(threadIdx.x & 1));
  if (threadIdx.x % warpSize == 0) atomicAdd(odd, votes);
}

int main() {
  int n = 20000;
  std::vector<unsigned char> values(n);
  std::vector<unsigned> expected(256);
  for (int i = 0; i < n; i++) expected[values[i] = (i * i + 7 * i) % 251]++;
  unsigned char *in = on_device(values);
  unsigned *counts = nullptr;
  HIP(hipMalloc(&counts, 256 * sizeof(unsigned)));
  HIP(hipMemset(counts, 0, 256 * sizeof(unsigned)));
  unsigned *largest = on_device(std::vector<unsigned>{0});
  int *odd = on_device(std::vector<int>{0});
  histogram<<<6, 128>>>(in, n, counts, largest, odd);
  EXPECT(on_host(counts, 256) == expected);
  unsigned most = 0;
  for (unsigned char value : values) most = value > most ? value : most;
  EXPECT(on_host(largest, 1)[0] == most);
  EXPECT(on_host(odd, 1)[0] == 6 * 64);
  HIP(hipFree(in));
  HIP(hipFree(counts));
  HIP(hipFree(largest));
  HIP(hipFree(odd));
  return passed();
}
