// Heat in a plate: tiles with halos in LDS, two buffers, many steps on a stream.
#include "program.h"

constexpr int TILE = 16;

__global__ void step(const float *from, float *to, int n) {
  __shared__ float tile[TILE + 2][TILE + 2];
  int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
  for (int row = threadIdx.y; row < TILE + 2; row += TILE)
    for (int column = threadIdx.x; column < TILE + 2; column += TILE) {
      int gx = min(max(static_cast<int>(blockIdx.x) * TILE + column - 1, 0), n - 1);
      int gy = min(max(static_cast<int>(blockIdx.y) * TILE + row - 1, 0), n - 1);
      tile[row][column] = from[gy * n + gx];
    }
  __syncthreads();
  if (x >= n || y >= n) return;
  int i = threadIdx.x + 1, j = threadIdx.y + 1;
  float around = tile[j - 1][i] + tile[j + 1][i] + tile[j][i - 1] + tile[j][i + 1];
  to[y * n + x] = tile[j][i] + 0.2f * (around - 4 * tile[j][i]);
}

int main() {
  constexpr int N = 40, STEPS = 6;
  std::vector<float> plate = random_floats(N * N), next = plate;
  hipStream_t stream;
  HIP(hipStreamCreate(&stream));
  float *from = on_device(plate), *to = on_device(plate);
  for (int s = 0; s < STEPS; s++) {
    step<<<dim3(3, 3), dim3(TILE, TILE), 0, stream>>>(from, to, N);
    std::swap(from, to);
    auto at = [&](int y, int x) { return plate[std::min(std::max(y, 0), N - 1) * N + std::min(std::max(x, 0), N - 1)]; };
    for (int y = 0; y < N; y++)
      for (int x = 0; x < N; x++) {
        float around = at(y - 1, x) + at(y + 1, x) + at(y, x - 1) + at(y, x + 1);
        next[y * N + x] = at(y, x) + 0.2f * (around - 4 * at(y, x));
      }
    plate.swap(next);
  }
  HIP(hipStreamSynchronize(stream));
  expect_close(on_host(from, N * N), plate);
  HIP(hipFree(from));
  HIP(hipFree(to));
  HIP(hipStreamDestroy(stream));
  return passed();
}
