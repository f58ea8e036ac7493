// CRC-32 of many buffers, by a table in constant memory that a kernel has made.
#include "program.h"

__constant__ unsigned table[256];
__global__ void make(unsigned *out) {
  unsigned value = threadIdx.x;
  for (int bit = 0; bit < 8; bit++) value = value & 1 ? 0xedb88320 ^ value >> 1 : value >> 1;
  out[threadIdx.x] = value;
}
__global__ void sum(const unsigned char *bytes, int length, unsigned *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned value = ~0u;
  for (int j = 0; j < length; j++) value = table[(value ^ bytes[i * length + j]) & 255] ^ value >> 8;
  out[i] = ~value;
}

int main() {
  constexpr int COUNT = 64, LENGTH = 9;
  std::vector<unsigned char> bytes;
  for (int i = 0; i < COUNT * LENGTH; i++) bytes.push_back(i < LENGTH ? '1' + i : i * 7);
  unsigned *out, *made;
  HIP(hipMalloc(&out, COUNT * sizeof(unsigned)));
  HIP(hipMalloc(&made, 256 * sizeof(unsigned)));
  make<<<1, 256>>>(made);
  HIP(hipMemcpyToSymbol(HIP_SYMBOL(table), made, 256 * sizeof(unsigned), 0, hipMemcpyDeviceToDevice));
  unsigned char *b = on_device(bytes);
  sum<<<1, COUNT>>>(b, LENGTH, out);
  std::vector<unsigned> found = on_host(out, COUNT);
  EXPECT(found[0] == 0xcbf43926);
  for (int i = 0; i < COUNT; i++) {
    unsigned value = ~0u;
    for (int j = 0; j < 8 * LENGTH; j++) {
      unsigned bit = (bytes[i * LENGTH + j / 8] >> j % 8 ^ value) & 1;
      value = bit ? 0xedb88320 ^ value >> 1 : value >> 1;
    }
    EXPECT(found[i] == ~value);
  }
  HIP(hipFree(out)); HIP(hipFree(made)); HIP(hipFree(b));
  return passed();
}
