// A graph by capture, launched several times.
#include "program.h"

__global__ void step(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = 2 * x[i] + 1;
}

int main() {
  int n = 500;
  std::vector<float> values(n);
  for (int i = 0; i < n; i++) values[i] = i;
  float *x;
  HIP(hipMalloc(&x, n * sizeof(float)));
  std::vector<float> found(n);
  hipStream_t stream;
  HIP(hipStreamCreate(&stream));
  HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  HIP(hipMemcpyAsync(x, values.data(), n * sizeof(float), hipMemcpyHostToDevice, stream));
  for (int i = 0; i < 3; i++) step<<<2, 256, 0, stream>>>(x, n);
  HIP(hipMemcpyAsync(found.data(), x, n * sizeof(float), hipMemcpyDeviceToHost, stream));
  hipGraph_t graph;
  HIP(hipStreamEndCapture(stream, &graph));
  size_t count = 0;
  HIP(hipGraphGetNodes(graph, nullptr, &count));
  EXPECT(count == 5);
  hipGraphExec_t executable;
  HIP(hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0));
  for (float start : {0.0f, 10.0f}) {
    for (int i = 0; i < n; i++) values[i] = start + i;
    HIP(hipGraphLaunch(executable, stream));
    HIP(hipStreamSynchronize(stream));
    for (int i = 0; i < n; i++) EXPECT(found[i] == 8 * (start + i) + 7);
  }
  HIP(hipGraphExecDestroy(executable));
  HIP(hipGraphDestroy(graph));
  HIP(hipStreamDestroy(stream));
  HIP(hipFree(x));
  return passed();
}
