// The fast Walsh transform: twice gives the data again, times their number.
#include "program.h"

__global__ void step(int *x, int half) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, low = i / half * 2 * half + i % half;
  int a = x[low], b = x[low + half];
  x[low] = a + b;
  x[low + half] = a - b;
}

int main() {
  constexpr int COUNT = 512;
  std::vector<int> values;
  for (unsigned value : random_numbers(COUNT, 1000)) values.push_back(static_cast<int>(value) - 500);
  int *x = on_device(values), sum = 0;
  auto transform = [&] {
    for (int half = 1; half < COUNT; half *= 2) step<<<COUNT / 2 / 64, 64>>>(x, half);
  };
  transform();
  for (int value : values) sum += value;
  EXPECT(on_host(x, 1)[0] == sum);
  transform();
  for (int &value : values) value *= COUNT;
  EXPECT(on_host(x, COUNT) == values);
  HIP(hipFree(x));
  return passed();
}
