#include "common.h"
/* Programs on integers; x is read and written, y written. All have one signature. */
#define PROGRAM(name) KERNEL name(GLOBAL u32 *x, GLOBAL u32 *y, u32 n)
typedef long i64;
typedef short i16x4 __attribute__((ext_vector_type(4)));
typedef u32 u32x4 __attribute__((ext_vector_type(4)));

PROGRAM(bit_counts) {
  u32 i = INDEX, a = x[i];
  u64 b = (u64)a << 32 | y[i];
  x[i] = (u32)__builtin_popcount(a) + (a ? (u32)__builtin_ctz(a) * 100 + (u32)__builtin_clz(a) * 10000 : 7);
  y[i] = (u32)__builtin_popcountl(b) + (b ? (u32)__builtin_ctzl(b) * 100 + (u32)__builtin_clzl(b) * 10000 : 7);
  x[i] ^= __builtin_bitreverse32(a) + __builtin_bswap32(y[i]);
}
PROGRAM(rotations) {
  u32 i = INDEX, a = x[i], s = y[i] & 31;
  u64 b = (u64)a * 0x9E3779B97F4A7C15ul, t = y[i] >> 5 & 63;
  x[i] = __builtin_rotateleft32(a, s) ^ __builtin_rotateright32(a, s + n);
  y[i] = (u32)(__builtin_rotateleft64(b, t) >> 13) + (u32)((i64)b >> t) + (u32)(b << t >> 7);
}
PROGRAM(quotients) {
  u32 i = INDEX, a = x[i], b = y[i] | 1;
  int c = (int)a, d = (int)(y[i] & 0xFFFF) - 30000;
  if (d == 0 || d == -1)
    d = 3;
  x[i] = a / b * 31 + a % b + (u32)(c / d) + (u32)(c % d) * 17;
  y[i] = a / 7 + a % 1000 + (u32)(c / -13) + b / (n + 1);
}
PROGRAM(wide_quotients) {
  u32 i = INDEX;
  u64 a = (u64)x[i] << 32 | y[i], b = ((u64)y[i] << 11 ^ x[i]) | 1;
  i64 c = (i64)a, d = (i64)(b >> 3) - 77777;
  if (d == 0 || d == -1)
    d = 5;
  x[i] = (u32)(a / b) + (u32)(a % b >> 7) + (u32)(c / d);
  y[i] = (u32)(c % d) ^ (u32)(a / 1000003) ^ (u32)(a % (n + 9));
}
PROGRAM(wide_products) {
  u32 i = INDEX;
  u64 a = (u64)x[i] << 32 | y[i], b = a * 0xD1342543DE82EF95ul + n;
  unsigned __int128 p = (unsigned __int128)a * b;
  __int128 s = (__int128)(i64)a * (i64)b;
  x[i] = (u32)(p >> 64) ^ (u32)(p >> 100);
  y[i] = (u32)(s >> 64) + (u32)(s >> 31);
}
PROGRAM(saturation) {
  u32 i = INDEX, a = x[i], b = y[i];
  int c = (int)a, d = (int)b;
  short e = (short)a, f = (short)b;
  x[i] = __builtin_elementwise_add_sat(a, b) ^ __builtin_elementwise_sub_sat(a, b);
  y[i] = (u32)__builtin_elementwise_add_sat(c, d) + (u32)__builtin_elementwise_sub_sat(c, d) * 3 +
         (u32)__builtin_elementwise_add_sat(e, f) * 5 + (u32)__builtin_elementwise_max(c, d);
}
PROGRAM(overflows) {
  u32 i = INDEX, sum, product;
  int difference;
  u64 wide;
  u32 flags = (u32)__builtin_add_overflow(x[i], y[i], &sum) | (u32)__builtin_mul_overflow(x[i], n, &product) << 1;
  flags |= (u32)__builtin_sub_overflow((int)x[i], (int)y[i], &difference) << 2;
  flags |= (u32)__builtin_add_overflow((u64)x[i] << 32, (u64)y[i] << 33, &wide) << 3;
  x[i] = flags;
  y[i] = sum ^ product ^ (u32)difference ^ (u32)(wide >> 32);
}
struct Fields {
  u32 low : 5, middle : 11;
  int high : 9;
  u32 rest : 7;
};
PROGRAM(bit_fields) {
  u32 i = INDEX;
  struct Fields f = __builtin_bit_cast(struct Fields, x[i]);
  f.middle += f.low * 3;
  f.high -= (int)(n & 255);
  f.rest ^= (u32)f.high;
  y[i] = (u32)f.high * 7 + f.middle;
  x[i] = __builtin_bit_cast(u32, f);
}
PROGRAM(checksum) {
  u32 i = INDEX, crc = ~x[i];
  for (u32 k = 0; k < 8; ++k) {
    crc ^= y[(i + k) & 511] & 255;
    for (int bit = 0; bit < 8; ++bit)
      crc = crc & 1 ? crc >> 1 ^ 0xEDB88320u : crc >> 1;
  }
  x[i] = ~crc;
}
PROGRAM(hashes) {
  u32 i = INDEX, h = n;
  for (u32 k = 0; k < 5; ++k) {
    u32 v = x[i] * 0xCC9E2D51u + k;
    v = (v << 15 | v >> 17) * 0x1B873593u;
    h = ((h ^ v) << 13 | (h ^ v) >> 19) * 5 + 0xE6546B64u;
  }
  h ^= h >> 16;
  h *= 0x85EBCA6Bu;
  y[i] = h ^ h >> 13;
}
PROGRAM(common_divisors) {
  u32 i = INDEX, a = x[i] & 0xFFFFF, b = y[i] & 0xFFFFF;
  while (b) {
    u32 t = a % b;
    a = b;
    b = t;
  }
  x[i] = a;
}
PROGRAM(integer_roots) {
  u32 i = INDEX, a = x[i], root = 0;
  for (u32 bit = 1u << 15; bit; bit >>= 1)
    if ((root + bit) * (root + bit) <= a)
      root += bit;
  y[i] = root;
}
PROGRAM(sorted) {
  u32 i = INDEX, v[8];
  for (u32 k = 0; k < 8; ++k)
    v[k] = x[i] * (2 * k + 1) ^ y[i] >> k;
  for (u32 a = 0; a < 8; ++a)
    for (u32 b = 0; b + 1 < 8 - a; ++b)
      if (v[b] > v[b + 1]) {
        u32 t = v[b];
        v[b] = v[b + 1];
        v[b + 1] = t;
      }
  x[i] = v[n & 7];
  y[i] = v[0] ^ v[7];
}
static const u32 primes[16] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53};
PROGRAM(searched) {
  u32 i = INDEX, key = x[i] % 60, low = 0, high = 16;
  while (low < high) {
    u32 middle = (low + high) / 2;
    if (primes[middle] < key)
      low = middle + 1;
    else
      high = middle;
  }
  y[i] = low < 16 ? primes[low] : 0;
}
PROGRAM(states) {
  u32 i = INDEX, state = n & 7, out = 0;
  for (u32 k = 0; k < 32; k += 2) {
    switch (state) {
    case 0: out += 3; state = x[i] >> k & 3; break;
    case 1: out ^= k << 4; state = 4; break;
    case 2: out *= 5; state = (x[i] >> k & 1) + 5; break;
    case 3: out -= x[i] >> k; state = 7; break;
    case 4: out = out << 3 | out >> 29; state = 0; break;
    case 5: out = ~out; state = 2; break;
    case 6: out += y[i]; state = 3; break;
    default: out ^= 0x55; state = x[i] >> k & 1; break;
    }
  }
  y[i] = out;
}
PROGRAM(sparse_switch) {
  u32 i = INDEX, r = 5;
  switch (x[i] % 1000) {
  case 3: r = 1; break;
  case 17: case 18: case 19: r = y[i]; break;
  case 250: r = n; break;
  case 251: r = n * 2;
  case 252: r += 1; break;
  case 999: r = 9; break;
  default: r = x[i] >> 3;
  }
  y[i] = x[i] % 1000 == 252 ? 0 : r;
}
PROGRAM(unaligned) {
  u32 i = INDEX;
  u8 bytes[16];
  for (u32 k = 0; k < 4; ++k)
    __builtin_memcpy(bytes + 4 * k, &(u32){x[(i + k) & 511]}, 4);
  u64 wide;
  unsigned short narrow;
  __builtin_memcpy(&wide, bytes + (n & 3) + 1, 8);
  __builtin_memcpy(&narrow, bytes + 11, 2);
  y[i] = (u32)wide ^ (u32)(wide >> 32) ^ narrow;
}
PROGRAM(matrix_powers) {
  u32 i = INDEX, e = x[i] & 31;
  u64 a = 1, b = 1, c = 1, d = 0, p = 1, q = 0, r = 0, s = 1, m = 1000000007;
  for (; e; e >>= 1) {
    if (e & 1) {
      u64 t = (p * a + q * c) % m, u = (p * b + q * d) % m, v = (r * a + s * c) % m, w = (r * b + s * d) % m;
      p = t; q = u; r = v; s = w;
    }
    u64 t = (a * a + b * c) % m, u = (a * b + b * d) % m, v = (c * a + d * c) % m, w = (c * b + d * d) % m;
    a = t; b = u; c = v; d = w;
  }
  y[i] = (u32)q;
}
PROGRAM(digits) {
  u32 i = INDEX, v = x[i], length = 0, back = 0;
  char text[12];
  do {
    text[length++] = (char)('0' + v % 10);
    v /= 10;
  } while (v);
  while (length)
    back = back * 10 + (u32)(text[--length] - '0') + (back & n & 0);
  y[i] = back ^ (u32)text[0];
}
PROGRAM(long_sums) {
  u32 i = INDEX, a[8], carry = 0;
  for (u32 k = 0; k < 8; ++k) {
    u64 t = (u64)(x[i] * (k + 1)) + (u64)(y[i] ^ k * n) * 0xFFFFu + carry;
    a[k] = (u32)t;
    carry = (u32)(t >> 32);
  }
  x[i] = a[7] ^ a[0];
  y[i] = a[3] + carry;
}
PROGRAM(short_vectors) {
  u32 i = INDEX;
  i16x4 a = {(short)x[i], (short)(x[i] >> 16), (short)y[i], (short)(y[i] >> 16)}, b = a.yzwx * (short)3 - a;
  b = b >> (short)2 ^ a << (short)1;
  i16x4 c = a < b ? a : b;
  x[i] = (u32)(c.x * c.y) + (u32)c.z;
  y[i] = (u32)__builtin_reduce_max(b) + (u32)__builtin_reduce_add(c);
}
PROGRAM(interleaved_bits) {
  u32 i = INDEX;
  u64 a = x[i];
  a = (a | a << 16) & 0x0000FFFF0000FFFF;
  a = (a | a << 8) & 0x00FF00FF00FF00FF;
  a = (a | a << 4) & 0x0F0F0F0F0F0F0F0F;
  a = (a | a << 2) & 0x3333333333333333;
  a = (a | a << 1) & 0x5555555555555555;
  x[i] = (u32)a;
  y[i] = (u32)(a >> 32);
}
PROGRAM(knapsack) {
  u32 i = INDEX, best[24] = {0};
  for (u32 item = 0; item < 5; ++item) {
    u32 weight = (x[i] >> 3 * item & 7) + 1, value = y[i] >> 5 * item & 31;
    for (u32 k = 23; k >= weight; --k)
      if (best[k - weight] + value > best[k])
        best[k] = best[k - weight] + value;
  }
  y[i] = best[23] << 8 | best[n % 24];
}
PROGRAM(jumps) {
  u32 i = INDEX, sum = 0;
  for (u32 a = 0; a < 12; ++a) {
    if (x[i] >> a & 1)
      continue;
    for (u32 b = a;; ++b) {
      sum += a * b + 1;
      if (b > 15 || (y[i] >> b & 3) == 3)
        break;
      if (sum > n * 40)
        goto out;
    }
  }
out:
  x[i] = sum;
}
union Punned {
  u32 whole;
  unsigned short half[2];
  u8 byte[4];
};
PROGRAM(unions) {
  u32 i = INDEX;
  union Punned p = {x[i]};
  p.half[1] += p.byte[0];
  p.byte[n & 3] ^= 0x5A;
  y[i] = p.whole;
}
PROGRAM(vectors_of_words) {
  u32 i = INDEX;
  u32x4 a = {x[i], y[i], n, i}, b = a.wzyx * 3u + a;
  a[x[i] & 3] = 77;
  b ^= a >> (u32x4){1, 2, 3, 4};
  x[i] = b.x + b.y;
  y[i] = b[y[i] & 3];
}
