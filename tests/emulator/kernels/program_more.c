#include "common.h"
/* Arrays whose size is known when they are made, tables of functions and constants, numbers of 64 bits and more. */
#define PROGRAM(name) KERNEL name(GLOBAL u32 *x, GLOBAL u32 *y, u32 n)
#define FUNCTION __attribute__((noinline)) static
typedef unsigned __int128 u128;
typedef __int128 i128;

FUNCTION u32 plus(u32 a, u32 b) { return a + b; }
FUNCTION u32 minus(u32 a, u32 b) { return a - b; }
FUNCTION u32 times(u32 a, u32 b) { return a * b; }
FUNCTION u32 over(u32 a, u32 b) { return a / (b | 1); }
FUNCTION u32 modulo(u32 a, u32 b) { return a % (b | 1); }
typedef u32 (*Binary)(u32, u32);
FUNCTION u32 folded(Binary f, const u32 *v, u32 count) {
  u32 s = v[0];
  for (u32 k = 1; k < count; ++k)
    s = f(s, v[k]);
  return s;
}
FUNCTION double evaluated(const double *c, u32 degree, double at) {
  return degree == 0 ? c[0] : c[degree] * at + evaluated(c, degree - 1, at * 0.5);
}
static const u32 PRIMES[16] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53};
static const double STEPS[5] = {0.5, -1.25, 3.0, 1e-3, 7.5};

PROGRAM(sizes_when_made) {
  u32 i = INDEX, count = 1 + (x[i] & 7);
  u32 v[count];
  for (u32 k = 0; k < count; ++k)
    v[k] = y[i] + k * n;
  u32 s = 0;
  for (u32 k = 0; k < count; ++k)
    s = s * 5 + v[count - 1 - k];
  u32 *w = __builtin_alloca(4 * (2 + (y[i] & 3)));
  w[0] = s;
  w[1] = count;
  x[i] = w[0] ^ w[1];
}
PROGRAM(folds) {
  u32 i = INDEX, v[5] = {x[i], y[i], n, i, 9};
  Binary table[5] = {plus, minus, times, over, modulo};
  x[i] = folded(table[n % 5], v, 5);
  y[i] = folded(table[y[i] % 5], v, 2 + (x[i] & 3));
}
PROGRAM(stack_machine) {
  u32 i = INDEX, code = x[i], stack[8] = {y[i], n, 3, i}, top = 3;
  for (u32 k = 0; k < 16; ++k, code = code >> 3 | code << 29) {
    switch (code & 7) {
    case 0: stack[top - 1] += stack[top]; break;
    case 1: stack[top] = ~stack[top]; break;
    case 2: stack[top] *= 3; break;
    case 3: if (top < 7) { stack[top + 1] = stack[top] >> 1; ++top; } break;
    case 4: if (top > 2) --top; break;
    case 5: stack[top] ^= stack[top - 2]; break;
    case 6: stack[0] -= stack[top]; break;
    default: stack[top] = stack[top] << 7 | stack[top] >> 25;
    }
  }
  x[i] = stack[top];
  y[i] = stack[0];
}
PROGRAM(tables_of_constants) {
  u32 i = INDEX, s = 0;
  for (u32 k = 0; k < 16; ++k)
    s += PRIMES[(x[i] + k * n) & 15] * (k + 1);
  y[i] ^= s + PRIMES[y[i] & 15];
}
PROGRAM(words_of_128_bits) {
  u32 i = INDEX;
  u128 a = (u128)x[i] << 70 | (u128)y[i] << 33 | n, b = (u128)y[i] << 40 | x[i];
  i128 c = (i128)(a * b) >> 13;
  u128 d = (a ^ b) - (a & b);
  x[i] = (u32)(c >> 50) ^ (u32)d;
  y[i] = (u32)(c >> 95) + (u32)(d >> 64) + (a < b);
}
PROGRAM(powers_modulo) {
  u32 i = INDEX;
  u64 base = x[i], power = y[i] & 1023, modulus = (u64)n << 27 | 0x5678901, result = 1;
  for (; power; power >>= 1) {
    if (power & 1)
      result = result * base % modulus;
    base = base * base % modulus;
  }
  x[i] = (u32)result;
  y[i] = (u32)(result >> 16);
}
PROGRAM(signed_wide_steps) {
  u32 i = INDEX;
  long a = (long)(((u64)x[i] << 32 | y[i])), b = (int)y[i] | 1;
  long q = a / b, r = a % b;
  a = a >> (n & 31) ^ q;
  x[i] = (u32)(a >> 32) + (u32)r;
  y[i] = (u32)a ^ (u32)(r >> 32);
}
PROGRAM(recursive_doubles) {
  u32 i = INDEX;
  double v = evaluated(STEPS, n % 5, (int)x[i] * 0x1p-20);
  u64 bits = __builtin_bit_cast(u64, v);
  x[i] = (u32)bits;
  y[i] = (u32)(bits >> 32);
}
PROGRAM(solved_equations) {
  u32 i = INDEX;
  double m[3][4];
  for (u32 r = 0; r < 3; ++r)
    for (u32 c = 0; c < 4; ++c)
      m[r][c] = (int)(x[i] * (5 * r + c + 1) ^ y[i] >> c) * 0x1p-16 + (r == c ? 40000.0 : 0.0);
  for (u32 k = 0; k < 3; ++k) {
    u32 best = k;
    for (u32 r = k + 1; r < 3; ++r)
      if (__builtin_fabs(m[r][k]) > __builtin_fabs(m[best][k]))
        best = r;
    for (u32 c = 0; c < 4; ++c) {
      double t = m[k][c];
      m[k][c] = m[best][c];
      m[best][c] = t;
    }
    for (u32 r = 0; r < 3; ++r)
      if (r != k) {
        double f = m[r][k] / m[k][k];
        for (u32 c = k; c < 4; ++c)
          m[r][c] -= f * m[k][c];
      }
  }
  u64 bits = __builtin_bit_cast(u64, m[n % 3][3] / m[n % 3][n % 3]);
  x[i] = (u32)(bits >> 20);
  y[i] = (u32)(bits >> 40);
}
PROGRAM(text_of_numbers) {
  u32 i = INDEX, value = x[i], length = 0, hash = 5381;
  char text[12];
  do
    text[length++] = (char)('0' + value % 10);
  while (value /= 10);
  for (u32 k = 0; k < length / 2; ++k) {
    char t = text[k];
    text[k] = text[length - 1 - k];
    text[length - 1 - k] = t;
  }
  for (u32 k = 0; k < length; ++k)
    hash = hash * 33 + (u8)text[k];
  x[i] = hash;
  y[i] = length;
}
PROGRAM(copied_blocks) {
  u32 i = INDEX;
  u8 from[40], to[48];
  for (u32 k = 0; k < 40; ++k)
    from[k] = (u8)(x[i] >> k % 25);
  __builtin_memset(to, 0x5a, sizeof to);
  __builtin_memcpy(to + (n & 7), from + 3, 33);
  __builtin_memcpy(to + 20, to + 2, 16);
  u32 s = 0;
  for (u32 k = 0; k < 48; ++k)
    s = s * 3 + to[k];
  y[i] = s;
}
