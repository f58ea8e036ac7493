/* What kernels' headers and examples use of HIP, for the stand-in library of the tests: names, values and layouts of
 * hip_runtime_api.h of ROCm 6 and 7. */
#ifndef AMDJIT_TESTS_HIP_RUNTIME_API_H
#define AMDJIT_TESTS_HIP_RUNTIME_API_H

#ifndef __HIP_PLATFORM_AMD__
#error "HIP's own header wants to know the platform"
#endif
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum hipError_t {
  hipSuccess = 0,
  hipErrorInvalidValue = 1,
  hipErrorOutOfMemory = 2,
  hipErrorNoBinaryForGpu = 209,
  hipErrorNotFound = 500
} hipError_t;
typedef enum hipMemcpyKind {
  hipMemcpyHostToHost,
  hipMemcpyHostToDevice,
  hipMemcpyDeviceToHost,
  hipMemcpyDeviceToDevice
} hipMemcpyKind;
typedef void *hipDeviceptr_t;
typedef struct ihipModule_t *hipModule_t;
typedef struct ihipModuleSymbol_t *hipFunction_t;
typedef struct ihipStream_t *hipStream_t;

#define HIP_LAUNCH_PARAM_BUFFER_POINTER ((void *)0x01)
#define HIP_LAUNCH_PARAM_BUFFER_SIZE ((void *)0x02)
#define HIP_LAUNCH_PARAM_END ((void *)0x03)

/* Only the processor's name is used; it stands where hipDeviceProp_tR0600 has it, in 1472 bytes. */
typedef struct hipDeviceProp_tR0600 {
  char before[1160];
  char gcnArchName[256];
  char after[56];
} hipDeviceProp_tR0600;
#define hipDeviceProp_t hipDeviceProp_tR0600
#define hipGetDeviceProperties hipGetDevicePropertiesR0600

hipError_t hipGetDevice(int *device);
hipError_t hipGetDevicePropertiesR0600(hipDeviceProp_tR0600 *properties, int device);
hipError_t hipModuleLoad(hipModule_t *module, const char *path);
hipError_t hipModuleLoadData(hipModule_t *module, const void *image);
hipError_t hipModuleUnload(hipModule_t module);
hipError_t hipModuleGetFunction(hipFunction_t *function, hipModule_t module, const char *name);
hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                 unsigned block_x, unsigned block_y, unsigned block_z, unsigned dynamic_lds,
                                 hipStream_t stream, void **parameters, void **extra);
hipError_t hipModuleLaunchCooperativeKernel(hipFunction_t function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                            unsigned block_x, unsigned block_y, unsigned block_z,
                                            unsigned dynamic_lds, hipStream_t stream, void **parameters);
hipError_t hipMemsetD32Async(hipDeviceptr_t destination, int value, size_t count, hipStream_t stream);
hipError_t hipMalloc(void **address, size_t nbytes);
hipError_t hipFree(void *address);
hipError_t hipMemcpy(void *destination, const void *source, size_t nbytes, hipMemcpyKind kind);
hipError_t hipDeviceSynchronize(void);
const char *hipGetErrorString(hipError_t error);

#ifdef __cplusplus
}
#endif
#endif
