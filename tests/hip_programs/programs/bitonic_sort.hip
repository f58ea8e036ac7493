// Bitonic sort of keys in global memory, one launch for each step.
#include "program.h"

#include <algorithm>

__global__ void step(unsigned *keys, unsigned width, unsigned distance) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, other = i ^ distance;
  if (other <= i) return;
  bool ascending = (i & width) == 0;
  unsigned low = keys[i], high = keys[other];
  if ((low > high) == ascending) {
    keys[i] = high;
    keys[other] = low;
  }
}

int main() {
  constexpr unsigned COUNT = 1024;
  std::vector<unsigned> keys = random_numbers(COUNT, 5000);
  unsigned *x = on_device(keys);
  for (unsigned width = 2; width <= COUNT; width *= 2)
    for (unsigned distance = width / 2; distance; distance /= 2) step<<<COUNT / 128, 128>>>(x, width, distance);
  std::sort(keys.begin(), keys.end());
  EXPECT(on_host(x, COUNT) == keys);
  HIP(hipFree(x));
  return passed();
}
