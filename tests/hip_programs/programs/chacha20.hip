// ChaCha20: the key stream of RFC 8439, section 2.3.2, and texts that are encrypted and decrypted.
#include "program.h"

__device__ void quarter(unsigned &a, unsigned &b, unsigned &c, unsigned &d) {
  auto turn = [](unsigned x, int n) { return x << n | x >> (32 - n); };
  a += b; d = turn(d ^ a, 16);
  c += d; b = turn(b ^ c, 12);
  a += b; d = turn(d ^ a, 8);
  c += d; b = turn(b ^ c, 7);
}
struct Key { unsigned words[8], nonce[3]; };
__global__ void encrypt(Key key, unsigned counter, uint4 *text) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, x[16], start[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
  for (int j = 0; j < 8; j++) start[4 + j] = key.words[j];
  start[12] = counter + i;
  for (int j = 0; j < 3; j++) start[13 + j] = key.nonce[j];
  for (int j = 0; j < 16; j++) x[j] = start[j];
  for (int round = 0; round < 10; round++) {
    for (int j = 0; j < 4; j++) quarter(x[j], x[4 + j], x[8 + j], x[12 + j]);
    for (int j = 0; j < 4; j++) quarter(x[j], x[4 + (j + 1) % 4], x[8 + (j + 2) % 4], x[12 + (j + 3) % 4]);
  }
  for (int j = 0; j < 4; j++) {
    uint4 word = text[4 * i + j];
    word.x ^= x[4 * j] + start[4 * j];
    word.y ^= x[4 * j + 1] + start[4 * j + 1];
    word.z ^= x[4 * j + 2] + start[4 * j + 2];
    word.w ^= x[4 * j + 3] + start[4 * j + 3];
    text[4 * i + j] = word;
  }
}

int main() {
  constexpr int BLOCKS = 64;
  Key key{{0x03020100, 0x07060504, 0x0b0a0908, 0x0f0e0d0c, 0x13121110, 0x17161514, 0x1b1a1918, 0x1f1e1d1c},
          {0x09000000, 0x4a000000, 0}};
  std::vector<unsigned> plain(16 * BLOCKS);
  unsigned *text = on_device(plain);
  encrypt<<<1, BLOCKS>>>(key, 1, reinterpret_cast<uint4 *>(text));
  std::vector<unsigned> stream = on_host(text, plain.size());
  EXPECT(stream[0] == 0xe4e7f110 && stream[1] == 0x15593bd1 && stream[15] == 0x4e3c50a2);
  encrypt<<<1, BLOCKS>>>(key, 1, reinterpret_cast<uint4 *>(text));
  EXPECT(on_host(text, plain.size()) == plain);
  HIP(hipFree(text));
  return passed();
}
