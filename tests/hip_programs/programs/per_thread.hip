// For -fgpu-default-stream=per-thread: the null stream is the thread's own. It can be captured, which HIP's legacy null
// stream cannot, and a capture in one thread does not disturb another. Its functions for captures are of later versions.
#include "program.h"

#include <thread>

__device__ int table[64];
__global__ void add(int *values, int value) { values[threadIdx.x] += value + table[threadIdx.x]; }

extern "C" {
hipError_t hipStreamBeginCapture_spt(hipStream_t stream, hipStreamCaptureMode mode);
hipError_t hipStreamEndCapture_spt(hipStream_t stream, hipGraph_t *graph);
hipError_t hipGraphLaunch_spt(hipGraphExec_t executable, hipStream_t stream);
}
static void launch(int *values, int value) { add<<<1, 64>>>(values, value); }
static void work(int seed) {
  std::vector<int> numbers(64, seed), rows(32);
  hipGraph_t graph;
  hipGraphExec_t executable;
  hipEvent_t event;
  int *values = on_device(numbers);
  HIP(hipEventCreate(&event));
  launch(values, 1);
  HIP(hipEventRecord(event, nullptr));
  HIP(hipStreamWaitEvent(nullptr, event, 0));
  HIP(hipStreamBeginCapture_spt(nullptr, hipStreamCaptureModeThreadLocal));
  launch(values, 10);
  launch(values, 10);
  HIP(hipStreamEndCapture_spt(nullptr, &graph));
  HIP(hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0));
  for (int i = 0; i < 3; i++) HIP(hipGraphLaunch_spt(executable, nullptr));
  HIP(hipStreamSynchronize(nullptr));
  HIP(hipStreamQuery(nullptr));
  EXPECT(on_host(values, 64) == std::vector<int>(64, seed + 61 + 7 * 2));
  HIP(hipMemset2D(values, 16, 0, 8, 16));
  HIP(hipMemcpy2D(rows.data(), 8, values, 16, 8, 16, hipMemcpyDeviceToHost));
  EXPECT(rows == std::vector<int>(32, 0));
  HIP(hipMemcpyAsync(values, numbers.data(), 256, hipMemcpyHostToDevice, nullptr));
  HIP(hipMemsetAsync(values, 0, 128, nullptr));
  EXPECT(on_host(values, 64)[31] == 0 && on_host(values, 64)[32] == seed);
  HIP(hipGraphExecDestroy(executable));
  HIP(hipGraphDestroy(graph));
  HIP(hipEventDestroy(event));
  HIP(hipFree(values));
}

int main() {
  std::vector<int> twos(64, 2), found(64);
  HIP(hipMemcpyToSymbol(HIP_SYMBOL(table), twos.data(), 256, 0, hipMemcpyHostToDevice));
  HIP(hipMemcpyFromSymbol(found.data(), HIP_SYMBOL(table), 256, 0, hipMemcpyDeviceToHost));
  EXPECT(found == twos);
  std::thread other(work, 1000);
  work(5);
  other.join();
  return passed();
}
