// Run-length encoding by prefix sums on one block, and decoding by binary search.
#include "program.h"

constexpr int COUNT = 256;
__global__ void encode(const unsigned char *in, unsigned char *values, int *starts, int *runs) {
  __shared__ int sums[COUNT];
  int i = threadIdx.x, is_first = i == 0 || in[i] != in[i - 1];
  sums[i] = is_first;
  for (int distance = 1; distance < COUNT; distance *= 2) {
    __syncthreads();
    int other = i >= distance ? sums[i - distance] : 0;
    __syncthreads();
    sums[i] += other;
  }
  if (is_first) {
    values[sums[i] - 1] = in[i];
    starts[sums[i] - 1] = i;
  }
  if (i == COUNT - 1) *runs = sums[i];
}
__global__ void decode(const unsigned char *values, const int *starts, const int *runs, unsigned char *out) {
  int low = 0, high = *runs;
  while (high - low > 1) {
    int middle = (low + high) / 2;
    if (starts[middle] <= static_cast<int>(threadIdx.x)) low = middle;
    else high = middle;
  }
  out[threadIdx.x] = values[low];
}

int main() {
  std::vector<unsigned char> in, zero(COUNT);
  for (unsigned length : random_numbers(COUNT, 6))
    for (unsigned i = 0; i <= length && in.size() < COUNT; i++) in.push_back('a' + length);
  unsigned char *x = on_device(in), *values = on_device(zero), *out = on_device(zero);
  int *starts, *runs;
  HIP(hipMalloc(&starts, COUNT * sizeof(int)));
  HIP(hipMalloc(&runs, sizeof(int)));
  encode<<<1, COUNT>>>(x, values, starts, runs);
  decode<<<1, COUNT>>>(values, starts, runs, out);
  EXPECT(on_host(out, COUNT) == in);
  int wanted = 1;
  for (int i = 1; i < COUNT; i++) wanted += in[i] != in[i - 1];
  EXPECT(on_host(runs, 1)[0] == wanted);
  HIP(hipFree(x)); HIP(hipFree(values)); HIP(hipFree(out)); HIP(hipFree(starts)); HIP(hipFree(runs));
  return passed();
}
