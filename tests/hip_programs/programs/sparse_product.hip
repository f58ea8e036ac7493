// A sparse matrix by a vector: one wave for each row, shuffles for the sum.
#include "program.h"

__global__ void product(const int *starts, const int *columns, const float *values, const float *x, float *y, int rows) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / warpSize, lane = threadIdx.x % warpSize;
  if (row >= rows) return;
  float sum = 0;
  for (int i = starts[row] + lane; i < starts[row + 1]; i += warpSize) sum += values[i] * x[columns[i]];
  for (int distance = warpSize / 2; distance; distance /= 2) sum += __shfl_down(sum, distance);
  if (lane == 0) y[row] = sum;
}

int main() {
  constexpr int ROWS = 50, COLUMNS = 120;
  std::vector<int> starts{0}, columns;
  std::vector<unsigned> lengths = random_numbers(ROWS, 90), places = random_numbers(ROWS * 90, COLUMNS - 1, 3);
  for (unsigned length : lengths) {
    for (unsigned i = 0; i < length; i++) columns.push_back(places[columns.size()]);
    starts.push_back(columns.size());
  }
  std::vector<float> values = random_floats(columns.size(), -1, 1), x = random_floats(COLUMNS), wanted(ROWS);
  for (int row = 0; row < ROWS; row++)
    for (int i = starts[row]; i < starts[row + 1]; i++) wanted[row] += values[i] * x[columns[i]];
  int *s = on_device(starts), *c = on_device(columns);
  float *v = on_device(values), *xs = on_device(x), *y = on_device(wanted);
  product<<<(ROWS * warpSize + 127) / 128, 128>>>(s, c, v, xs, y, ROWS);
  expect_close(on_host(y, ROWS), wanted);
  HIP(hipFree(s)); HIP(hipFree(c)); HIP(hipFree(v)); HIP(hipFree(xs)); HIP(hipFree(y));
  return passed();
}
