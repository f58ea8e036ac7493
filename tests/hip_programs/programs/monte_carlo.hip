// Pi by a Monte Carlo method: states of generators in memory, one 64-bit atomic for each wave.
#include "program.h"

__host__ __device__ inline unsigned next(uint2 &state) {  // xoroshiro64*
  unsigned a = state.x, b = state.y ^ state.x;
  state.x = (a << 26 | a >> 6) ^ b ^ b << 9;
  state.y = b << 13 | b >> 19;
  return a * 0x9e3779bbu;
}
__host__ __device__ inline unsigned long long inside(uint2 &state, int tries) {
  unsigned long long count = 0;
  for (int i = 0; i < tries; i++) {
    unsigned long long x = next(state) >> 8, y = next(state) >> 8;
    count += x * x + y * y < 1ull << 48;
  }
  return count;
}
__global__ void estimate(uint2 *states, unsigned long long *total, int tries) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned long long count = inside(states[i], tries);
  for (int distance = warpSize / 2; distance; distance /= 2) count += __shfl_xor(count, distance);
  if (threadIdx.x % warpSize == 0) atomicAdd(total, count);
}

int main() {
  constexpr int COUNT = 256, TRIES = 50;
  std::vector<unsigned> seeds = random_numbers(2 * COUNT, ~0u);
  std::vector<unsigned long long> zero(1);
  unsigned *s = on_device(seeds);
  unsigned long long *total = on_device(zero), wanted = 0;
  estimate<<<2, 128>>>(reinterpret_cast<uint2 *>(s), total, TRIES);
  for (int i = 0; i < COUNT; i++) {
    uint2 state = make_uint2(seeds[2 * i], seeds[2 * i + 1]);
    wanted += inside(state, TRIES);
  }
  EXPECT(on_host(total, 1)[0] == wanted);
  EXPECT(is_close(4.0 * wanted / (COUNT * TRIES), M_PI, 0.02));
  HIP(hipFree(s));
  HIP(hipFree(total));
  return passed();
}
