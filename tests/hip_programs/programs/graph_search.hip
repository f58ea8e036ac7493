// Breadth-first search by frontiers, and connected components by labels, of a graph in CSR form.
#include "program.h"

#include <numeric>

__global__ void expand(const int *starts, const int *edges, const int *frontier, int size, int *next, int *next_size,
                       int *depths, int depth) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= size) return;
  for (int e = starts[frontier[i]]; e < starts[frontier[i] + 1]; e++)
    if (atomicCAS(&depths[edges[e]], -1, depth) == -1) next[atomicAdd(next_size, 1)] = edges[e];
}
__global__ void spread(const int *starts, const int *edges, int *labels, int *changed, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int label = atomicAdd(&labels[i], 0);
  for (int e = starts[i]; e < starts[i + 1]; e++)
    if (atomicMin(&labels[edges[e]], label) > label) atomicExch(changed, 1);
}

int main() {
  constexpr int N = 300;
  std::vector<std::vector<int>> graph(N);
  std::vector<unsigned> ends = random_numbers(2 * N, N - 1);
  for (int i = 0; i < N; i++) {
    graph[ends[2 * i]].push_back(ends[2 * i + 1]);
    graph[ends[2 * i + 1]].push_back(ends[2 * i]);
  }
  std::vector<int> starts{0}, edges, depths(N, -1), labels(N), frontier{0}, wanted(N, -1), zero(1);
  for (auto &each : graph) {
    edges.insert(edges.end(), each.begin(), each.end());
    starts.push_back(edges.size());
  }
  depths[0] = wanted[0] = 0;
  std::iota(labels.begin(), labels.end(), 0);
  int *s = on_device(starts), *e = on_device(edges), *d = on_device(depths), *l = on_device(labels);
  int *from, *to, *size = on_device(zero);
  HIP(hipMalloc(&from, N * sizeof(int)));
  HIP(hipMalloc(&to, N * sizeof(int)));
  HIP(hipMemcpy(from, frontier.data(), sizeof(int), hipMemcpyHostToDevice));
  for (int count = 1, depth = 1; count; depth++) {
    HIP(hipMemset(size, 0, sizeof(int)));
    expand<<<(count + 63) / 64, 64>>>(s, e, from, count, to, size, d, depth);
    HIP(hipMemcpy(&count, size, sizeof(int), hipMemcpyDeviceToHost));
    std::swap(from, to);
  }
  for (size_t i = 0; i < frontier.size(); i++)
    for (int other : graph[frontier[i]])
      if (wanted[other] < 0) {
        wanted[other] = wanted[frontier[i]] + 1;
        frontier.push_back(other);
      }
  EXPECT(on_host(d, N) == wanted);
  for (int changed = 1; changed;) {
    HIP(hipMemset(size, 0, sizeof(int)));
    spread<<<(N + 63) / 64, 64>>>(s, e, l, size, N);
    HIP(hipMemcpy(&changed, size, sizeof(int), hipMemcpyDeviceToHost));
  }
  labels = on_host(l, N);
  for (int i = 0; i < N; i++) {
    EXPECT((labels[i] == labels[0]) == (wanted[i] >= 0));
    for (int other : graph[i]) EXPECT(labels[other] == labels[i]);
  }
  for (auto *each : {s, e, d, l, from, to, size}) HIP(hipFree(each));
  return passed();
}
