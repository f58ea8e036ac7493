// Properties, attributes, occupancy; what HIP refuses, and what this library lacks.
#include "program.h"


__global__ void nothing(int *) {}
__global__ void with_lds(float *out) {
  __shared__ float room[1024];
  room[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = room[blockDim.x - 1 - threadIdx.x];
}

int main() {
  int count = 0, device = -1, value = 0;
  HIP(hipInit(0));
  HIP(hipGetDeviceCount(&count));
  EXPECT(count == 1);
  HIP(hipSetDevice(0));
  HIP(hipGetDevice(&device));
  EXPECT(device == 0);
  EXPECT_CODE(hipSetDevice(1), hipErrorInvalidDevice);
  EXPECT(hipGetLastError() == hipErrorInvalidDevice);
  EXPECT(hipGetLastError() == hipSuccess);
  hipDeviceProp_t properties;
  HIP(hipGetDeviceProperties(&properties, 0));
  EXPECT(!strncmp(properties.gcnArchName, "gfx", 3));
  EXPECT(properties.warpSize == (strncmp(properties.gcnArchName, "gfx9", 4) ? 32 : 64));
  EXPECT(properties.maxThreadsPerBlock == 1024 && properties.sharedMemPerBlock == 65536);
  EXPECT(properties.maxThreadsDim[2] == 1024 && properties.multiProcessorCount > 0);
  HIP(hipDeviceGetAttribute(&value, hipDeviceAttributeWarpSize, 0));
  EXPECT(value == properties.warpSize);
  HIP(hipDeviceGetAttribute(&value, hipDeviceAttributeComputeCapabilityMajor, 0));
  EXPECT(value == properties.major && value == properties.gcnArchName[3] - '0' + (value > 9 ? 9 + properties.gcnArchName[4] - '0' : 0));
  HIP(hipDeviceGetAttribute(&value, hipDeviceAttributeMultiprocessorCount, 0));
  EXPECT(value == properties.multiProcessorCount);
  int blocks, grid, block;
  HIP(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, with_lds, 256, 0));
  EXPECT(blocks > 0);
  HIP(hipOccupancyMaxPotentialBlockSize(&grid, &block, with_lds, 0, 0));
  EXPECT(block > 0 && block <= 1024 && grid > 0);
  hipFuncAttributes attributes;
  HIP(hipFuncGetAttributes(&attributes, reinterpret_cast<const void *>(with_lds)));
  EXPECT(attributes.sharedSizeBytes == 4096 && attributes.numRegs > 0);
  nothing<<<1, 2048>>>(nullptr);
  EXPECT(hipGetLastError() == hipErrorInvalidConfiguration);
  nothing<<<0, 64>>>(nullptr);
  EXPECT(hipPeekAtLastError() == hipErrorInvalidConfiguration);
  EXPECT(hipGetLastError() == hipErrorInvalidConfiguration);
  EXPECT_CODE(hipDeviceCanAccessPeer(&value, 0, 0), hipSuccess);
  EXPECT(value == 0);
  hipIpcMemHandle_t handle;
  EXPECT_CODE(hipDeviceEnablePeerAccess(0, 0), hipErrorPeerAccessUnsupported);
  EXPECT_CODE(hipDeviceEnablePeerAccess(1, 0), hipErrorInvalidDevice);
  EXPECT(!strcmp(hipKernelNameRefByPtr(reinterpret_cast<const void *>(nothing), nullptr), "_Z7nothingPi"));
  hipDeviceptr_t room;
  size_t nbytes = 0;
  HIP(hipExtMallocWithFlags(reinterpret_cast<void **>(&room), 100, hipDeviceMallocFinegrained));
  HIP(hipMemPtrGetInfo(room, &nbytes));
  EXPECT(nbytes == 100);
  HIP(hipFree(room));
  hipUUID uuid;
  HIP(hipDeviceGetUuid(&uuid, 0));
  EXPECT_CODE(hipDeviceGetUuid(&uuid, 1), hipErrorInvalidDevice);
  hipFuncCache_t config;
  HIP(hipDeviceGetCacheConfig(&config));
  HIP(hipCtxSynchronize());
  hipArray_t array;
  hipChannelFormatDesc format = {32, 0, 0, 0, hipChannelFormatKindFloat};
  EXPECT_CODE(hipMallocArray(&array, &format, 16, 16, 0), hipErrorNotSupported);
  EXPECT_CODE(hipIpcGetMemHandle(&handle, &value), hipErrorNotSupported);
  EXPECT_CODE(hipIpcGetMemHandle(&handle, &value), hipErrorNotSupported);
  EXPECT(!strcmp(hipGetErrorString(hipErrorOutOfMemory), "out of memory"));
  EXPECT(!strcmp(hipGetErrorName(hipErrorInvalidValue), "hipErrorInvalidValue"));
  void *pointer;
  EXPECT_CODE(hipMalloc(&pointer, size_t(1) << 60), hipErrorOutOfMemory);
  return passed();
}
