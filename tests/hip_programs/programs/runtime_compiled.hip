// Kernels that are compiled while the program runs: templates by their names, headers, options, mistakes.
#include "program.h"
#include <hip/hiprtc.h>

#include <string>

#define RTC(call) EXPECT((call) == HIPRTC_SUCCESS)

static const char *SOURCE = R"(
#include "scale.h"
template <class T> __global__ void scale(T *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = scaled(x[i]) + y;
}
extern "C" __global__ void sum(const int *x, int *total, int n) {
  __shared__ int part[64];
  part[threadIdx.x] = threadIdx.x < n ? x[threadIdx.x] : 0;
  __syncthreads();
  if (threadIdx.x) return;
  int all = 0;
  for (int i = 0; i < 64; i++) all += part[i];
  atomicAdd(total, all);
}
__device__ int factor = 3;
)";

static std::string log_of(hiprtcProgram program) {
  size_t length = 0;
  RTC(hiprtcGetProgramLogSize(program, &length));
  std::string text(length, ' ');
  RTC(hiprtcGetProgramLog(program, &text[0]));
  EXPECT(length && !text[length - 1]);
  return text;
}

int main(int count_of_arguments, char **) {
  int major, minor;
  RTC(hiprtcVersion(&major, &minor));
  hiprtcProgram program;
  const char *header = "template <class T> __device__ T scaled(T x) { return x * 2; }", *name = "scale.h";
  RTC(hiprtcCreateProgram(&program, SOURCE, "scale.hip", 1, &header, &name));
  for (const char *each : {"scale<float>", "&scale<int>", "&factor"}) RTC(hiprtcAddNameExpression(program, each));
  const char *lowered;
  EXPECT(hiprtcGetLoweredName(program, "scale<float>", &lowered) == HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION);
  const char *options[] = {"-Dy=1", "--gpu-architecture=gfx000", "-std=c++17"};
  // y is a name of HIP's headers, too.
  hiprtcResult compiled = hiprtcCompileProgram(program, 3, options);
  if (compiled) printf("%s\n%s\n", hiprtcGetErrorString(compiled), log_of(program).c_str());
  RTC(compiled);
  EXPECT(hiprtcAddNameExpression(program, "sum") == HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION);
  EXPECT(hiprtcGetLoweredName(program, "scale<double>", &lowered) == HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID);
  size_t nbytes = 0;
  RTC(hiprtcGetCodeSize(program, &nbytes));
  std::vector<char> image(nbytes);
  RTC(hiprtcGetCode(program, image.data()));

  hipModule_t module;
  HIP(hipModuleLoadData(&module, image.data()));
  hipFunction_t kernel;
  std::vector<unsigned> drawn = random_numbers(100, 1000);
  std::vector<int> numbers(drawn.begin(), drawn.end());
  int *x = on_device(numbers), n = count_of_arguments > 1 ? 101 : 100;  // 101: one too many
  void *arguments[] = {&x, &n};
  RTC(hiprtcGetLoweredName(program, "&scale<int>", &lowered));
  HIP(hipModuleGetFunction(&kernel, module, lowered));
  HIP(hipModuleLaunchKernel(kernel, 2, 1, 1, 64, 1, 1, 0, nullptr, arguments, nullptr));
  std::vector<int> scaled = on_host(x, 100);
  for (int i = 0; i < 100; i++) EXPECT(scaled[i] == numbers[i] * 2 + 1);
  HIP(hipModuleGetFunction(&kernel, module, "sum"));
  int *total = on_device(std::vector<int>{0}), count = 64;
  void *more[] = {&x, &total, &count};
  HIP(hipModuleLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, 0, nullptr, more, nullptr));
  int expected = 0;
  for (int i = 0; i < count; i++) expected += scaled[i];
  EXPECT(on_host(total, 1)[0] == expected);
  RTC(hiprtcGetLoweredName(program, "&factor", &lowered));
  hipDeviceptr_t variable;
  HIP(hipModuleGetGlobal(&variable, &nbytes, module, lowered));
  EXPECT(nbytes == sizeof(int) && on_host(static_cast<int *>(variable), 1)[0] == 3);
  RTC(hiprtcGetLoweredName(program, "scale<float>", &lowered));
  HIP(hipModuleGetFunction(&kernel, module, lowered));
  HIP(hipModuleUnload(module));
  RTC(hiprtcDestroyProgram(&program));
  EXPECT(!program && hiprtcDestroyProgram(&program) == HIPRTC_ERROR_INVALID_INPUT);

  RTC(hiprtcCreateProgram(&program, "__global__ void k() {\n  missing(); }", nullptr, 0, nullptr, nullptr));
  EXPECT(hiprtcCompileProgram(program, 0, nullptr) == HIPRTC_ERROR_COMPILATION);
  EXPECT(log_of(program).find("program.hip:2:3: error:") != std::string::npos);
  EXPECT(hiprtcGetCodeSize(program, &nbytes) == HIPRTC_ERROR_INVALID_PROGRAM);
  RTC(hiprtcDestroyProgram(&program));
  const char *outside = "../outside.h";
  EXPECT(hiprtcCreateProgram(&program, "", "a", 1, &header, &outside) == HIPRTC_ERROR_PROGRAM_CREATION_FAILURE);
  EXPECT(hiprtcCreateProgram(&program, nullptr, "a", 0, nullptr, nullptr) == HIPRTC_ERROR_INVALID_INPUT);
  EXPECT(hiprtcCompileProgram(nullptr, 0, nullptr) == HIPRTC_ERROR_INVALID_INPUT);
  EXPECT(!strcmp(hiprtcGetErrorString(HIPRTC_ERROR_COMPILATION), "HIPRTC_ERROR_COMPILATION"));
  HIP(hipFree(x));
  HIP(hipFree(total));
  return passed();
}
