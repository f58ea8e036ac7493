// Prices of options by Black and Scholes, in float and in double.
#include "program.h"

template <class T> __host__ __device__ inline T below(T d) {  // the normal distribution (Abramowitz 26.2.17)
  T k = 1 / (1 + T(0.2316419) * (d < 0 ? -d : d));
  T sum = k * (T(0.31938153) + k * (T(-0.356563782) + k * (T(1.781477937) + k * (T(-1.821255978) + k * T(1.330274429)))));
  T tail = T(0.39894228) * T(__builtin_expf(float(-d * d / 2))) * sum;
  return d > 0 ? 1 - tail : tail;
}
template <class T> __host__ __device__ inline T price(T stock, T strike, T years) {
  T root = T(__builtin_sqrtf(float(years))), rate = T(0.02), deviation = T(0.3);
  T d = (T(__builtin_logf(float(stock / strike))) + (rate + deviation * deviation / 2) * years) / (deviation * root);
  return stock * below(d) - strike * T(__builtin_expf(float(-rate * years))) * below(d - deviation * root);
}
template <class T> __global__ void prices(const T *stock, const T *strike, const T *years, T *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = price(stock[i], strike[i], years[i]);
}
template <class T> void check(double tolerance) {
  constexpr int COUNT = 200;
  auto numbers = [](float low, float high, unsigned seed) {
    std::vector<float> made = random_floats(COUNT, low, high, seed);
    return std::vector<T>(made.begin(), made.end());
  };
  std::vector<T> stock = numbers(5, 30, 1), strike = numbers(1, 100, 2), years = numbers(0.25f, 10, 3), wanted;
  for (int i = 0; i < COUNT; i++) wanted.push_back(price(stock[i], strike[i], years[i]));
  T *s = on_device(stock), *k = on_device(strike), *y = on_device(years), *out = on_device(wanted);
  HIP(hipMemset(out, 0, COUNT * sizeof(T)));
  prices<<<2, 128>>>(s, k, y, out, COUNT);
  expect_close(on_host(out, COUNT), wanted, tolerance);
  for (T *each : {s, k, y, out}) HIP(hipFree(each));
}

int main() {
  check<float>(1e-4);
  check<double>(1e-5);
  return passed();
}
