// Calls that are not inlined: pointers to functions, virtual functions, recursion.
#include "program.h"

__device__ __attribute__((noinline)) int twice(int x) { return 2 * x; }
__device__ __attribute__((noinline)) int squared(int x) { return x * x; }
__device__ __attribute__((noinline)) int less(int x) { return x - 5; }
using Function = int (*)(int);
__device__ Function table[] = {twice, squared, less};

struct Shape { __device__ virtual int area() const = 0; };
struct Square : Shape {
  int side;
  __device__ Square(int given) : side(given) {}
  __device__ int area() const override { return side * side; }
};
struct Strip : Shape {
  int length;
  __device__ Strip(int given) : length(given) {}
  __device__ int area() const override { return 3 * length; }
};
__device__ __attribute__((noinline)) int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

__global__ void call(const int *in, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Square square(in[i]);
  Strip strip(in[i]);
  const Shape *shape = in[i] % 2 ? static_cast<const Shape *>(&square) : &strip;
  out[i] = table[i % 3](in[i]) + shape->area() + fibonacci(i % 8);
}

int main() {
  constexpr int COUNT = 100;
  std::vector<int> in, wanted;
  for (unsigned value : random_numbers(COUNT, 50)) in.push_back(value);
  for (int i = 0; i < COUNT; i++) {
    int x = in[i], fibonacci[] = {0, 1, 1, 2, 3, 5, 8, 13};
    wanted.push_back((i % 3 == 0 ? 2 * x : i % 3 == 1 ? x * x : x - 5) + (x % 2 ? x * x : 3 * x) + fibonacci[i % 8]);
  }
  int *x = on_device(in), *out = on_device(std::vector<int>(COUNT));
  call<<<2, 64>>>(x, out, COUNT);
  EXPECT(on_host(out, COUNT) == wanted);
  HIP(hipFree(x));
  HIP(hipFree(out));
  return passed();
}
