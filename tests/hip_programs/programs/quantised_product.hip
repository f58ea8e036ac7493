// A product of quantised matrices: blocks of 32 weights of four bits with a scale, bytes on the other side.
#include "program.h"

constexpr int M = 12, N = 24, K = 128, GROUP = 32;
struct Weights { _Float16 scale; unsigned char pairs[GROUP / 2]; };  // Q4_0
struct Values { float scale; signed char values[GROUP]; };           // Q8
__host__ __device__ inline int weight(const Weights &w, int i) {
  return (i < GROUP / 2 ? w.pairs[i] & 15 : w.pairs[i - GROUP / 2] >> 4) - 8;
}
__global__ void quantise(const float *in, Values *out) {
  int lane = threadIdx.x;
  float value = in[blockIdx.x * GROUP + lane], most = fabsf(value);
  for (int distance = GROUP / 2; distance; distance /= 2) most = fmaxf(most, __shfl_xor(most, distance, GROUP));
  float scale = most / 127;
  out[blockIdx.x].values[lane] = scale ? static_cast<signed char>(__builtin_rintf(value / scale)) : 0;
  if (lane == 0) out[blockIdx.x].scale = scale;
}
__global__ void product(const Weights *a, const Values *b, float *c) {
  int row = blockIdx.x, column = threadIdx.x;
  float sum = 0;
  for (int g = 0; g < K / GROUP; g++) {
    const Weights &w = a[row * (K / GROUP) + g];
    const Values &v = b[column * (K / GROUP) + g];
    int dot = 0;
    for (int i = 0; i < GROUP; i++) dot += weight(w, i) * v.values[i];
    sum += float(w.scale) * v.scale * dot;
  }
  c[row * N + column] = sum;
}

int main() {
  std::vector<unsigned> numbers = random_numbers(M * K, 255);
  std::vector<Weights> a(M * K / GROUP);
  for (size_t i = 0; i < a.size(); i++) {
    a[i].scale = _Float16(0.01f * (1 + numbers[i] % 7));
    for (int j = 0; j < GROUP / 2; j++) a[i].pairs[j] = numbers[i * GROUP / 2 + j];
  }
  std::vector<float> in = random_floats(N * K, -2, 2), wanted(M * N);
  Values *b;
  HIP(hipMalloc(&b, N * K / GROUP * sizeof(Values)));
  Weights *w = on_device(a);
  float *x = on_device(in), *c = on_device(wanted);
  quantise<<<N * K / GROUP, GROUP>>>(x, b);
  product<<<M, N>>>(w, b, c);
  for (int row = 0; row < M; row++)
    for (int column = 0; column < N; column++)
      for (int k = 0; k < K; k++) {
        const Weights &block = a[(row * K + k) / GROUP];
        wanted[row * N + column] += float(block.scale) * weight(block, k % GROUP) * in[column * K + k];
      }
  expect_close(on_host(c, M * N), wanted, 0.02);  // what eight bits lose
  HIP(hipFree(b)); HIP(hipFree(w)); HIP(hipFree(x)); HIP(hipFree(c));
  return passed();
}
