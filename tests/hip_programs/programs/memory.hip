// Kinds of memory and of copies: managed, mapped, pitched, rows, fills; pointer attributes.
#include "program.h"

__global__ void increment(int *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i]++;
}
__global__ void transpose(const float *in, size_t pitch, float *out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const float *row = reinterpret_cast<const float *>(reinterpret_cast<const char *>(in) + y * pitch);
  if (x < width && y < height) out[x * height + y] = row[x];
}

static void managed_and_mapped() {
  int n = 300, *managed, *mapped, *seen;
  HIP(hipMallocManaged(&managed, n * sizeof(int)));
  for (int i = 0; i < n; i++) managed[i] = i;
  increment<<<2, 256>>>(managed, n);
  HIP(hipDeviceSynchronize());
  for (int i = 0; i < n; i++) EXPECT(managed[i] == i + 1);
  HIP(hipHostMalloc(&mapped, n * sizeof(int), hipHostMallocMapped));
  for (int i = 0; i < n; i++) mapped[i] = 2 * i;
  HIP(hipHostGetDevicePointer(reinterpret_cast<void **>(&seen), mapped, 0));
  increment<<<2, 256>>>(seen, n);
  HIP(hipDeviceSynchronize());
  for (int i = 0; i < n; i++) EXPECT(mapped[i] == 2 * i + 1);
  hipPointerAttribute_t attributes;
  HIP(hipPointerGetAttributes(&attributes, managed + 1));
  EXPECT(attributes.isManaged && attributes.devicePointer == managed + 1);
  EXPECT_CODE(hipPointerGetAttributes(&attributes, &n), hipErrorInvalidValue);
  HIP(hipFree(managed));
  HIP(hipHostFree(mapped));
}
static void rows() {
  int width = 50, height = 20;
  std::vector<float> values(width * height);
  for (size_t i = 0; i < values.size(); i++) values[i] = i;
  float *pitched, *out;
  size_t pitch;
  HIP(hipMallocPitch(reinterpret_cast<void **>(&pitched), &pitch, width * sizeof(float), height));
  EXPECT(pitch >= width * sizeof(float));
  HIP(hipMemset2D(pitched, pitch, 0, width * sizeof(float), height));
  HIP(hipMemcpy2D(pitched, pitch, values.data(), width * sizeof(float), width * sizeof(float), height,
                  hipMemcpyHostToDevice));
  HIP(hipMalloc(&out, values.size() * sizeof(float)));
  transpose<<<dim3(4, 2), dim3(16, 16)>>>(pitched, pitch, out, width, height);
  std::vector<float> found = on_host(out, values.size());
  for (int x = 0; x < width; x++)
    for (int y = 0; y < height; y++) EXPECT(found[x * height + y] == values[y * width + x]);
  float *copy;
  HIP(hipMalloc(&copy, values.size() * sizeof(float)));
  HIP(hipMemcpy2D(copy, width * sizeof(float), pitched, pitch, width * sizeof(float), height, hipMemcpyDeviceToDevice));
  EXPECT(on_host(copy, values.size()) == values);
  for (float *each : {pitched, out, copy}) HIP(hipFree(each));
}
static void planes() {
  hipExtent extent = make_hipExtent(12, 5, 4);
  hipPitchedPtr made;
  HIP(hipMalloc3D(&made, extent));
  HIP(hipMemset3D(made, 7, extent));
  std::vector<unsigned char> values(12 * 5 * 4), found(values.size());
  for (size_t i = 0; i < values.size(); i++) values[i] = i;
  hipMemcpy3DParms copy = {};
  copy.srcPtr = make_hipPitchedPtr(values.data(), 12, 12, 5);
  copy.dstPtr = made;
  copy.dstPos = make_hipPos(2, 1, 1);
  copy.extent = make_hipExtent(10, 4, 3);
  copy.kind = hipMemcpyHostToDevice;
  HIP(hipMemcpy3D(&copy));
  copy = {};
  copy.srcPtr = made;
  copy.dstPtr = make_hipPitchedPtr(found.data(), 12, 12, 5);
  copy.extent = extent;
  copy.kind = hipMemcpyDeviceToHost;
  HIP(hipMemcpy3D(&copy));
  for (int z = 0; z < 4; z++)
    for (int y = 0; y < 5; y++)
      for (int x = 0; x < 12; x++) {
        bool is_copied = x >= 2 && y >= 1 && z >= 1;
        EXPECT(found[(z * 5 + y) * 12 + x] == (is_copied ? values[((z - 1) * 5 + y - 1) * 12 + x - 2] : 7));
      }
  HIP(hipFree(made.ptr));
}
static void fills_and_refusals() {
  unsigned *x;
  HIP(hipMalloc(&x, 400));
  HIP(hipMemsetD32(reinterpret_cast<hipDeviceptr_t>(x), 0x01020304, 100));
  EXPECT(on_host(x, 100)[99] == 0x01020304);
  HIP(hipMemset(x + 50, 255, 200));
  EXPECT(on_host(x, 100)[50] == ~0u);
  unsigned host[100];
  HIP(hipMemcpy(host, x, 400, hipMemcpyDefault));
  EXPECT(host[0] == 0x01020304 && host[99] == ~0u);
  EXPECT_CODE(hipMemcpy(host, x, 404, hipMemcpyDeviceToHost), hipErrorInvalidValue);
  EXPECT_CODE(hipMemset(x, 0, 401), hipErrorInvalidValue);
  EXPECT_CODE(hipMemcpy(x, host, 4, static_cast<hipMemcpyKind>(9)), hipErrorInvalidMemcpyDirection);
  EXPECT_CODE(hipFree(x + 1), hipErrorInvalidValue);
  size_t available, total;
  HIP(hipMemGetInfo(&available, &total));
  EXPECT(available <= total - 400);
  HIP(hipFree(x));
  EXPECT_CODE(hipFree(x), hipErrorInvalidValue);
}

int main() {
  managed_and_mapped();
  rows();
  planes();
  fills_and_refusals();
  return passed();
}
