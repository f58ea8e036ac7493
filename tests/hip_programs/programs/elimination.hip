// Linear equations: Gauss with pivots in one block, in double, many systems at once.
#include "program.h"

constexpr int N = 16, WIDTH = N + 1;
__global__ void solve(double *systems) {
  __shared__ double a[N][WIDTH];
  __shared__ int pivot;
  double *mine = systems + blockIdx.x * N * WIDTH;
  int column = threadIdx.x, row = threadIdx.y;
  for (int i = row; i < N; i += blockDim.y)
    if (column < WIDTH) a[i][column] = mine[i * WIDTH + column];
  for (int k = 0; k < N; k++) {
    __syncthreads();
    if (column == 0 && row == 0) {
      pivot = k;
      for (int i = k + 1; i < N; i++)
        if (fabs(a[i][k]) > fabs(a[pivot][k])) pivot = i;
    }
    __syncthreads();
    if (row == 0 && column < WIDTH) {
      double held = a[k][column];
      a[k][column] = a[pivot][column];
      a[pivot][column] = held;
    }
    __syncthreads();
    for (int i = row; i < N; i += blockDim.y)
      if (i != k && column > k && column < WIDTH) a[i][column] -= a[i][k] / a[k][k] * a[k][column];
  }
  __syncthreads();
  if (column == 0)
    for (int i = row; i < N; i += blockDim.y) mine[i] = a[i][N] / a[i][i];
}

int main() {
  constexpr int COUNT = 3;
  std::vector<float> numbers = random_floats(COUNT * N * WIDTH, -1, 1);
  std::vector<double> systems(numbers.begin(), numbers.end());
  double *d = on_device(systems);
  solve<<<COUNT, dim3(32, 4)>>>(d);
  std::vector<double> found = on_host(d, systems.size());
  for (int s = 0; s < COUNT; s++)
    for (int i = 0; i < N; i++) {
      double sum = 0;
      for (int j = 0; j < N; j++) sum += systems[(s * N + i) * WIDTH + j] * found[s * N * WIDTH + j];
      EXPECT(is_close(sum, systems[(s * N + i) * WIDTH + N], 1e-9));
    }
  HIP(hipFree(d));
  return passed();
}
