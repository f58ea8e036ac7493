typedef float f4 __attribute__((ext_vector_type(4)));
typedef struct {
  int a;
  float b;
} pair;

static __attribute__((always_inline)) float power(float x, int k) {
  float t = x * x;
  for (int i = 0; i < k; i++)
    t = t * x + i;
  return t;
}

static __attribute__((always_inline)) float twice(float x, int k) {
  const float first = power(x, k);
  return power(first, k + 1) - first;
}

static __attribute__((noinline)) float apart(float x, float y) {
  float u = x / y;
  return u + power(u, 3);
}

__attribute__((amdgpu_kernel)) void work(__attribute__((address_space(1))) float *x,
                                         __attribute__((address_space(1))) f4 *y, int n) {
  int i = __builtin_amdgcn_workitem_id_x();
  f4 v = y[i];
  float sum = 0;
  pair p;
  p.a = i * n;
  p.b = x[i];
  long wide = (long)n * i;
  for (int j = 0; j < n; ++j) {
    float q = x[i + j * n];
    sum += twice(q, j) + p.b;
    v *= sum;
  }
  sum += apart(sum, p.a);
  x[i + wide] = sum;
  y[i] = v;
}

__attribute__((amdgpu_kernel)) void other(__attribute__((address_space(1))) float *x) {
  float z = x[__builtin_amdgcn_workgroup_id_x()];
  x[0] = power(z, 2);
}
