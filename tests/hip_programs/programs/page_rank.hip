// PageRank: scattered contributions by atomics of float, and the largest change by an atomic of its bits.
#include "program.h"

__global__ void scatter(const int *starts, const int *edges, const float *ranks, float *next, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int degree = starts[i + 1] - starts[i];
  for (int e = starts[i]; e < starts[i + 1]; e++) atomicAdd(&next[edges[e]], ranks[i] / degree);
}
__global__ void damp(float *ranks, const float *next, int *change, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float rank = 0.15f / n + 0.85f * next[i];
  atomicMax(change, __float_as_int(fabsf(rank - ranks[i])));
  ranks[i] = rank;
}

int main() {
  constexpr int N = 200, DEGREE = 4;
  std::vector<int> starts, edges;
  for (int i = 0; i <= N; i++) starts.push_back(DEGREE * i);
  for (unsigned value : random_numbers(N * DEGREE, N - 1)) edges.push_back(value);
  std::vector<float> ranks(N, 1.0f / N);
  int *s = on_device(starts), *e = on_device(edges), *change, bits = 0, rounds = 0;
  float *r = on_device(ranks), *next;
  HIP(hipMalloc(&change, sizeof(int)));
  HIP(hipMalloc(&next, N * sizeof(float)));
  do {
    HIP(hipMemset(change, 0, sizeof(int)));
    HIP(hipMemset(next, 0, N * sizeof(float)));
    scatter<<<(N + 63) / 64, 64>>>(s, e, r, next, N);
    damp<<<(N + 63) / 64, 64>>>(r, next, change, N);
    HIP(hipMemcpy(&bits, change, sizeof(int), hipMemcpyDeviceToHost));
    std::vector<float> sums(N);
    for (int i = 0; i < N * DEGREE; i++) sums[edges[i]] += ranks[i / DEGREE] / DEGREE;
    for (int i = 0; i < N; i++) ranks[i] = 0.15f / N + 0.85f * sums[i];
  } while (bits > 0x38d1b717 /* 1e-4 */ && ++rounds < 20);
  EXPECT(rounds > 1 && rounds < 20);
  expect_close(on_host(r, N), ranks, 1e-6);
  HIP(hipFree(s)); HIP(hipFree(e)); HIP(hipFree(change)); HIP(hipFree(r)); HIP(hipFree(next));
  return passed();
}
