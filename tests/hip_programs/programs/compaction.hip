// Stream compaction: ballots give each lane its place in the wave, one atomic gives the wave its own.
#include "program.h"

#include <algorithm>

__global__ void compact(const unsigned *in, unsigned *out, unsigned *size, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned lane = threadIdx.x % warpSize, start = 0;
  bool is_taken = i < count && in[i] % 3 == 0;
  unsigned long long taken = __ballot(is_taken);
  if (lane == 0) start = atomicAdd(size, static_cast<unsigned>(__popcll(taken)));
  start = __shfl(start, 0);
  if (is_taken) out[start + __popcll(taken & ((1ull << lane) - 1))] = in[i];
}

int main() {
  constexpr int COUNT = 1000;
  std::vector<unsigned> values = random_numbers(COUNT, 10000), wanted, zero(1);
  unsigned *in = on_device(values), *out = on_device(values), *size = on_device(zero);
  compact<<<(COUNT + 127) / 128, 128>>>(in, out, size, COUNT);
  std::copy_if(values.begin(), values.end(), std::back_inserter(wanted), [](unsigned v) { return v % 3 == 0; });
  EXPECT(on_host(size, 1)[0] == wanted.size());
  std::vector<unsigned> found = on_host(out, wanted.size());
  std::sort(found.begin(), found.end());
  std::sort(wanted.begin(), wanted.end());
  EXPECT(found == wanted);
  for (auto *each : {in, out, size}) HIP(hipFree(each));
  return passed();
}
