// Votes of a wave and of a workgroup, and arithmetic that HIP's headers take from the device library.
#include "program.h"

__global__ void votes(int *out, float *roots) {
  int i = threadIdx.x;
  int count = __syncthreads_count(i % 3 == 0), all = __syncthreads_and(i < 100), any = __syncthreads_or(i == 77);
  bool in_wave = __any(i >= 0) && !__all(i < 0);
  if (i == 0) {
    out[0] = count;
    out[1] = all;
    out[2] = any;
    out[3] = __mulhi(1 << 30, 12);
    out[4] = __umulhi(3u << 30, 8);
    out[5] = __mul24(-3, 7);
    out[6] = __umul24(0x1000002, 5);
    out[7] = in_wave;
  }
  roots[i] = rsqrtf(i + 1);
}

int main() {
  int *out = on_device(std::vector<int>(8, 0));
  float *roots = on_device(std::vector<float>(100, 0));
  votes<<<1, 100>>>(out, roots);
  EXPECT(on_host(out, 8) == (std::vector<int>{34, 1, 1, 3, 6, -21, 10, 1}));
  EXPECT(is_close(on_host(roots, 100)[99], 0.1, 1e-6));
  HIP(hipFree(out));
  HIP(hipFree(roots));
  return passed();
}
