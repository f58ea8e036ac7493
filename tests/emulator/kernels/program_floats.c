#include "common.h"
/* Programs on floats of all sizes; patterns of NaN are made the same. */
#define PROGRAM(name) KERNEL name(GLOBAL u32 *x, GLOBAL u32 *y, u32 n)
static inline float single(u32 bits) { return (float)(int)(bits & 0xFFFFF) * 0.001f - 300.0f; }
static inline u32 stored(float v) { return v == v ? __builtin_bit_cast(u32, v) : 0x7FC00000; }
static inline double precise(u32 bits) { return (double)(int)bits * 1e-4; }
static inline u32 folded(double v) {
  u64 bits = v == v ? __builtin_bit_cast(u64, v) : 0;
  return (u32)bits ^ (u32)(bits >> 32);
}
struct Complex {
  float re, im;
};
__attribute__((noinline)) static struct Complex product(struct Complex a, struct Complex b) {
  return (struct Complex){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
PROGRAM(polynomials) {
  u32 i = INDEX;
  float a = single(x[i]) * 0.01f, r = 0.5f;
  for (int k = 0; k < 6; ++k)
    r = r * a + (float)k;
  x[i] = stored(r);
  y[i] = stored(__builtin_fmaf(a, r, -1.0f));
}
PROGRAM(newton_steps) {
  u32 i = INDEX;
  double a = precise(x[i] & 0xFFFFFF) + 1.0, r = a;
  for (int k = 0; k < 8; ++k)
    r = 0.5 * (r + a / r);
  x[i] = folded(r);
  y[i] = folded(__builtin_sqrt(a) - r);
}
PROGRAM(remainders) {
  u32 i = INDEX;
  double a = precise(x[i]), b = precise(y[i] | 1);
  double q = __builtin_trunc(a / b);
  x[i] = folded(__builtin_fma(-q, b, a));
  y[i] = folded(a / b) ^ folded(b / a);
}
PROGRAM(conversions) {
  u32 i = INDEX;
  float a = single(x[i]);
  double b = precise(y[i]);
  x[i] = (u32)(int)a + (u32)(int)b * 3 + (u32)(long)(b * 1e6) + (u32)(u64)(b * b) + (u32)(unsigned char)(int)a;
  y[i] = stored((float)b) ^ folded((double)a) ^ stored((float)(long)(b * 1e9)) ^ stored((float)(u64)(b * b));
}
PROGRAM(halves) {
  u32 i = INDEX;
  f16 a = (f16)(single(x[i]) * 0.1f), b = (f16)(single(y[i]) * 0.05f), c = a * b + (f16)1.5f;
  c = c > a ? c - b : c / (b + (f16)33.0f);
  x[i] = stored((float)c);
  y[i] = (u32)__builtin_bit_cast(unsigned short, (f16)(a - c)) * (a == a);
}
PROGRAM(compensated_sums) {
  u32 i = INDEX;
  float sum = 0, rest = 0;
  for (u32 k = 0; k < 40; ++k) {
    float v = single(x[(i + k) & 511]) - rest, t = sum + v;
    rest = (t - sum) - v;
    sum = t;
  }
  y[i] = stored(sum) ^ stored(rest);
}
PROGRAM(complex_numbers) {
  u32 i = INDEX;
  struct Complex a = {single(x[i]) * 0.003f, single(y[i]) * 0.003f}, b = a;
  for (u32 k = 0; k < (n & 7) + 2; ++k)
    b = product(b, a);
  x[i] = stored(b.re);
  y[i] = stored(b.im);
}
PROGRAM(determinants) {
  u32 i = INDEX;
  double m[3][3];
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 3; ++c)
      m[r][c] = precise(x[i] << (3 * r + c)) * 0.01 + (double)(r * 3 + c);
  double d = m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
             m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
  y[i] = folded(d) + folded(m[n % 3][(n + 1) % 3]);
}
PROGRAM(normalised) {
  u32 i = INDEX;
  float a = single(x[i]), b = single(y[i]), c = single(x[i] ^ y[i]), d = (float)n;
  float length = __builtin_sqrtf(a * a + b * b + c * c + d * d);
  x[i] = stored(a / length) ^ stored(b / length);
  y[i] = stored(c / length * d) ^ stored(1.0f / length);
}
PROGRAM(classes) {
  u32 i = INDEX;
  float a = __builtin_bit_cast(float, x[i]);
  double b = __builtin_bit_cast(double, (u64)x[i] << 32 | y[i]);
  u32 flags = (u32)__builtin_isnan(a) | (u32)(__builtin_isinf(a) != 0) << 1 | (u32)(__builtin_signbit(a) != 0) << 2;
  flags |= (u32)__builtin_isfinite(b) << 3 | (u32)(a < 1.0f) << 4 | (u32)!(b >= -1.0) << 5 | (u32)(b != b) << 6;
  x[i] = flags | (u32)__builtin_isless(a, (float)n) << 7 | (u32)__builtin_isunordered(b, 1.0) << 8;
}
PROGRAM(roundings) {
  u32 i = INDEX;
  float a = single(x[i]);
  double b = precise(y[i]);
  x[i] = stored(__builtin_floorf(a) + __builtin_ceilf(a) * 3.0f + __builtin_truncf(a) * 7.0f + __builtin_rintf(a));
  y[i] = folded(__builtin_floor(b) - __builtin_ceil(b * 0.5) + __builtin_trunc(b) * 3.0 + __builtin_rint(b * 0.25));
}
PROGRAM(extremes) {
  u32 i = INDEX;
  float a = single(x[i]), b = single(y[i]);
  double c = precise(x[i]), d = precise(y[i]);
  x[i] = stored(__builtin_fminf(a, b) + __builtin_fmaxf(a, 2.0f) * __builtin_copysignf(3.0f, b) - __builtin_fabsf(a));
  y[i] = folded(__builtin_fmin(c, d) - __builtin_fmax(c, -d) + __builtin_copysign(c, d) * __builtin_fabs(d));
}
PROGRAM(integrals) {
  u32 i = INDEX;
  double a = precise(x[i] & 0xFFFF), h = (precise(y[i] & 0xFFFFF) - a) / 16.0, s = 0.0;
  for (int k = 0; k <= 16; ++k) {
    double t = a + h * k, f = t * t / (1.0 + t * t);
    s += f * (k == 0 || k == 16 ? 1.0 : k & 1 ? 4.0 : 2.0);
  }
  x[i] = folded(s * h / 3.0);
}
PROGRAM(logistic) {
  u32 i = INDEX;
  float v = (float)(x[i] & 0xFFFF) / 65536.0f, r = 3.5f + (float)(n & 15) / 40.0f;
  u32 above = 0;
  for (u32 k = 0; k < 50; ++k) {
    v = r * v * (1.0f - v);
    above += v > 0.5f;
  }
  x[i] = stored(v);
  y[i] = above;
}
PROGRAM(bodies) {
  u32 i = INDEX;
  float ax = 0, ay = 0, px = single(x[i]), py = single(y[i]);
  for (u32 k = 0; k < 16; ++k) {
    float dx = single(x[k * 31]) - px, dy = single(y[k * 31]) - py, r = dx * dx + dy * dy + 1.0f;
    float f = 1.0f / (r * __builtin_sqrtf(r));
    ax += dx * f;
    ay += dy * f;
  }
  x[i + 512] = stored(ax);
  y[i + 512] = stored(ay);
}
PROGRAM(tiny_numbers) {
  u32 i = INDEX;
  float a = __builtin_bit_cast(float, x[i] & 0x807FFFFF), b = __builtin_bit_cast(float, (y[i] & 0x83FFFFFF) | 0x2000000);
  x[i] = stored(a + b) ^ stored(a * 8.0f - b);
  y[i] = stored(b * 0.125f) ^ stored(a / 0.5f) ^ folded((double)a * 0x1p-900);
}
