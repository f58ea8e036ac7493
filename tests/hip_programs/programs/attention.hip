// Attention with a running maximum and sum ("flash"): a block for each query, tiles of keys, half precision.
#include "program.h"

constexpr int N = 48, D = 32;
__global__ void attend(const _Float16 *q, const _Float16 *k, const _Float16 *v, float *out, float scale) {
  __shared__ float scores[D];
  int query = blockIdx.x, d = threadIdx.x;
  float most = -1e30f, sum = 0, result = 0;
  for (int start = 0; start <= query; start += D) {  // causal
    int key = start + d;
    float score = -1e30f;
    if (key <= query) {
      score = 0;
      for (int i = 0; i < D; i++) score += float(q[query * D + i]) * float(k[key * D + i]);
      score *= scale;
    }
    __syncthreads();
    scores[d] = score;
    __syncthreads();
    float before = most;
    for (int i = 0; i < D; i++) most = fmaxf(most, scores[i]);
    float shrink = __builtin_expf(before - most);
    sum *= shrink;
    result *= shrink;
    for (int i = 0; i < D && start + i <= query; i++) {
      float weight = __builtin_expf(scores[i] - most);
      sum += weight;
      result += weight * float(v[(start + i) * D + d]);
    }
  }
  out[query * D + d] = result / sum;
}

int main() {
  std::vector<_Float16> x[3];
  _Float16 *d[3];
  for (int i = 0; i < 3; i++) {
    for (float value : random_floats(N * D, -1, 1, i)) x[i].push_back(_Float16(value));
    d[i] = on_device(x[i]);
  }
  std::vector<float> wanted(N * D);
  float *out = on_device(wanted), scale = 1 / std::sqrt(float(D));
  attend<<<N, D>>>(d[0], d[1], d[2], out, scale);
  for (int row = 0; row < N; row++) {
    std::vector<double> weights;
    double sum = 0;
    for (int key = 0; key <= row; key++) {
      double score = 0;
      for (int i = 0; i < D; i++) score += double(x[0][row * D + i]) * double(x[1][key * D + i]);
      weights.push_back(std::exp(score * scale));
      sum += weights.back();
    }
    for (int key = 0; key <= row; key++)
      for (int i = 0; i < D; i++) wanted[row * D + i] += weights[key] / sum * double(x[2][key * D + i]);
  }
  expect_close(on_host(out, N * D), wanted);
  HIP(hipFree(d[0])); HIP(hipFree(d[1])); HIP(hipFree(d[2])); HIP(hipFree(out));
  return passed();
}
