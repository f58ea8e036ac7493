// Memory of the program that kernels access: it is registered, used in place, and given back.
#include "program.h"

__global__ void add(int *x, const int *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += y[i];
}

int main() {
  constexpr int COUNT = 1000;
  std::vector<int> x(COUNT, 1), y(COUNT, 2);
  for (auto *each : {&x, &y}) HIP(hipHostRegister(each->data(), COUNT * sizeof(int), hipHostRegisterMapped));
  EXPECT_CODE(hipHostRegister(&x[5], 4, 0), hipErrorHostMemoryAlreadyRegistered);
  EXPECT_CODE(hipHostRegister(nullptr, 4, 0), hipErrorInvalidValue);
  int *there = nullptr, *other = nullptr;
  HIP(hipHostGetDevicePointer(reinterpret_cast<void **>(&there), x.data(), 0));
  HIP(hipHostGetDevicePointer(reinterpret_cast<void **>(&other), y.data(), 0));
  for (int round = 1; round < 4; round++) {
    add<<<(COUNT + 63) / 64, 64>>>(there, other, COUNT);
    HIP(hipDeviceSynchronize());
    EXPECT(x == std::vector<int>(COUNT, 1 + 2 * round));
  }
  int *device = on_device(x);
  HIP(hipMemcpyAsync(y.data(), device, COUNT * sizeof(int), hipMemcpyDeviceToHost, nullptr));
  HIP(hipDeviceSynchronize());
  EXPECT(x == y);
  EXPECT_CODE(hipHostFree(x.data()), hipErrorInvalidValue);
  for (auto *each : {&x, &y}) HIP(hipHostUnregister(each->data()));
  EXPECT_CODE(hipHostUnregister(x.data()), hipErrorHostMemoryNotRegistered);
  EXPECT_CODE(hipHostGetDevicePointer(reinterpret_cast<void **>(&there), x.data(), 0), hipErrorInvalidValue);
  HIP(hipFree(device));
  return passed();
}
