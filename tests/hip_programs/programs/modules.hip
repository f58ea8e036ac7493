// The module API, on the code object or bundle of vector_add that the first argument names.
#include "program.h"

#include <hip/hip_ext.h>

#include <fstream>
#include <iterator>

int main(int, char **arguments) {
  std::ifstream file(arguments[1], std::ios::binary);
  std::vector<char> bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  int n = 100;
  std::vector<float> values(n, 3);
  float *x = on_device(values), *y = on_device(values), *z = on_device(values);
  struct {
    float *x, *y, *z;
    int n;
  } packed = {x, y, z, n};
  for (bool from_file : {false, true}) {
    hipModule_t module;
    hipFunction_t function;
    if (from_file) HIP(hipModuleLoad(&module, arguments[1]));
    else HIP(hipModuleLoadData(&module, bytes.data()));
    EXPECT_CODE(hipModuleGetFunction(&function, module, "no_such"), hipErrorNotFound);
    HIP(hipModuleGetFunction(&function, module, "_Z3addPKfS0_Pfi"));
    int most = 0;
    HIP(hipFuncGetAttribute(&most, HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function));
    EXPECT(most == 1024);
    EXPECT_CODE(hipFuncGetAttribute(&most, HIP_FUNC_ATTRIBUTE_MAX, function), hipErrorInvalidValue);
    void *parameters[] = {&x, &y, &z, &n};
    size_t nbytes = sizeof packed;
    void *extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &packed, HIP_LAUNCH_PARAM_BUFFER_SIZE, &nbytes,
                     HIP_LAUNCH_PARAM_END};
    HIP(hipModuleLaunchKernel(function, 2, 1, 1, 64, 1, 1, 0, nullptr, from_file ? parameters : nullptr,
                              from_file ? nullptr : extra));
    for (float value : on_host(z, n)) EXPECT(value == 6);
    HIP(hipMemset(z, 0, n * sizeof(float)));
    HIP(hipExtModuleLaunchKernel(function, 128, 1, 1, 64, 1, 1, 0, nullptr, parameters, nullptr));
    for (float value : on_host(z, n)) EXPECT(value == 6);
    EXPECT_CODE(hipExtModuleLaunchKernel(function, 100, 1, 1, 64, 1, 1, 0, nullptr, parameters, nullptr),
                hipErrorInvalidConfiguration);
    HIP(hipMemset(z, 0, n * sizeof(float)));
    HIP(hipModuleUnload(module));
  }
  hipModule_t module;
  EXPECT_CODE(hipModuleLoad(&module, "/no/such/file"), hipErrorFileNotFound);
  std::vector<char> damaged(bytes.size() / 2);
  EXPECT_CODE(hipModuleLoadData(&module, damaged.data()), hipErrorInvalidImage);
  for (float *each : {x, y, z}) HIP(hipFree(each));
  return passed();
}
