// Streams, events and their times, waits between streams, host functions, callbacks, pools.
#include "program.h"

#include <atomic>

__global__ void scale(float *x, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= factor;
}
static std::atomic<int> calls;
static void count(void *by) { calls += *static_cast<int *>(by); }
static void called(hipStream_t, hipError_t code, void *by) {
  if (code == hipSuccess) count(by);
}

int main() {
  int n = 1 << 12, ten = 10;
  hipStream_t first, second;
  hipEvent_t start, end, ready;
  HIP(hipStreamCreate(&first));
  HIP(hipStreamCreateWithFlags(&second, hipStreamNonBlocking));
  HIP(hipEventCreate(&start));
  HIP(hipEventCreate(&end));
  HIP(hipEventCreateWithFlags(&ready, hipEventDisableTiming));
  float *pinned, *x;
  HIP(hipHostMalloc(&pinned, n * sizeof(float), hipHostMallocDefault));
  for (int i = 0; i < n; i++) pinned[i] = i;
  HIP(hipMalloc(&x, n * sizeof(float)));
  HIP(hipEventRecord(start, first));
  HIP(hipMemcpyAsync(x, pinned, n * sizeof(float), hipMemcpyHostToDevice, first));
  scale<<<n / 256, 256, 0, first>>>(x, 2, n);
  HIP(hipEventRecord(ready, first));
  HIP(hipStreamWaitEvent(second, ready, 0));
  scale<<<n / 256, 256, 0, second>>>(x, 3, n);
  HIP(hipMemcpyAsync(pinned, x, n * sizeof(float), hipMemcpyDeviceToHost, second));
  HIP(hipLaunchHostFunc(second, count, &ten));
  HIP(hipStreamAddCallback(second, called, &ten, 0));
  HIP(hipStreamSynchronize(second));
  HIP(hipEventRecord(end, first));
  HIP(hipEventSynchronize(end));
  float milliseconds = -1;
  HIP(hipEventElapsedTime(&milliseconds, start, end));
  EXPECT(milliseconds >= 0);
  EXPECT_CODE(hipEventElapsedTime(&milliseconds, start, ready), hipErrorInvalidHandle);
  HIP(hipStreamQuery(first));
  HIP(hipEventQuery(end));
  for (int i = 0; i < n; i++) EXPECT(pinned[i] == 6 * i);
  EXPECT(calls == 20);
  float *pooled;
  HIP(hipMallocAsync(reinterpret_cast<void **>(&pooled), 4096, first));
  HIP(hipMemsetAsync(pooled, 1, 4096, first));
  HIP(hipFreeAsync(pooled, first));
  HIP(hipStreamSynchronize(first));
  int least, greatest;
  HIP(hipDeviceGetStreamPriorityRange(&least, &greatest));
  EXPECT(least >= greatest);
  HIP(hipFree(x));
  HIP(hipHostFree(pinned));
  for (hipEvent_t each : {start, end, ready}) HIP(hipEventDestroy(each));
  HIP(hipStreamDestroy(first));
  HIP(hipStreamDestroy(second));
  return passed();
}
