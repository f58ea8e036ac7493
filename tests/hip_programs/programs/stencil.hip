// A stencil of radius 3 in dynamic LDS, in three dimensions of blocks, double and float.
#include "program.h"

constexpr int RADIUS = 3;

template <class T> __global__ void stencil(const T *in, T *out, int n) {
  extern __shared__ char bytes[];
  T *tile = reinterpret_cast<T *>(bytes);
  int i = blockIdx.x * blockDim.x + threadIdx.x, local = threadIdx.x + RADIUS;
  const T *row = in + static_cast<size_t>(blockIdx.y) * n;
  tile[local] = i < n ? row[i] : 0;
  if (threadIdx.x < RADIUS) {
    int before = i - RADIUS, after = i + blockDim.x;
    tile[threadIdx.x] = before >= 0 ? row[before] : 0;
    tile[local + blockDim.x] = after < n ? row[after] : 0;
  }
  __syncthreads();
  T sum = 0;
  for (int k = -RADIUS; k <= RADIUS; k++) sum += tile[local + k];
  if (i < n) out[static_cast<size_t>(blockIdx.y) * n + i] = sum;
}

template <class T> void check(int n, int rows) {
  std::vector<T> values(n * rows);
  for (size_t i = 0; i < values.size(); i++) values[i] = i % 31;
  T *in = on_device(values), *out = nullptr;
  HIP(hipMalloc(&out, values.size() * sizeof(T)));
  dim3 grid((n + 63) / 64, rows), block(64);
  hipLaunchKernelGGL(stencil<T>, grid, block, (64 + 2 * RADIUS) * sizeof(T), 0, in, out, n);
  std::vector<T> found = on_host(out, values.size());
  for (int row = 0; row < rows; row++)
    for (int i = 0; i < n; i++) {
      T sum = 0;
      for (int k = i - RADIUS; k <= i + RADIUS; k++) sum += k < 0 || k >= n ? 0 : values[row * n + k];
      EXPECT(found[row * n + i] == sum);
    }
  HIP(hipFree(in));
  HIP(hipFree(out));
}

int main() {
  check<float>(500, 3);
  check<double>(129, 2);
  return passed();
}
