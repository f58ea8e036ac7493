// Graphs in graphs, clones, and nodes of every kind: copies in three dimensions and of variables, events, fills; nodes
// that are changed, and captures in several modes.
#include "program.h"

extern "C" {  // of later versions of HIP
hipError_t hipEventRecordWithFlags(hipEvent_t event, hipStream_t stream, unsigned flags);
hipError_t hipStreamBeginCaptureToGraph(hipStream_t stream, hipGraph_t graph, const hipGraphNode_t *after,
                                        const void *ports, size_t count, hipStreamCaptureMode mode);
}

__device__ int table[16];
__global__ void add(int *values, int value) { values[threadIdx.x] += value; }
__global__ void add_table(int *values) { values[threadIdx.x] += table[threadIdx.x % 16]; }

static hipGraphNode_t kernel_node(hipGraph_t graph, std::vector<hipGraphNode_t> after, int *values, int value) {
  void *arguments[] = {&values, &value};
  hipKernelNodeParams parameters = {};
  parameters.func = reinterpret_cast<void *>(add);
  parameters.gridDim = dim3(1);
  parameters.blockDim = dim3(64);
  parameters.kernelParams = arguments;
  hipGraphNode_t node;
  HIP(hipGraphAddKernelNode(&node, graph, after.data(), after.size(), &parameters));
  return node;
}
static void launch(hipGraph_t graph, hipStream_t stream) {
  hipGraphExec_t executable;
  HIP(hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0));
  HIP(hipGraphLaunch(executable, stream));
  HIP(hipStreamSynchronize(stream));
  HIP(hipGraphExecDestroy(executable));
}

static void children(hipStream_t stream) {
  int *values = on_device(std::vector<int>(64, 1));
  hipGraph_t child, graph, clone, inner;
  HIP(hipGraphCreate(&child, 0));
  hipGraphNode_t last = kernel_node(child, {}, values, 2), there, found;
  // An edge to a node that was added before: the fill is the first.
  hipMemsetParams fill = {values, 4, 1, 0, 5, 64};
  hipGraphNode_t first;
  HIP(hipGraphAddMemsetNode(&first, child, nullptr, 0, &fill));
  HIP(hipGraphAddDependencies(child, &first, &last, 1));
  HIP(hipGraphCreate(&graph, 0));
  hipGraphNode_t before = kernel_node(graph, {}, values, 100);
  HIP(hipGraphAddChildGraphNode(&there, graph, &before, 1, child));
  hipGraphNode_t behind = kernel_node(graph, {there}, values, 20);
  HIP(hipGraphDestroy(child));  // the node has a copy
  launch(graph, stream);
  EXPECT(on_host(values, 64) == std::vector<int>(64, 27));

  hipGraphNodeType type;
  size_t count = 0;
  HIP(hipGraphNodeGetType(there, &type));
  EXPECT(type == hipGraphNodeTypeGraph);
  HIP(hipGraphChildGraphNodeGetGraph(there, &inner));
  HIP(hipGraphGetNodes(inner, nullptr, &count));
  EXPECT(count == 2);
  HIP(hipGraphGetRootNodes(graph, &found, &(count = 1)));
  EXPECT(count == 1 && found == before);
  HIP(hipGraphNodeGetDependencies(behind, &found, &(count = 1)));
  EXPECT(count == 1 && found == there);

  HIP(hipGraphClone(&clone, graph));
  HIP(hipGraphNodeFindInClone(&found, behind, clone));
  hipKernelNodeParams parameters;
  HIP(hipGraphKernelNodeGetParams(found, &parameters));
  EXPECT(parameters.blockDim.x == 64 && *static_cast<int *>(parameters.kernelParams[1]) == 20);
  int more = 30;
  void *arguments[] = {&values, &more};
  parameters.kernelParams = arguments;
  HIP(hipGraphKernelNodeSetParams(found, &parameters));
  launch(clone, stream);
  EXPECT(on_host(values, 64) == std::vector<int>(64, 37));
  HIP(hipGraphDestroyNode(behind));
  launch(graph, stream);
  EXPECT(on_host(values, 64) == std::vector<int>(64, 7));
  HIP(hipGraphAddDependencies(graph, &there, &before, 1));  // a circle
  hipGraphExec_t executable;
  EXPECT_CODE(hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0), hipErrorInvalidValue);
  HIP(hipGraphDestroy(graph));
  HIP(hipGraphDestroy(clone));
  HIP(hipFree(values));
}

