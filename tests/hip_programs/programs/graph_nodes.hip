// A graph that is built node by node: fill, copy, kernels, host function; then one node is changed.
#include "program.h"

__global__ void add(int *x, int value) { x[threadIdx.x] += value; }
static void note(void *data) { ++*static_cast<int *>(data); }

int main() {
  constexpr int COUNT = 64;
  constexpr size_t SIZE = COUNT * sizeof(int);
  std::vector<int> in(COUNT, 5), out(COUNT);
  int *x, *y, calls = 0, three = 3;
  HIP(hipMalloc(&x, SIZE));
  HIP(hipMalloc(&y, SIZE));
  hipGraph_t graph;
  hipGraphExec_t executable;
  hipGraphNode_t fill, copy, kernel, between, back, host, none;
  HIP(hipGraphCreate(&graph, 0));
  hipMemsetParams ones{x, 4, 1, 0, 1, COUNT};
  HIP(hipGraphAddMemsetNode(&fill, graph, nullptr, 0, &ones));
  void *arguments[] = {&x, &three};
  hipKernelNodeParams launch{dim3(COUNT), nullptr, reinterpret_cast<void *>(add), dim3(1), arguments, 0};
  HIP(hipGraphAddKernelNode(&kernel, graph, &fill, 1, &launch));
  HIP(hipGraphAddMemcpyNode1D(&copy, graph, nullptr, 0, y, in.data(), SIZE, hipMemcpyHostToDevice));
  hipGraphNode_t both[] = {kernel, copy};
  HIP(hipGraphAddEmptyNode(&between, graph, both, 2));
  HIP(hipGraphAddMemcpyNode1D(&back, graph, &between, 1, out.data(), x, SIZE, hipMemcpyDeviceToHost));
  hipHostNodeParams noting{note, &calls};
  HIP(hipGraphAddHostNode(&host, graph, nullptr, 0, &noting));
  HIP(hipGraphAddDependencies(graph, &back, &host, 1));
  HIP(hipGraphAddDependencies(graph, &host, &fill, 1));
  EXPECT_CODE(hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0), hipErrorInvalidValue);  // a circle
  HIP(hipGraphRemoveDependencies(graph, &host, &fill, 1));
  EXPECT_CODE(hipGraphAddEmptyNode(&none, graph, nullptr, 1), hipErrorInvalidValue);
  EXPECT_CODE(hipGraphAddMemcpyNode1D(&none, graph, nullptr, 0, x, in.data(), SIZE + 4, hipMemcpyHostToDevice),
              hipErrorInvalidValue);
  size_t count = 0;
  HIP(hipGraphGetNodes(graph, nullptr, &count));
  EXPECT(count == 6);
  HIP(hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0));
  HIP(hipGraphLaunch(executable, nullptr));
  HIP(hipDeviceSynchronize());
  EXPECT(out == std::vector<int>(COUNT, 4) && calls == 1 && on_host(y, COUNT) == in);
  int ten = 10;
  void *others[] = {&x, &ten};
  launch.kernelParams = others;
  HIP(hipGraphExecKernelNodeSetParams(executable, kernel, &launch));
  HIP(hipGraphLaunch(executable, nullptr));
  HIP(hipDeviceSynchronize());
  EXPECT(out == std::vector<int>(COUNT, 11) && calls == 2);
  HIP(hipGraphExecDestroy(executable));
  HIP(hipGraphDestroy(graph));
  HIP(hipFree(x));
  HIP(hipFree(y));
  return passed();
}
