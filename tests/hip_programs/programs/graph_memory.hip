// Memory that a graph allocates: captured and as nodes, used by several executables, freed by the program or not.
#include "program.h"

__global__ void fill(int *values, int value) { values[threadIdx.x] = value; }
__global__ void add(int *values, const int *others) { values[threadIdx.x] += others[threadIdx.x]; }

static void captured() {
  hipStream_t stream;
  hipGraph_t graph;
  hipGraphExec_t first, second;
  std::vector<int> found(64);
  int *scratch, *result = on_device(std::vector<int>(64, 5));
  HIP(hipStreamCreate(&stream));
  HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  HIP(hipMallocAsync(reinterpret_cast<void **>(&scratch), 64 * sizeof(int), stream));
  fill<<<1, 64, 0, stream>>>(scratch, 7);
  add<<<1, 64, 0, stream>>>(result, scratch);
  HIP(hipFreeAsync(scratch, stream));
  HIP(hipStreamEndCapture(stream, &graph));
  HIP(hipGraphInstantiate(&first, graph, nullptr, nullptr, 0));
  HIP(hipGraphInstantiate(&second, graph, nullptr, nullptr, 0));
  HIP(hipGraphDestroy(graph));
  HIP(hipGraphLaunch(first, stream));
  HIP(hipGraphLaunch(first, stream));
  HIP(hipGraphExecDestroy(first));
  HIP(hipGraphLaunch(second, stream));
  HIP(hipStreamSynchronize(stream));
  EXPECT(on_host(result, 64) == std::vector<int>(64, 26));
  HIP(hipGraphExecDestroy(second));
  EXPECT_CODE(hipGraphLaunch(second, stream), hipErrorInvalidValue);
  HIP(hipFree(result));
  HIP(hipStreamDestroy(stream));
}

// The program frees what the graph has allocated; the graph does not free it again.
static void freed_by_the_program() {
  hipStream_t stream;
  hipGraph_t graph;
  hipGraphExec_t executable;
  int *values;
  HIP(hipStreamCreate(&stream));
  HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  HIP(hipMallocAsync(reinterpret_cast<void **>(&values), 64 * sizeof(int), stream));
  fill<<<1, 64, 0, stream>>>(values, 3);
  HIP(hipStreamEndCapture(stream, &graph));
  HIP(hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0));
  HIP(hipGraphLaunch(executable, stream));
  HIP(hipStreamSynchronize(stream));
  EXPECT(on_host(values, 64) == std::vector<int>(64, 3));
  HIP(hipFree(values));
  int *others = on_device(std::vector<int>(64, 4));
  HIP(hipGraphExecDestroy(executable));
  HIP(hipGraphDestroy(graph));
  EXPECT(on_host(others, 64) == std::vector<int>(64, 4));
  HIP(hipFree(others));
  HIP(hipStreamDestroy(stream));
}

// What ROCm's functions take, although they were made for other memory.
static void freed_by_others() {
  void *pointer = &pointer, *pinned;
  HIP(hipMallocAsync(&pointer, 0, nullptr));
  EXPECT(!pointer);
  HIP(hipFreeAsync(nullptr, nullptr));
  HIP(hipMalloc(&pointer, 64));
  HIP(hipFreeAsync(pointer, nullptr));
  HIP(hipMallocAsync(&pointer, 64, nullptr));
  HIP(hipFree(pointer));
  HIP(hipHostMalloc(&pinned, 64, 0));
  HIP(hipFree(pinned));
  EXPECT_CODE(hipFree(pinned), hipErrorInvalidValue);
}

static void advised() {
  int *managed, value = 0;
  HIP(hipMallocManaged(reinterpret_cast<void **>(&managed), 4096, hipMemAttachGlobal));
  HIP(hipMemRangeGetAttribute(&value, sizeof value, hipMemRangeAttributeReadMostly, managed, 4096));
  EXPECT(value == 0);
  HIP(hipMemAdvise(managed, 4096, hipMemAdviseSetReadMostly, 0));
  HIP(hipMemAdvise(managed, 4096, hipMemAdviseSetPreferredLocation, hipCpuDeviceId));
  HIP(hipMemPrefetchAsync(managed, 4096, 0, nullptr));
  HIP(hipMemRangeGetAttribute(&value, sizeof value, hipMemRangeAttributeReadMostly, managed, 4096));
  EXPECT(value == 1);
  HIP(hipMemRangeGetAttribute(&value, sizeof value, hipMemRangeAttributePreferredLocation, managed, 4096));
  EXPECT(value == hipCpuDeviceId);
  HIP(hipMemRangeGetAttribute(&value, sizeof value, hipMemRangeAttributeLastPrefetchLocation, managed, 4096));
  EXPECT(value == 0);
  HIP(hipMemAdvise(managed, 4096, hipMemAdviseUnsetPreferredLocation, 0));
  HIP(hipMemRangeGetAttribute(&value, sizeof value, hipMemRangeAttributePreferredLocation, managed, 4096));
  EXPECT(value == hipInvalidDeviceId);
  EXPECT_CODE(hipMemRangeGetAttribute(&value, 3, hipMemRangeAttributeReadMostly, managed, 4096), hipErrorInvalidValue);
  HIP(hipFree(managed));
}

int main() {
  captured();
  freed_by_the_program();
  freed_by_others();
  advised();
  unsigned long long wild = 1;
  EXPECT_CODE(hipGraphLaunch(reinterpret_cast<hipGraphExec_t>(&wild), nullptr), hipErrorInvalidValue);
  int wall_clock = 0;
  HIP(hipDeviceGetAttribute(&wall_clock, static_cast<hipDeviceAttribute_t>(10017), 0));
  EXPECT(wall_clock == 100000);
  return passed();
}
