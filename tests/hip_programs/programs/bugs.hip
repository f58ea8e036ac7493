// One mistake of each kind, chosen by the first argument; it is in the line that says so.
#include "program.h"

#include <string>

constexpr int BLOCK = 64;

__global__ void out_of_bounds(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) x[i] = i;  // BUG out-of-bounds
}
__global__ void race(const int *in, int *out) {
  __shared__ int tile[2 * BLOCK];
  tile[threadIdx.x] = in[threadIdx.x];
  out[threadIdx.x] = tile[(threadIdx.x + 40) % (2 * BLOCK)];  // BUG race
}
__global__ void uninitialised(const int *in, int *out) {
  out[threadIdx.x] = in[threadIdx.x] > 3 ? 1 : 2;  // BUG init
}
__global__ void divergent_barrier(int *x) {
  if (threadIdx.x < 32) __syncthreads();  // BUG sync
  x[threadIdx.x] = 1;
  if (threadIdx.x >= 32) return;
  __syncthreads();
}
__global__ void touch(int *x) {
  x[threadIdx.x] += 1;  // BUG use-after-free
}

int main(int, char **arguments) {
  std::string bug = arguments[1];
  int *x, *y;
  HIP(hipMalloc(&x, 2 * BLOCK * sizeof(int)));  // BUG leak
  HIP(hipMalloc(&y, 2 * BLOCK * sizeof(int)));
  if (bug != "init") HIP(hipMemset(x, 0, 2 * BLOCK * sizeof(int)));
  if (bug == "out-of-bounds") out_of_bounds<<<3, BLOCK>>>(reinterpret_cast<float *>(x), 2 * BLOCK);
  if (bug == "race") race<<<1, 2 * BLOCK>>>(x, y);
  if (bug == "init") uninitialised<<<1, BLOCK>>>(x, y);
  if (bug == "sync") divergent_barrier<<<1, BLOCK>>>(x);
  if (bug == "use-after-free") {
    HIP(hipFree(x));
    touch<<<1, BLOCK>>>(x);
  }
  hipError_t code = hipDeviceSynchronize();
  if (code != hipSuccess) return printf("%s\n", hipGetErrorName(code)), 1;
  if (bug != "leak" && bug != "use-after-free") HIP(hipFree(x));
  HIP(hipFree(y));
  return passed();
}
