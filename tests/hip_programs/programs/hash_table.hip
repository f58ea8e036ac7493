// A hash table with open addressing: keys by compare and swap, counts by 64-bit atomics.
#include "program.h"

#include <map>

constexpr unsigned SLOTS = 256, NOBODY = ~0u;
__global__ void insert(unsigned *keys, unsigned long long *counts, const unsigned *values, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned slot = values[i] * 2654435761u % SLOTS;
  for (;; slot = (slot + 1) % SLOTS) {
    unsigned there = atomicCAS(&keys[slot], NOBODY, values[i]);
    if (there == NOBODY || there == values[i]) break;
  }
  atomicAdd(&counts[slot], 1ull);
}

int main() {
  constexpr int COUNT = 600;
  std::vector<unsigned> values = random_numbers(COUNT, 150), empty(SLOTS, NOBODY);
  std::vector<unsigned long long> zero(SLOTS);
  unsigned *v = on_device(values), *k = on_device(empty);
  unsigned long long *c = on_device(zero);
  insert<<<(COUNT + 63) / 64, 64>>>(k, c, v, COUNT);
  std::map<unsigned, unsigned long long> wanted, found;
  for (unsigned value : values) wanted[value]++;
  std::vector<unsigned> keys = on_host(k, SLOTS);
  std::vector<unsigned long long> counts = on_host(c, SLOTS);
  for (unsigned i = 0; i < SLOTS; i++)
    if (keys[i] != NOBODY) found[keys[i]] = counts[i];
  EXPECT(found == wanted);
  HIP(hipFree(v)); HIP(hipFree(k)); HIP(hipFree(c));
  return passed();
}
