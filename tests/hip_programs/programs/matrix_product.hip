// A tiled product; the arguments are a structure by value.
#include "program.h"

constexpr int TILE = 16;
struct Sizes {
  int m, n, k;
};
struct Matrices {
  const float *a, *b;
  float *c;
  Sizes sizes;
};

__global__ __launch_bounds__(TILE *TILE) void multiply(Matrices given, float scale) {
  __shared__ float a[TILE][TILE], b[TILE][TILE];
  Sizes s = given.sizes;
  int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
  float sum = 0;
  for (int start = 0; start < s.k; start += TILE) {
    int x = start + threadIdx.x, y = start + threadIdx.y;
    a[threadIdx.y][threadIdx.x] = row < s.m && x < s.k ? given.a[row * s.k + x] : 0;
    b[threadIdx.y][threadIdx.x] = y < s.k && column < s.n ? given.b[y * s.n + column] : 0;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < TILE; k++) sum += a[threadIdx.y][k] * b[k][threadIdx.x];
    __syncthreads();
  }
  if (row < s.m && column < s.n) given.c[row * s.n + column] = scale * sum;
}

int main() {
  Sizes s = {37, 50, 41};
  std::vector<float> a(s.m * s.k), b(s.k * s.n);
  for (size_t i = 0; i < a.size(); i++) a[i] = i % 7;
  for (size_t i = 0; i < b.size(); i++) b[i] = i % 5 - 2.0f;
  float *x = on_device(a), *y = on_device(b), *z = nullptr;
  HIP(hipMalloc(&z, s.m * s.n * sizeof(float)));
  multiply<<<dim3((s.n + TILE - 1) / TILE, (s.m + TILE - 1) / TILE), dim3(TILE, TILE)>>>({x, y, z, s}, 2);
  std::vector<float> c = on_host(z, s.m * s.n);
  for (int i = 0; i < s.m; i++)
    for (int j = 0; j < s.n; j++) {
      float sum = 0;
      for (int k = 0; k < s.k; k++) sum += a[i * s.k + k] * b[k * s.n + j];
      EXPECT(c[i * s.n + j] == 2 * sum);
    }
  for (float *each : {x, y, z}) HIP(hipFree(each));
  return passed();
}
