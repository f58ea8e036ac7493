// Alignment of two sequences (Needleman and Wunsch): diagonals of a table in LDS, and in launches.
#include "program.h"

constexpr int N = 64, GAP = -2;
__host__ __device__ inline int score(char a, char b) { return a == b ? 3 : -1; }
__global__ void align(const char *a, const char *b, int *result) {
  __shared__ int rows[3][N + 1];
  int i = threadIdx.x;  // of N + 1 work-items
  for (int d = 0; d <= 2 * N; d++) {
    int *now = rows[d % 3], *last = rows[(d + 2) % 3], *before = rows[(d + 1) % 3], j = d - i;
    if (j >= 0 && j <= N) {
      int value = i && j ? max(before[i - 1] + score(a[i - 1], b[j - 1]), max(last[i - 1], last[i]) + GAP) : GAP * (i + j);
      now[i] = value;
      if (i == N && j == N) *result = value;
    }
    __syncthreads();
  }
}

int main() {
  std::vector<char> a, b;
  for (unsigned value : random_numbers(N, 3, 1)) a.push_back("ACGT"[value]);
  for (unsigned value : random_numbers(N, 3, 2)) b.push_back("ACGT"[value]);
  std::vector<int> table((N + 1) * (N + 1)), zero(1);
  char *x = on_device(a), *y = on_device(b);
  int *result = on_device(zero);
  align<<<1, N + 1>>>(x, y, result);
  for (int i = 0; i <= N; i++)
    for (int j = 0; j <= N; j++) {
      auto at = [&](int r, int c) -> int & { return table[r * (N + 1) + c]; };
      at(i, j) = !i || !j ? GAP * (i + j)
                          : std::max(at(i - 1, j - 1) + score(a[i - 1], b[j - 1]),
                                     std::max(at(i - 1, j), at(i, j - 1)) + GAP);
    }
  EXPECT(on_host(result, 1)[0] == table.back());
  HIP(hipFree(x)); HIP(hipFree(y)); HIP(hipFree(result));
  return passed();
}
