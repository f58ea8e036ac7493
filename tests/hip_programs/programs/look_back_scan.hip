// A scan in one pass: each block waits for what the blocks before it publish ("decoupled look-back").
#include "program.h"

constexpr int BLOCK = 128;
constexpr unsigned EMPTY = 0, PART = 1u << 30, WHOLE = 2u << 30, VALUE = PART - 1;

__global__ void scan(const unsigned *in, unsigned *out, unsigned *states, unsigned *tickets) {
  __shared__ unsigned sums[BLOCK], block, before;
  if (threadIdx.x == 0) block = atomicAdd(tickets, 1u);
  __syncthreads();
  unsigned i = block * BLOCK + threadIdx.x;
  sums[threadIdx.x] = in[i];
  for (int distance = 1; distance < BLOCK; distance *= 2) {
    __syncthreads();
    unsigned other = threadIdx.x >= distance ? sums[threadIdx.x - distance] : 0;
    __syncthreads();
    sums[threadIdx.x] += other;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    unsigned sum = 0, total = sums[BLOCK - 1];
    if (block) __hip_atomic_store(&states[block], PART | total, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
    for (int other = static_cast<int>(block) - 1; other >= 0; other--) {
      unsigned state;
      do state = __hip_atomic_load(&states[other], __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT);
      while (state == EMPTY);
      sum += state & VALUE;
      if (state & WHOLE) break;
    }
    __hip_atomic_store(&states[block], WHOLE | (sum + total), __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
    before = sum;
  }
  __syncthreads();
  out[i] = before + sums[threadIdx.x];
}

int main() {
  constexpr int BLOCKS = 9, COUNT = BLOCKS * BLOCK;
  std::vector<unsigned> values = random_numbers(COUNT, 99);
  unsigned *in = on_device(values), *out, *states;
  HIP(hipMalloc(&out, COUNT * sizeof(unsigned)));
  HIP(hipMalloc(&states, (BLOCKS + 1) * sizeof(unsigned)));
  HIP(hipMemset(states, 0, (BLOCKS + 1) * sizeof(unsigned)));
  scan<<<BLOCKS, BLOCK>>>(in, out, states, states + BLOCKS);
  for (int i = 1; i < COUNT; i++) values[i] += values[i - 1];
  EXPECT(on_host(out, COUNT) == values);
  for (auto *each : {in, out, states}) HIP(hipFree(each));
  return passed();
}
