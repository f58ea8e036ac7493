// Transposes of several types through LDS with padded rows.
#include "program.h"

constexpr int TILE = 16;
template <class T> __global__ void transpose(const T *in, T *out, int width, int height) {
  __shared__ T tile[TILE][TILE + 1];
  int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE;
  for (int j = threadIdx.y; j < TILE; j += blockDim.y)
    if (x < width && y + j < height) tile[j][threadIdx.x] = in[(y + j) * width + x];
  __syncthreads();
  x = blockIdx.y * TILE + threadIdx.x, y = blockIdx.x * TILE;
  for (int j = threadIdx.y; j < TILE; j += blockDim.y)
    if (x < height && y + j < width) out[(y + j) * height + x] = tile[threadIdx.x][j];
}
template <class T> void check() {
  constexpr int WIDTH = 45, HEIGHT = 37;
  std::vector<T> in, wanted(WIDTH * HEIGHT);
  for (unsigned value : random_numbers(WIDTH * HEIGHT, 100)) in.push_back(static_cast<T>(value));
  for (int i = 0; i < WIDTH * HEIGHT; i++) wanted[i % WIDTH * HEIGHT + i / WIDTH] = in[i];
  T *from = on_device(in), *to = on_device(in);
  transpose<<<dim3(3, 3), dim3(TILE, 4)>>>(from, to, WIDTH, HEIGHT);
  EXPECT(on_host(to, WIDTH * HEIGHT) == wanted);
  HIP(hipFree(from));
  HIP(hipFree(to));
}

int main() {
  check<unsigned char>();
  check<short>();
  check<float>();
  check<double>();
  return passed();
}
