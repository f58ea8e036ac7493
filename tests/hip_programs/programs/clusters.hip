// K-means: nearest centres, sums by atomics in LDS and then in memory, new centres on the host.
#include "program.h"

constexpr int K = 5, COUNT = 500;
struct Sums { int count, x, y; };  // in fixed point, so that the order does not matter
__host__ __device__ inline int nearest(const float2 *centres, float2 p) {
  int best = 0;
  float least = 1e9f;
  for (int k = 0; k < K; k++) {
    float dx = p.x - centres[k].x, dy = p.y - centres[k].y, square = dx * dx + dy * dy;
    if (square < least) least = square, best = k;
  }
  return best;
}
__global__ void assign(const float2 *points, const float2 *centres, int *groups, Sums *sums) {
  __shared__ Sums own[K];
  if (threadIdx.x < K) own[threadIdx.x] = {0, 0, 0};
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < COUNT; i += gridDim.x * blockDim.x) {
    int k = groups[i] = nearest(centres, points[i]);
    atomicAdd(&own[k].count, 1);
    atomicAdd(&own[k].x, static_cast<int>(points[i].x * 1024));
    atomicAdd(&own[k].y, static_cast<int>(points[i].y * 1024));
  }
  __syncthreads();
  if (threadIdx.x >= K) return;
  atomicAdd(&sums[threadIdx.x].count, own[threadIdx.x].count);
  atomicAdd(&sums[threadIdx.x].x, own[threadIdx.x].x);
  atomicAdd(&sums[threadIdx.x].y, own[threadIdx.x].y);
}

int main() {
  std::vector<float> numbers = random_floats(2 * COUNT, 0, 10);
  std::vector<float2> points, centres;
  for (int i = 0; i < COUNT; i++) points.push_back(make_float2(numbers[2 * i], numbers[2 * i + 1]));
  centres.assign(points.begin(), points.begin() + K);
  std::vector<int> groups(COUNT), wanted(COUNT);
  float2 *p = on_device(points), *c = on_device(centres);
  int *g = on_device(groups);
  std::vector<Sums> sums(K);
  Sums *s = on_device(sums);
  for (int round = 0; round < 4; round++) {
    HIP(hipMemset(s, 0, K * sizeof(Sums)));
    assign<<<3, 64>>>(p, c, g, s);
    sums = on_host(s, K);
    for (int i = 0; i < COUNT; i++) wanted[i] = nearest(centres.data(), points[i]);
    EXPECT(on_host(g, COUNT) == wanted);
    for (int k = 0; k < K; k++) centres[k] = make_float2(sums[k].x / 1024.f / sums[k].count, sums[k].y / 1024.f / sums[k].count);
    HIP(hipMemcpy(c, centres.data(), K * sizeof(float2), hipMemcpyHostToDevice));
  }
  HIP(hipFree(p)); HIP(hipFree(c)); HIP(hipFree(g)); HIP(hipFree(s));
  return passed();
}
