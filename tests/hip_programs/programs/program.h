// What the programs share: checks of results and of HIP's codes. A program that ends well prints PASS.
#pragma once
#include <hip/hip_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define EXPECT(condition)                                                        \
  do {                                                                           \
    if (!(condition)) {                                                          \
      printf("FAIL at %s:%d: %s\n", __FILE__, __LINE__, #condition);             \
      exit(1);                                                                   \
    }                                                                            \
  } while (0)
#define EXPECT_CODE(call, wanted)                                                \
  do {                                                                           \
    hipError_t code = (call);                                                    \
    if (code != (wanted)) {                                                      \
      printf("FAIL at %s:%d: %s gives %s\n", __FILE__, __LINE__, #call, hipGetErrorName(code)); \
      exit(1);                                                                   \
    }                                                                            \
  } while (0)
#define HIP(call) EXPECT_CODE(call, hipSuccess)

template <class T> T *on_device(const std::vector<T> &values) {
  T *pointer = nullptr;
  HIP(hipMalloc(&pointer, values.size() * sizeof(T)));
  HIP(hipMemcpy(pointer, values.data(), values.size() * sizeof(T), hipMemcpyHostToDevice));
  return pointer;
}
template <class T> std::vector<T> on_host(const T *pointer, size_t count) {
  std::vector<T> values(count);
  HIP(hipMemcpy(values.data(), pointer, count * sizeof(T), hipMemcpyDeviceToHost));
  return values;
}
// The same numbers every time: of the range 0 to `most`, which it may reach.
inline std::vector<unsigned> random_numbers(size_t count, unsigned most, unsigned seed = 26) {
  std::vector<unsigned> values(count);
  for (unsigned &value : values) {
    seed = seed * 1664525u + 1013904223u;
    value = static_cast<unsigned>((static_cast<unsigned long long>(seed) * (most + 1ull)) >> 32);
  }
  return values;
}
inline std::vector<float> random_floats(size_t count, float low = 0, float high = 1, unsigned seed = 26) {
  std::vector<float> values;
  for (unsigned value : random_numbers(count, 1 << 20, seed))
    values.push_back(low + (high - low) * value / (1 << 20));
  return values;
}
inline bool is_close(double found, double wanted, double tolerance = 1e-4) {
  return std::fabs(found - wanted) <= tolerance * (1 + std::fabs(wanted));
}
template <class T> void expect_close(const std::vector<T> &found, const std::vector<T> &wanted, double tolerance = 1e-4) {
  EXPECT(found.size() == wanted.size());
  for (size_t i = 0; i < found.size(); i++) EXPECT(is_close(found[i], wanted[i], tolerance));
}
inline int passed() {
  printf("PASS\n");
  return 0;
}
