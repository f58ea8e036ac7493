// The Mandelbrot set in double: loops of other lengths in every lane.
#include "program.h"

__host__ __device__ inline int iterations(double a, double b) {
  double x = 0, y = 0;
  int count = 0;
  for (; count < 60 && x * x + y * y <= 4; count++) {
    double t = x * x - y * y + a;
    y = 2 * (x * y) + b;
    x = t;
  }
  return count;
}
__global__ void draw(int *image, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) image[y * width + x] = iterations(-2 + 2.5 * x / width, -1.25 + 2.5 * y / height);
}

int main() {
  constexpr int WIDTH = 60, HEIGHT = 36;
  std::vector<int> image(WIDTH * HEIGHT);
  int *d = on_device(image), differing = 0;
  draw<<<dim3(4, 5), dim3(16, 8)>>>(d, WIDTH, HEIGHT);
  image = on_host(d, WIDTH * HEIGHT);
  for (int i = 0; i < WIDTH * HEIGHT; i++)
    differing += image[i] != iterations(-2 + 2.5 * (i % WIDTH) / WIDTH, -1.25 + 2.5 * (i / WIDTH) / HEIGHT);
  EXPECT(differing < 5);  // where the compilers contract to fma differently
  HIP(hipFree(d));
  return passed();
}
