// An inclusive scan in three kernels: of blocks, of their sums, and both added.
#include "program.h"

constexpr int BLOCK = 128;

__global__ void scan_blocks(const unsigned *in, unsigned *out, unsigned *sums, int n) {
  __shared__ unsigned parts[2][BLOCK];
  int i = blockIdx.x * BLOCK + threadIdx.x, now = 0;
  parts[0][threadIdx.x] = i < n ? in[i] : 0;
  for (int distance = 1; distance < BLOCK; distance *= 2) {
    __syncthreads();
    unsigned value = parts[now][threadIdx.x];
    if (threadIdx.x >= distance) value += parts[now][threadIdx.x - distance];
    parts[now ^= 1][threadIdx.x] = value;
  }
  if (i < n) out[i] = parts[now][threadIdx.x];
  if (threadIdx.x == BLOCK - 1) sums[blockIdx.x] = parts[now][threadIdx.x];
}
__global__ void add_before(unsigned *out, const unsigned *sums, int n) {
  int i = (blockIdx.x + 1) * BLOCK + threadIdx.x;
  if (i < n) out[i] += sums[blockIdx.x];
}

int main() {
  int n = 5000, blocks = (n + BLOCK - 1) / BLOCK;
  std::vector<unsigned> values(n), expected(n);
  unsigned total = 0;
  for (int i = 0; i < n; i++) expected[i] = total += values[i] = i * 2654435761u >> 24;
  unsigned *in = on_device(values), *out, *sums, *scanned, *unused;
  HIP(hipMalloc(&out, n * sizeof(unsigned)));
  HIP(hipMalloc(&sums, blocks * sizeof(unsigned)));
  HIP(hipMalloc(&scanned, blocks * sizeof(unsigned)));
  HIP(hipMalloc(&unused, sizeof(unsigned)));
  scan_blocks<<<blocks, BLOCK>>>(in, out, sums, n);
  scan_blocks<<<1, BLOCK>>>(sums, scanned, unused, blocks);
  add_before<<<blocks - 1, BLOCK>>>(out, scanned, n);
  EXPECT(on_host(out, n) == expected);
  for (unsigned *each : {in, out, sums, scanned, unused}) HIP(hipFree(each));
  return passed();
}
