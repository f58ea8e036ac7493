// Memory pools: their attributes, access, and the pool of a device.
#include "program.h"

__global__ void fill(int *values, int value) { values[threadIdx.x] = value; }

static uint64_t attribute(hipMemPool_t pool, hipMemPoolAttr which) {
  uint64_t value = 0;
  HIP(hipMemPoolGetAttribute(pool, which, &value));
  return value;
}

int main() {
  hipMemPool_t usual, pool, found;
  hipStream_t stream;
  HIP(hipStreamCreate(&stream));
  HIP(hipDeviceGetDefaultMemPool(&usual, 0));
  HIP(hipDeviceGetMemPool(&found, 0));
  EXPECT(found == usual);
  hipMemPoolProps properties = {};
  properties.allocType = hipMemAllocationTypePinned;
  properties.location = {hipMemLocationTypeDevice, 0};
  HIP(hipMemPoolCreate(&pool, &properties));
  HIP(hipDeviceSetMemPool(0, pool));
  HIP(hipDeviceGetMemPool(&found, 0));
  EXPECT(found == pool);

  uint64_t keep = 1 << 20, zero = 0, one = 1;
  int reuse = 0;
  HIP(hipMemPoolSetAttribute(pool, hipMemPoolAttrReleaseThreshold, &keep));
  EXPECT(attribute(pool, hipMemPoolAttrReleaseThreshold) == keep);
  HIP(hipMemPoolSetAttribute(pool, hipMemPoolReuseAllowOpportunistic, &reuse));
  HIP(hipMemPoolGetAttribute(pool, hipMemPoolReuseFollowEventDependencies, &reuse));
  EXPECT(reuse == 1);
  HIP(hipMemPoolGetAttribute(pool, hipMemPoolReuseAllowOpportunistic, &reuse));
  EXPECT(reuse == 0);

  int *first, *second;
  HIP(hipMallocAsync(reinterpret_cast<void **>(&first), 4096, stream));
  HIP(hipMallocFromPoolAsync(reinterpret_cast<void **>(&second), 8192, pool, stream));
  fill<<<1, 64, 0, stream>>>(first, 3);
  EXPECT(attribute(pool, hipMemPoolAttrUsedMemCurrent) == 12288);
  EXPECT(attribute(pool, hipMemPoolAttrReservedMemCurrent) >= 12288);
  EXPECT(attribute(usual, hipMemPoolAttrUsedMemCurrent) == 0);
  HIP(hipFreeAsync(second, stream));
  HIP(hipStreamSynchronize(stream));
  EXPECT(on_host(first, 64) == std::vector<int>(64, 3));
  EXPECT(attribute(pool, hipMemPoolAttrUsedMemCurrent) == 4096);
  EXPECT(attribute(pool, hipMemPoolAttrUsedMemHigh) == 12288);
  EXPECT(attribute(pool, hipMemPoolAttrReservedMemHigh) >= 12288);
  EXPECT_CODE(hipMemPoolSetAttribute(pool, hipMemPoolAttrUsedMemHigh, &one), hipErrorInvalidValue);
  EXPECT_CODE(hipMemPoolSetAttribute(pool, hipMemPoolAttrUsedMemCurrent, &zero), hipErrorInvalidValue);
  HIP(hipMemPoolSetAttribute(pool, hipMemPoolAttrUsedMemHigh, &zero));
  EXPECT(attribute(pool, hipMemPoolAttrUsedMemHigh) == 4096);
  EXPECT_CODE(hipFreeAsync(second, stream), hipErrorInvalidValue);
  HIP(hipFree(first));  // ROCm's hipFree takes it, too
  EXPECT(attribute(pool, hipMemPoolAttrUsedMemCurrent) == 0);

  hipMemAccessFlags flags;
  hipMemLocation here = {hipMemLocationTypeDevice, 0};
  hipMemAccessDesc access = {here, hipMemAccessFlagsProtReadWrite};
  HIP(hipMemPoolSetAccess(pool, &access, 1));
  HIP(hipMemPoolGetAccess(&flags, pool, &here));
  EXPECT(flags == hipMemAccessFlagsProtReadWrite);
  access.flags = hipMemAccessFlagsProtNone;
  EXPECT_CODE(hipMemPoolSetAccess(pool, &access, 1), hipErrorInvalidValue);
  access.location.id = 1;
  EXPECT_CODE(hipMemPoolSetAccess(pool, &access, 1), hipErrorInvalidDevice);

  EXPECT_CODE(hipMemPoolDestroy(usual), hipErrorInvalidValue);
  HIP(hipMemPoolDestroy(pool));
  HIP(hipDeviceGetMemPool(&found, 0));
  EXPECT(found == usual);
  EXPECT_CODE(hipDeviceSetMemPool(0, pool), hipErrorInvalidValue);
  HIP(hipMallocAsync(reinterpret_cast<void **>(&first), 64 * sizeof(int), stream));
  fill<<<1, 64, 0, stream>>>(first, 4);
  EXPECT(on_host(first, 64) == std::vector<int>(64, 4));
  HIP(hipFreeAsync(first, stream));
  HIP(hipStreamDestroy(stream));
  return passed();
}
