#include "program.h"

__global__ void add(const float *a, const float *b, float *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

int main() {
  int n = 1000;
  std::vector<float> a(n), b(n);
  for (int i = 0; i < n; i++) a[i] = i, b[i] = 2 * i;
  float *x = on_device(a), *y = on_device(b), *z = on_device(a);
  add<<<(n + 255) / 256, 256>>>(x, y, z, n);
  HIP(hipGetLastError());
  HIP(hipDeviceSynchronize());
  std::vector<float> c = on_host(z, n);
  for (int i = 0; i < n; i++) EXPECT(c[i] == 3 * i);
  HIP(hipFree(x));
  HIP(hipFree(y));
  HIP(hipFree(z));
  return passed();
}
