// Conway's game of life on a torus, of bytes.
#include "program.h"

__host__ __device__ inline unsigned char next(const unsigned char *cells, int x, int y, int n) {
  int alive = 0;
  for (int dy = -1; dy <= 1; dy++)
    for (int dx = -1; dx <= 1; dx++)
      if (dx || dy) alive += cells[(y + dy + n) % n * n + (x + dx + n) % n];
  return alive == 3 || (alive == 2 && cells[y * n + x]);
}
__global__ void step(const unsigned char *from, unsigned char *to, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < n && y < n) to[y * n + x] = next(from, x, y, n);
}

int main() {
  constexpr int N = 45;
  std::vector<unsigned char> cells, other(N * N);
  for (unsigned value : random_numbers(N * N, 2)) cells.push_back(value == 0);
  unsigned char *from = on_device(cells), *to = on_device(other);
  for (int s = 0; s < 5; s++) {
    step<<<dim3(3, 6), dim3(16, 8)>>>(from, to, N);
    std::swap(from, to);
    for (int i = 0; i < N * N; i++) other[i] = next(cells.data(), i % N, i / N, N);
    cells.swap(other);
  }
  EXPECT(on_host(from, N * N) == cells);
  HIP(hipFree(from));
  HIP(hipFree(to));
  return passed();
}
