// Handles that are none, or no longer: of every kind, refused by HIP's codes. What is right still works.
#include "program.h"

#include <hip/hiprtc.h>

__global__ void fill(int *out) { out[threadIdx.x] = 7; }

struct Wild {
  unsigned long long words[64];
};
static Wild wild = {{1, 2, 3}};
template <class T> static T none() { return reinterpret_cast<T>(&wild); }

static void streams_and_events() {
  hipStream_t stream;
  hipEvent_t event, other;
  float milliseconds;
  HIP(hipStreamCreate(&stream));
  for (unsigned flags : {hipEventDefault, hipEventBlockingSync, hipEventBlockingSync | hipEventDisableTiming}) {
    HIP(hipEventCreateWithFlags(&event, flags));
    HIP(hipEventRecord(event, stream));
    HIP(hipEventDestroy(event));
  }
  HIP(hipEventCreate(&other));
  for (hipEvent_t gone : {event, none<hipEvent_t>(), hipEvent_t(nullptr)}) {
    EXPECT_CODE(hipEventRecord(gone, stream), hipErrorInvalidHandle);
    EXPECT_CODE(hipEventQuery(gone), hipErrorInvalidHandle);
    EXPECT_CODE(hipEventSynchronize(gone), hipErrorInvalidHandle);
    EXPECT_CODE(hipEventElapsedTime(&milliseconds, gone, other), hipErrorInvalidHandle);
    EXPECT_CODE(hipStreamWaitEvent(stream, gone, 0), hipErrorInvalidHandle);
    EXPECT_CODE(hipEventDestroy(gone), hipErrorInvalidHandle);
  }
  HIP(hipEventDestroy(other));
  HIP(hipStreamDestroy(stream));
  for (hipStream_t gone : {stream, none<hipStream_t>()}) {
    EXPECT_CODE(hipStreamSynchronize(gone), hipErrorInvalidHandle);
    EXPECT_CODE(hipStreamDestroy(gone), hipErrorInvalidHandle);
    EXPECT_CODE(hipMemsetAsync(none<void *>(), 0, 0, gone), hipSuccess);  // of no bytes, anywhere
  }
}

static void graphs() {
  hipGraph_t graph, clone;
  hipGraphExec_t executable;
  hipGraphNode_t node, made;
  size_t count = 0;
  hipGraphNodeType type;
  HIP(hipGraphCreate(&graph, 0));
  HIP(hipGraphAddEmptyNode(&node, graph, nullptr, 0));
  HIP(hipGraphNodeGetType(node, &type));
  EXPECT(type == hipGraphNodeTypeEmpty);
  hipGraphNode_t wild_node = none<hipGraphNode_t>();
  EXPECT_CODE(hipGraphNodeGetType(wild_node, &type), hipErrorInvalidValue);
  EXPECT_CODE(hipGraphAddEmptyNode(&made, graph, &wild_node, 1), hipErrorInvalidValue);
  EXPECT_CODE(hipGraphAddDependencies(graph, &node, &wild_node, 1), hipErrorInvalidValue);
  EXPECT_CODE(hipGraphDestroyNode(wild_node), hipErrorInvalidValue);
  HIP(hipGraphDestroy(graph));
  for (hipGraph_t gone : {graph, none<hipGraph_t>(), hipGraph_t(nullptr)}) {
    EXPECT_CODE(hipGraphDestroy(gone), hipErrorInvalidValue);
    EXPECT_CODE(hipGraphInstantiate(&executable, gone, nullptr, nullptr, 0), hipErrorInvalidValue);
    EXPECT_CODE(hipGraphAddEmptyNode(&made, gone, nullptr, 0), hipErrorInvalidValue);
    EXPECT_CODE(hipGraphGetNodes(gone, nullptr, &count), hipErrorInvalidValue);
    EXPECT_CODE(hipGraphGetEdges(gone, nullptr, nullptr, &count), hipErrorInvalidValue);
    EXPECT_CODE(hipGraphClone(&clone, gone), hipErrorInvalidValue);
  }
  EXPECT_CODE(hipGraphNodeGetType(node, &type), hipErrorInvalidValue);  // it went with its graph
  EXPECT_CODE(hipGraphLaunch(none<hipGraphExec_t>(), nullptr), hipErrorInvalidValue);
  EXPECT_CODE(hipGraphExecDestroy(none<hipGraphExec_t>()), hipErrorInvalidValue);
}

static void modules() {
  hipFunction_t function;
  hipDeviceptr_t address;
  size_t nbytes;
  EXPECT_CODE(hipModuleGetFunction(&function, none<hipModule_t>(), "fill"), hipErrorInvalidHandle);
  EXPECT_CODE(hipModuleGetGlobal(&address, &nbytes, none<hipModule_t>(), "x"), hipErrorInvalidHandle);
  EXPECT_CODE(hipModuleUnload(none<hipModule_t>()), hipErrorInvalidHandle);
  EXPECT_CODE(hipModuleLaunchKernel(none<hipFunction_t>(), 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr),
              hipErrorInvalidHandle);
  hiprtcProgram program = none<hiprtcProgram>();
  EXPECT(hiprtcCompileProgram(program, 0, nullptr) == HIPRTC_ERROR_INVALID_INPUT);
  EXPECT(hiprtcDestroyProgram(&program) == HIPRTC_ERROR_INVALID_INPUT);
}

int main() {
  streams_and_events();
  graphs();
  modules();
  uint64_t value;
  void *pointer;
  EXPECT_CODE(hipMemPoolGetAttribute(none<hipMemPool_t>(), hipMemPoolAttrUsedMemHigh, &value), hipErrorInvalidValue);
  EXPECT_CODE(hipMallocFromPoolAsync(&pointer, 64, none<hipMemPool_t>(), nullptr), hipErrorInvalidValue);
  int *out;
  HIP(hipMalloc(&out, 64 * sizeof(int)));
  fill<<<1, 64>>>(out);
  EXPECT(on_host(out, 64) == std::vector<int>(64, 7));
  HIP(hipFree(out));
  return passed();
}
