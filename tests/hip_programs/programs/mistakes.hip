// Sizes that no device has: each call is refused by its code, and what was there is unchanged.
#include "program.h"

__device__ int table[4];
__global__ void fill(int *out) {
  extern __shared__ int shared[];
  __shared__ int fixed[16];
  fixed[threadIdx.x] = table[threadIdx.x % 4];
  __syncthreads();
  shared[threadIdx.x] = threadIdx.x + fixed[(threadIdx.x + 1) % 8];
  out[threadIdx.x] = shared[threadIdx.x];
}

static hipError_t launched(int *out, size_t blocks, size_t threads, size_t lds) {
  (void)hipGetLastError();  // what another call left
  fill<<<blocks, threads, lds>>>(out);
  return hipGetLastError();
}

int main() {
  const size_t all = ~size_t(0);
  int *out, host[8] = {};
  void *other;
  size_t pitch;
  HIP(hipMalloc(&out, sizeof host));
  HIP(hipMemset(out, 0, sizeof host));
  EXPECT_CODE(hipMemset(out, 1, all), hipErrorInvalidValue);
  EXPECT_CODE(hipMemset(out + 1, 1, all - 3), hipErrorInvalidValue);
  EXPECT_CODE(hipMemset(out + 1, 1, sizeof host), hipErrorInvalidValue);
  EXPECT_CODE(hipMemsetD32((hipDeviceptr_t)out, 1, all / 4 + 2), hipErrorInvalidValue);
  EXPECT_CODE(hipMemset2D(out, all / 2 + 1, 1, 4, 3), hipErrorInvalidValue);
  EXPECT_CODE(hipMemcpy(out, host, all, hipMemcpyHostToDevice), hipErrorInvalidValue);
  EXPECT_CODE(hipMemcpy(host, out, all - 16, hipMemcpyDeviceToHost), hipErrorInvalidValue);
  EXPECT_CODE(hipMemcpy2D(out, all / 2 + 1, host, all / 2 + 1, 4, 3, hipMemcpyHostToDevice), hipErrorInvalidValue);
  EXPECT_CODE(hipMemcpyToSymbol(HIP_SYMBOL(table), host, all - 3, 8), hipErrorInvalidValue);
  EXPECT_CODE(hipMalloc(&other, all), hipErrorOutOfMemory);
  EXPECT_CODE(hipMallocPitch(&other, &pitch, all / 2 + 1, 2), hipErrorOutOfMemory);
  EXPECT_CODE(hipHostRegister(host, all, 0), hipErrorInvalidValue);
  EXPECT_CODE(launched(out, 0, 8, 32), hipErrorInvalidConfiguration);
  EXPECT_CODE(launched(out, 1, 2048, 32), hipErrorInvalidConfiguration);
  EXPECT_CODE(launched(out, 1, 8, 1 << 20), hipErrorInvalidValue);
  EXPECT_CODE(launched(out, 1, 8, (64 << 10) - 32), hipErrorInvalidValue);
  EXPECT_CODE(launched(out, 1, 8, size_t(1) << 32), hipErrorInvalidValue);
  EXPECT_CODE(hipFree((void *)(uintptr_t)0x1234), hipErrorInvalidValue);
  HIP(hipMemcpy(host, out, sizeof host, hipMemcpyDeviceToHost));
  for (int i = 0; i < 8; i++) EXPECT(host[i] == 0);
  HIP(launched(out, 1, 8, 32));
  HIP(hipMemcpy(host, out, sizeof host, hipMemcpyDeviceToHost));
  for (int i = 0; i < 8; i++) EXPECT(host[i] == i);
  HIP(hipFree(out));
  puts("PASS");
}
