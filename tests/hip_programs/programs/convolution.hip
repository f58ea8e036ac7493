// A blur of an image of four bytes a pixel, whose weights are in constant memory; rows have a pitch.
#include "program.h"

constexpr int RADIUS = 2, SIZE = 2 * RADIUS + 1;
__constant__ int weights[SIZE * SIZE];
__host__ __device__ inline int inside(int x, int n) { return x < 0 ? 0 : x < n ? x : n - 1; }
__global__ void blur(const char *in, char *out, size_t pitch, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, r = 0, g = 0, b = 0;
  if (x >= width || y >= height) return;
  for (int dy = -RADIUS; dy <= RADIUS; dy++)
    for (int dx = -RADIUS; dx <= RADIUS; dx++) {
      auto *row = reinterpret_cast<const uchar4 *>(in + inside(y + dy, height) * pitch);
      uchar4 pixel = row[inside(x + dx, width)];
      int weight = weights[(dy + RADIUS) * SIZE + dx + RADIUS];
      r += weight * pixel.x;
      g += weight * pixel.y;
      b += weight * pixel.z;
    }
  reinterpret_cast<uchar4 *>(out + y * pitch)[x] = make_uchar4(r >> 8, g >> 8, b >> 8, 255);
}

int main() {
  constexpr int WIDTH = 50, HEIGHT = 30;
  std::vector<int> w;
  for (int y : {1, 4, 6, 4, 1})
    for (int x : {1, 4, 6, 4, 1}) w.push_back(x * y);
  std::vector<unsigned> image = random_numbers(WIDTH * HEIGHT, ~0u), found(WIDTH * HEIGHT);
  HIP(hipMemcpyToSymbol(HIP_SYMBOL(weights), w.data(), sizeof(weights)));
  char *in, *out;
  size_t pitch, row = WIDTH * sizeof(unsigned);
  HIP(hipMallocPitch(reinterpret_cast<void **>(&in), &pitch, row, HEIGHT));
  HIP(hipMallocPitch(reinterpret_cast<void **>(&out), &pitch, row, HEIGHT));
  HIP(hipMemcpy2D(in, pitch, image.data(), row, row, HEIGHT, hipMemcpyHostToDevice));
  blur<<<dim3(4, 8), dim3(16, 4)>>>(in, out, pitch, WIDTH, HEIGHT);
  HIP(hipMemcpy2D(found.data(), row, out, pitch, row, HEIGHT, hipMemcpyDeviceToHost));
  for (int i = 0; i < WIDTH * HEIGHT; i++)
    for (int channel = 0; channel < 24; channel += 8) {
      int sum = 0;
      for (int j = 0; j < SIZE * SIZE; j++) {
        int y = inside(i / WIDTH + j / SIZE - RADIUS, HEIGHT), x = inside(i % WIDTH + j % SIZE - RADIUS, WIDTH);
        sum += w[j] * (image[y * WIDTH + x] >> channel & 255);
      }
      EXPECT((found[i] >> channel & 255) == static_cast<unsigned>(sum >> 8));
    }
  HIP(hipFree(in));
  HIP(hipFree(out));
  return passed();
}
