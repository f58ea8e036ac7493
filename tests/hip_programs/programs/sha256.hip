// SHA-256 of many messages, of which each work-item takes one; known digests and the host's.
#include "program.h"

__host__ __device__ inline unsigned rotated(unsigned x, int n) { return x >> n | x << (32 - n); }
// The digest of one block, which is a message of 8 bytes, padded. k: the cube roots of primes.
__host__ __device__ inline void digest(const unsigned *k, const unsigned *message, unsigned *out) {
  unsigned w[64] = {message[0], message[1], 0x80000000}, s[8], h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                                                       0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  w[15] = 64;
  for (int i = 16; i < 64; i++) {
    unsigned a = w[i - 15], b = w[i - 2];
    w[i] = w[i - 16] + (rotated(a, 7) ^ rotated(a, 18) ^ a >> 3) + w[i - 7] +
           (rotated(b, 17) ^ rotated(b, 19) ^ b >> 10);
  }
  for (int i = 0; i < 8; i++) s[i] = h[i];
  for (int i = 0; i < 64; i++) {
    unsigned choice = (s[4] & s[5]) ^ (~s[4] & s[6]), majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
    unsigned t = s[7] + (rotated(s[4], 6) ^ rotated(s[4], 11) ^ rotated(s[4], 25)) + choice + k[i] + w[i];
    unsigned u = (rotated(s[0], 2) ^ rotated(s[0], 13) ^ rotated(s[0], 22)) + majority;
    for (int j = 7; j; j--) s[j] = s[j - 1];
    s[4] += t;
    s[0] = t + u;
  }
  for (int i = 0; i < 8; i++) out[i] = h[i] + s[i];
}
__constant__ unsigned roots[64];
__global__ void digest_all(const unsigned *messages, unsigned *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  digest(roots, messages + 2 * i, out + 8 * i);
}

int main() {
  constexpr int COUNT = 128;
  std::vector<unsigned> k, messages = random_numbers(2 * COUNT, ~0u), wanted(8 * COUNT), out(8 * COUNT);
  for (int p = 2; k.size() < 64; p++) {
    bool is_prime = true;
    for (int q = 2; q * q <= p; q++) is_prime &= p % q != 0;
    if (is_prime) k.push_back(static_cast<unsigned long long>(std::cbrt(static_cast<long double>(p)) * 4294967296.0L));
  }
  messages[0] = 0x61626364, messages[1] = 0x65666768;  // "abcdefgh"
  HIP(hipMemcpyToSymbol(HIP_SYMBOL(roots), k.data(), 64 * sizeof(unsigned)));
  unsigned *m = on_device(messages), *o = on_device(out);
  digest_all<<<2, 64>>>(m, o);
  for (int i = 0; i < COUNT; i++) digest(k.data(), &messages[2 * i], &wanted[8 * i]);
  out = on_host(o, 8 * COUNT);
  EXPECT(out == wanted);
  EXPECT(out[0] == 0x9c56cc51 && out[1] == 0xb374c3ba);
  HIP(hipFree(m));
  HIP(hipFree(o));
  return passed();
}
