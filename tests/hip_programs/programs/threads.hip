// Host threads with streams of their own; objects of the program that free memory after main.
#include "program.h"

#include <thread>

__global__ void fill(int *x, int value, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) x[i] = value + i;
}
static void work(int number) {
  hipStream_t stream;
  HIP(hipStreamCreate(&stream));
  int *x, n = 200;
  HIP(hipMalloc(&x, n * sizeof(int)));
  for (int round = 0; round < 5; round++) {
    fill<<<1, 64, 0, stream>>>(x, number * 1000 + round, n);
    HIP(hipStreamSynchronize(stream));
    std::vector<int> found = on_host(x, n);
    for (int i = 0; i < n; i++) EXPECT(found[i] == number * 1000 + round + i);
  }
  HIP(hipFree(x));
  HIP(hipStreamDestroy(stream));
}

int main() {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; i++) threads.emplace_back(work, i);
  for (std::thread &each : threads) each.join();
  return passed();
}
