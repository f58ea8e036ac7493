// What needs ROCm's device library: printf, malloc, assert and a barrier of the grid.
#include "program.h"

#include <cassert>

__global__ void speak(int n) {
  if (threadIdx.x == 0) printf("block %d of %d says %s %.2f\n", int(blockIdx.x), n, "hello", 1.5 + int(blockIdx.x));
}
__global__ void list(int *out, int n) {
  struct Node {
    int value;
    Node *next;
  } *head = nullptr;
  for (int i = 0; i <= threadIdx.x; i++) {
    Node *node = static_cast<Node *>(malloc(sizeof(Node)));
    *node = {i, head};
    head = node;
  }
  int sum = 0;
  while (head) {
    sum += head->value;
    Node *next = head->next;
    free(head);
    head = next;
  }
  out[threadIdx.x] = sum;
}
extern "C" __device__ void __ockl_grid_sync();
__global__ void neighbours(int *x, int *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] = i * i;
  __threadfence();
  __ockl_grid_sync();
  __threadfence();
  y[i] = x[(i + 70) % n];
}
__global__ void limited(int n) {
  assert(threadIdx.x < n);  // BUG assert
}

int main(int count, char **) {
  printf("the host speaks first\n");
  speak<<<2, 64>>>(2);
  HIP(hipDeviceSynchronize());
  printf("then the host again\n");
  int n = 256, *x, *y;
  HIP(hipMalloc(&x, n * sizeof(int)));
  HIP(hipMalloc(&y, n * sizeof(int)));
  list<<<1, 16>>>(x, n);
  std::vector<int> sums = on_host(x, 16);
  for (int i = 0; i < 16; i++) EXPECT(sums[i] == i * (i + 1) / 2);
  void *arguments[] = {&x, &y, &n};
  HIP(hipLaunchCooperativeKernel(reinterpret_cast<void *>(neighbours), dim3(4), dim3(64), arguments, 0, 0));
  std::vector<int> found = on_host(y, n);
  for (int i = 0; i < n; i++) EXPECT(found[i] == (i + 70) % n * ((i + 70) % n));
  EXPECT_CODE(hipLaunchCooperativeKernel(reinterpret_cast<void *>(neighbours), dim3(100000), dim3(64), arguments, 0, 0),
              hipErrorCooperativeLaunchTooLarge);
  HIP(hipFree(x));
  HIP(hipFree(y));
  if (count > 1) {
    limited<<<1, 32>>>(20);
    HIP(hipDeviceSynchronize());
  }
  return passed();
}