static void copies(hipStream_t stream) {
  const size_t width = 4, height = 3, depth = 2;
  std::vector<int> in(width * height * depth), out(in.size()), numbers(16);
  for (size_t i = 0; i < in.size(); i++) in[i] = i * i;
  for (int i = 0; i < 16; i++) numbers[i] = 3 * i;
  hipPitchedPtr box;
  HIP(hipMalloc3D(&box, make_hipExtent(width * sizeof(int), height, depth)));
  int *values = on_device(std::vector<int>(64, 1));
  hipGraph_t graph;
  hipGraphExec_t executable;
  hipGraphNode_t to, from, symbol, kernel, back;
  HIP(hipGraphCreate(&graph, 0));
  hipMemcpy3DParms copy = {};
  copy.extent = make_hipExtent(width * sizeof(int), height, depth);
  copy.kind = hipMemcpyHostToDevice;
  copy.srcPtr = make_hipPitchedPtr(in.data(), width * sizeof(int), width, height);
  copy.dstPtr = box;
  HIP(hipGraphAddMemcpyNode(&to, graph, nullptr, 0, &copy));
  copy.kind = hipMemcpyDeviceToHost;
  copy.srcPtr = box;
  copy.dstPtr = make_hipPitchedPtr(out.data(), width * sizeof(int), width, height);
  HIP(hipGraphAddMemcpyNode(&from, graph, &to, 1, &copy));
  HIP(hipGraphAddMemcpyNodeToSymbol(&symbol, graph, nullptr, 0, HIP_SYMBOL(table), numbers.data(), 64, 0,
                                    hipMemcpyHostToDevice));
  void *arguments[] = {&values};
  hipKernelNodeParams parameters = {};
  parameters.func = reinterpret_cast<void *>(add_table);
  parameters.gridDim = dim3(1);
  parameters.blockDim = dim3(64);
  parameters.kernelParams = arguments;
  HIP(hipGraphAddKernelNode(&kernel, graph, &symbol, 1, &parameters));
  std::vector<int> returned(16), others(16);
  HIP(hipGraphAddMemcpyNodeFromSymbol(&back, graph, &kernel, 1, returned.data(), HIP_SYMBOL(table), 64, 0,
                                      hipMemcpyDeviceToHost));
  HIP(hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0));
  HIP(hipGraphLaunch(executable, stream));
  HIP(hipStreamSynchronize(stream));
  EXPECT(in == out && returned == numbers);
  EXPECT(on_host(values, 64)[63] == 46);
  for (int &number : numbers) number = 1;
  HIP(hipGraphExecMemcpyNodeSetParamsFromSymbol(executable, back, others.data(), HIP_SYMBOL(table), 64, 0,
                                                hipMemcpyDeviceToHost));
  copy.dstPtr.ptr = nullptr;
  EXPECT_CODE(hipGraphExecMemcpyNodeSetParams(executable, from, &copy), hipErrorInvalidValue);
  HIP(hipGraphLaunch(executable, stream));
  HIP(hipStreamSynchronize(stream));
  EXPECT(others == numbers);
  EXPECT(on_host(values, 64)[63] == 47);
  HIP(hipGraphExecDestroy(executable));
  HIP(hipGraphDestroy(graph));
  HIP(hipFree(box.ptr));
  HIP(hipFree(values));
}

static void events(hipStream_t stream) {
  int *values = on_device(std::vector<int>(64, 0));
  hipEvent_t start, end;
  float milliseconds = -1;
  hipGraph_t graph;
  hipGraphNode_t first, last, waits;
  HIP(hipEventCreate(&start));
  HIP(hipEventCreate(&end));
  HIP(hipGraphCreate(&graph, 0));
  HIP(hipGraphAddEventRecordNode(&first, graph, nullptr, 0, start));
  hipGraphNode_t kernel = kernel_node(graph, {first}, values, 1);
  HIP(hipGraphAddEventRecordNode(&last, graph, &kernel, 1, end));
  HIP(hipGraphAddEventWaitNode(&waits, graph, &last, 1, start));
  launch(graph, stream);
  HIP(hipEventElapsedTime(&milliseconds, start, end));
  EXPECT(milliseconds >= 0);
  HIP(hipGraphDestroy(graph));
  // The same by a capture to a graph that is there, and by external events.
  HIP(hipGraphCreate(&graph, 0));
  kernel = kernel_node(graph, {}, values, 1);
  HIP(hipStreamBeginCaptureToGraph(stream, graph, &kernel, nullptr, 1, hipStreamCaptureModeRelaxed));
  int *scratch;
  HIP(hipMalloc(&scratch, 64));  // which other modes refuse
  HIP(hipFree(scratch));
  add<<<1, 64, 0, stream>>>(values, 10);
  HIP(hipEventRecordWithFlags(end, stream, 1));
  hipGraph_t captured;
  EXPECT_CODE(hipGraphDestroy(graph), hipErrorInvalidValue);
  HIP(hipStreamEndCapture(stream, &captured));
  EXPECT(captured == graph);
  launch(graph, stream);
  HIP(hipEventQuery(end));
  EXPECT(on_host(values, 64) == std::vector<int>(64, 12));
  HIP(hipGraphDestroy(graph));
  HIP(hipEventDestroy(start));
  HIP(hipEventDestroy(end));
  HIP(hipFree(values));
}

// What a graph may free: what a graph allocates, once.
static void frees(hipStream_t stream) {
  int outside, *values, *device = on_device(std::vector<int>(64, 0));
  hipGraph_t graph;
  HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal));
  HIP(hipMallocAsync(reinterpret_cast<void **>(&values), 256, stream));
  EXPECT_CODE(hipFreeAsync(&outside, stream), hipErrorInvalidValue);
  EXPECT_CODE(hipFreeAsync(device, stream), hipErrorInvalidValue);
  EXPECT_CODE(hipFreeAsync(values + 1, stream), hipErrorInvalidValue);
  HIP(hipFreeAsync(values, stream));
  EXPECT_CODE(hipFreeAsync(values, stream), hipErrorInvalidValue);
  HIP(hipStreamEndCapture(stream, &graph));
  launch(graph, stream);
  HIP(hipGraphDestroy(graph));
  HIP(hipFree(device));
}

int main() {
  hipStream_t stream;
  HIP(hipStreamCreate(&stream));
  children(stream);
  copies(stream);
  events(stream);
  frees(stream);
  HIP(hipStreamDestroy(stream));
  return passed();
}
