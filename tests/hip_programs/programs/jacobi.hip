// Jacobi's method on managed memory, whose error the host reads between launches.
#include "program.h"

__global__ void step(const float *matrix, const float *right, const float *from, float *to, unsigned *error, int n) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n) return;
  float sum = right[row];
  for (int i = 0; i < n; i++)
    if (i != row) sum -= matrix[row * n + i] * from[i];
  to[row] = sum / matrix[row * n + row];
  atomicMax(error, __float_as_uint(fabsf(to[row] - from[row])));
}

int main() {
  constexpr int N = 60;
  float *matrix, *right, *from, *to;
  unsigned *error;
  HIP(hipMallocManaged(&matrix, N * N * sizeof(float)));
  for (float **each : {&right, &from, &to}) HIP(hipMallocManaged(each, N * sizeof(float)));
  HIP(hipMallocManaged(&error, sizeof(unsigned)));
  std::vector<float> numbers = random_floats(N * N, -1, 1);
  for (int i = 0; i < N * N; i++) matrix[i] = i % (N + 1) ? numbers[i] : N;
  for (int i = 0; i < N; i++) right[i] = i % 7 - 3, from[i] = 0;
  int rounds = 0;
  do {
    *error = 0;
    step<<<2, 32>>>(matrix, right, from, to, error, N);
    HIP(hipDeviceSynchronize());
    std::swap(from, to);
  } while (*error > 0x358637bdu /* 1e-6 */ && ++rounds < 60);
  EXPECT(rounds > 2 && rounds < 60);
  for (int row = 0; row < N; row++) {
    double sum = 0;
    for (int i = 0; i < N; i++) sum += double(matrix[row * N + i]) * from[i];
    EXPECT(is_close(sum, right[row]));
  }
  for (float *each : {matrix, right, from, to}) HIP(hipFree(each));
  HIP(hipFree(error));
  return passed();
}
