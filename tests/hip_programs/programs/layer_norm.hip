// Layer norm, then softmax, of rows: a block for each row, sums through shuffles and LDS.
#include "program.h"

constexpr int BLOCK = 128;
template <class F> __device__ float reduced(float value, F combine, float *scratch) {
  for (int distance = warpSize / 2; distance; distance /= 2) value = combine(value, __shfl_xor(value, distance));
  __syncthreads();
  if (threadIdx.x % warpSize == 0) scratch[threadIdx.x / warpSize] = value;
  __syncthreads();
  value = scratch[0];
  for (int i = 1; i < BLOCK / warpSize; i++) value = combine(value, scratch[i]);
  return value;
}
__global__ void normalise(const float *in, const float *weights, float *norm, float *soft, int columns) {
  __shared__ float scratch[BLOCK / 32];
  auto add = [](float a, float b) { return a + b; };
  auto most = [](float a, float b) { return fmaxf(a, b); };
  const float *row = in + blockIdx.x * columns;
  float sum = 0, squares = 0, top = -1e30f, total = 0;
  for (int i = threadIdx.x; i < columns; i += BLOCK) sum += row[i];
  float mean = reduced(sum, add, scratch) / columns;
  for (int i = threadIdx.x; i < columns; i += BLOCK) squares += (row[i] - mean) * (row[i] - mean);
  float factor = 1 / __builtin_sqrtf(reduced(squares, add, scratch) / columns + 1e-5f);
  for (int i = threadIdx.x; i < columns; i += BLOCK) {
    float value = norm[blockIdx.x * columns + i] = (row[i] - mean) * factor * weights[i];
    top = fmaxf(top, value);
  }
  top = reduced(top, most, scratch);
  for (int i = threadIdx.x; i < columns; i += BLOCK) total += __builtin_expf(norm[blockIdx.x * columns + i] - top);
  total = reduced(total, add, scratch);
  for (int i = threadIdx.x; i < columns; i += BLOCK)
    soft[blockIdx.x * columns + i] = __builtin_expf(norm[blockIdx.x * columns + i] - top) / total;
}

int main() {
  constexpr int ROWS = 5, COLUMNS = 300;
  std::vector<float> in = random_floats(ROWS * COLUMNS, -3, 7), weights = random_floats(COLUMNS), norm, soft;
  float *x = on_device(in), *w = on_device(weights), *n = on_device(in), *s = on_device(in);
  normalise<<<ROWS, BLOCK>>>(x, w, n, s, COLUMNS);
  for (int row = 0; row < ROWS; row++) {
    double mean = 0, squares = 0, total = 0;
    for (int i = 0; i < COLUMNS; i++) mean += in[row * COLUMNS + i] / COLUMNS;
    for (int i = 0; i < COLUMNS; i++) squares += std::pow(in[row * COLUMNS + i] - mean, 2) / COLUMNS;
    for (int i = 0; i < COLUMNS; i++) {
      norm.push_back((in[row * COLUMNS + i] - mean) / std::sqrt(squares + 1e-5) * weights[i]);
      total += std::exp(norm.back());
    }
    for (int i = 0; i < COLUMNS; i++) soft.push_back(std::exp(norm[row * COLUMNS + i]) / total);
  }
  expect_close(on_host(n, in.size()), norm);
  expect_close(on_host(s, in.size()), soft);
  for (auto *each : {x, w, n, s}) HIP(hipFree(each));
  return passed();
}
