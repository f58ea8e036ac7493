// Variables of the device: constant memory, global and managed variables, a function pointer.
#include "program.h"

__constant__ float weights[4];
__device__ int counter = 5;
__managed__ int shared_by_both = 7;
__device__ float doubled(float x) { return 2 * x; }
__device__ float (*chosen)(float) = doubled;

__global__ void use(float *out) {
  int i = threadIdx.x;
  out[i] = chosen(weights[i % 4]);
  if (i == 0) {
    counter += 10;
    shared_by_both += 100;
  }
}

int main() {
  float values[4] = {1, 2, 3, 4};
  HIP(hipMemcpyToSymbol(HIP_SYMBOL(weights), values, sizeof values));
  HIP(hipMemcpyToSymbol(HIP_SYMBOL(weights), values, sizeof(float), 3 * sizeof(float), hipMemcpyHostToDevice));
  EXPECT(shared_by_both == 7);
  shared_by_both = 1;
  float *out;
  HIP(hipMalloc(&out, 64 * sizeof(float)));
  use<<<1, 64>>>(out);
  HIP(hipDeviceSynchronize());
  std::vector<float> found = on_host(out, 64);
  for (int i = 0; i < 64; i++) EXPECT(found[i] == 2 * (i % 4 == 3 ? 1 : values[i % 4]));
  int read = 0;
  HIP(hipMemcpyFromSymbol(&read, HIP_SYMBOL(counter), sizeof read));
  EXPECT(read == 15);
  EXPECT(shared_by_both == 101);
  void *address;
  size_t nbytes;
  HIP(hipGetSymbolAddress(&address, HIP_SYMBOL(weights)));
  HIP(hipGetSymbolSize(&nbytes, HIP_SYMBOL(weights)));
  EXPECT(nbytes == sizeof weights);
  HIP(hipMemset(address, 0, nbytes));
  HIP(hipMemcpyFromSymbol(values, HIP_SYMBOL(weights), sizeof values));
  EXPECT(values[1] == 0);
  EXPECT_CODE(hipMemcpyToSymbol(HIP_SYMBOL(weights), values, sizeof values, 4), hipErrorInvalidValue);
  EXPECT_CODE(hipMemcpyToSymbol(HIP_SYMBOL(read), values, 4), hipErrorInvalidSymbol);
  HIP(hipFree(out));
  return passed();
}
