// Fourier transforms of 256 points: radix 2 in LDS, one block each, and the way back.
#include "program.h"

#include <complex>

constexpr int N = 256;
__global__ void transform(float2 *data, const float2 *roots, int direction) {
  __shared__ float2 x[N];
  float2 *mine = data + blockIdx.x * N;
  for (int i = threadIdx.x; i < N; i += N / 2) x[__brev(static_cast<unsigned>(i)) >> 24] = mine[i];
  for (int half = 1; half < N; half *= 2) {
    __syncthreads();
    int j = threadIdx.x % half, low = (threadIdx.x - j) * 2 + j, high = low + half;
    float2 w = roots[j * (N / 2 / half)], a = x[low], b = x[high];
    w.y *= direction;
    float2 p = make_float2(b.x * w.x - b.y * w.y, b.x * w.y + b.y * w.x);
    x[low] = make_float2(a.x + p.x, a.y + p.y);
    x[high] = make_float2(a.x - p.x, a.y - p.y);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < N; i += N / 2) mine[i] = x[i];
}

int main() {
  constexpr int COUNT = 3;
  std::vector<float> values = random_floats(2 * N * COUNT, -1, 1);
  std::vector<std::complex<float>> signal, roots;
  for (int i = 0; i < N * COUNT; i++) signal.emplace_back(values[2 * i], values[2 * i + 1]);
  for (int i = 0; i < N / 2; i++) roots.push_back(std::polar(1.0f, static_cast<float>(-2 * M_PI * i / N)));
  auto *x = on_device(signal), *r = on_device(roots);
  auto pairs = [](auto *pointer) { return reinterpret_cast<float2 *>(pointer); };
  transform<<<COUNT, N / 2>>>(pairs(x), pairs(r), 1);
  auto found = on_host(x, signal.size());
  for (int k : {0, 1, 77, 200}) {
    std::complex<double> sum;
    for (int i = 0; i < N; i++) sum += std::complex<double>(signal[i]) * std::polar(1.0, -2 * M_PI * i * k / N);
    EXPECT(std::abs(std::complex<double>(found[k]) - sum) < 1e-3);
  }
  transform<<<COUNT, N / 2>>>(pairs(x), pairs(r), -1);
  found = on_host(x, signal.size());
  for (size_t i = 0; i < signal.size(); i++)
    EXPECT(std::abs(found[i] / static_cast<float>(N) - signal[i]) < 1e-4);
  HIP(hipFree(x));
  HIP(hipFree(r));
  return passed();
}
