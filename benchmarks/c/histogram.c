#include "common.h"
SHARED int bins[256];
BLOCK(256) KERNEL histogram(GLOBAL const unsigned char *restrict x, GLOBAL int *restrict counts, u32 n) {
  u32 t = LANE, i = 256 * __builtin_amdgcn_workgroup_id_x() + t;
  bins[t] = 0;
  lds_barrier();
  if (i < n)
    __scoped_atomic_fetch_add(&bins[x[i]], 1, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
  lds_barrier();
  __scoped_atomic_fetch_add(&counts[t], bins[t], __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
}
