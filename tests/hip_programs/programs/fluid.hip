// A fluid by lattice Boltzmann (D2Q9): collision and streaming on a torus; mass must not change.
#include "program.h"

constexpr int N = 16, Q = 9;
__host__ __device__ inline void collide(const float *from, float *to, int i) {
  constexpr int cx[] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, cy[] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
  float f[Q], density = 0, ux = 0, uy = 0;
  for (int q = 0; q < Q; q++) {
    f[q] = from[q * N * N + i];
    density += f[q];
    ux += cx[q] * f[q];
    uy += cy[q] * f[q];
  }
  ux /= density;
  uy /= density;
  for (int q = 0; q < Q; q++) {
    float weight = q == 0 ? 4 / 9.f : q < 5 ? 1 / 9.f : 1 / 36.f, along = cx[q] * ux + cy[q] * uy;
    float rest = weight * density * (1 + 3 * along + 4.5f * along * along - 1.5f * (ux * ux + uy * uy));
    int x = (i % N + cx[q] + N) % N, y = (i / N + cy[q] + N) % N;
    to[q * N * N + y * N + x] = f[q] + (rest - f[q]) * 0.6f;
  }
}
__global__ void step(const float *from, float *to) { collide(from, to, blockIdx.x * blockDim.x + threadIdx.x); }

int main() {
  std::vector<float> cells = random_floats(Q * N * N, 0.1f, 0.2f), next = cells;
  float *from = on_device(cells), *to = on_device(cells);
  for (int s = 0; s < 4; s++) {
    step<<<N * N / 64, 64>>>(from, to);
    std::swap(from, to);
    for (int i = 0; i < N * N; i++) collide(cells.data(), next.data(), i);
    cells.swap(next);
  }
  expect_close(on_host(from, cells.size()), cells);
  HIP(hipFree(from));
  HIP(hipFree(to));
  return passed();
}
