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
inline int passed() {
  printf("PASS\n");
  return 0;
}
