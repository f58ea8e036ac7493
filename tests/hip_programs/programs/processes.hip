// A child process that uses HIP, before its parent has or after; or a kernel that does not end.
#include "program.h"

#include <sys/wait.h>
#include <unistd.h>

#include <string>

__global__ void fill(int *x) { x[threadIdx.x] = 1; }
__global__ void spin(int *x) {
  while (__hip_atomic_load(x, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT) != 5) {}
}
static void use(bool is_forever) {
  int *x = on_device(std::vector<int>(64));
  if (is_forever) spin<<<1, 64>>>(x);
  else fill<<<1, 64>>>(x);
  EXPECT(on_host(x, 64) == std::vector<int>(64, 1));
  HIP(hipFree(x));
}

int main(int, char **arguments) {
  std::string what = arguments[1];
  if (what == "forever") {
    printf("starts\n");
    fflush(stdout);
    use(true);
  }
  if (what == "after") use(false);
  pid_t child = fork();
  if (child == 0) {
    int *x = nullptr;
    hipError_t code = hipMalloc(&x, 64);
    printf("child: %s\n", hipGetErrorName(code));
    fflush(stdout);
    if (code != hipSuccess) _exit(0);
    HIP(hipFree(x));
    use(false);
    exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT(status == 0);
  use(false);
  return passed();
}
