// All shortest paths (Floyd and Warshall), one launch for each vertex.
#include "program.h"

__global__ void relax(int *distances, int n, int k) {
  int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n || j >= n || i == k || j == k) return;
  int through = distances[i * n + k] + distances[k * n + j];
  if (through < distances[i * n + j]) distances[i * n + j] = through;
}

int main() {
  constexpr int N = 36;
  std::vector<int> distances;
  for (unsigned value : random_numbers(N * N, 999)) distances.push_back(value);
  for (int i = 0; i < N; i++) distances[i * N + i] = 0;
  int *d = on_device(distances);
  for (int k = 0; k < N; k++) {
    relax<<<dim3(3, 3), dim3(16, 16)>>>(d, N, k);
    for (int i = 0; i < N * N; i++)
      distances[i] = std::min(distances[i], distances[i / N * N + k] + distances[k * N + i % N]);
  }
  EXPECT(on_host(d, N * N) == distances);
  HIP(hipFree(d));
  return passed();
}
