#include "common.h"
KERNEL transcendental(GLOBAL float *x, GLOBAL f16x2 *p, float k) {
  u32 i = INDEX;
  float a = x[i];
  float b = __builtin_amdgcn_exp2f(a) + __builtin_amdgcn_logf(a * a + 1.0f) + __builtin_amdgcn_rcpf(a);
  b += __builtin_amdgcn_rsqf(a) * __builtin_amdgcn_sinf(a * 0.15915494f) - __builtin_amdgcn_cosf(k);
  b = __builtin_amdgcn_fmed3f(b, 0.0f, 1.0f) + __builtin_amdgcn_fractf(a) + __builtin_truncf(b);
  b += (float)(int)(a * 255.0f) + (float)(u32)b;
  p[i] = __builtin_bit_cast(f16x2, __builtin_amdgcn_cvt_pkrtz(a, b));
  x[i] = b > k ? __builtin_ldexpf(b, 4) : __builtin_fmaf(-a, b, 12345.678f);
}
