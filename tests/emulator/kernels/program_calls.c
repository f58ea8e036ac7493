#include "common.h"
/* Calls of functions that are not inlined, pointers, tables, structures. */
#define PROGRAM(name) KERNEL name(GLOBAL u32 *x, GLOBAL u32 *y, u32 n)
#define FUNCTION __attribute__((noinline)) static
struct Pair {
  u32 first, second;
};
struct Big {
  u32 a[12];
};
FUNCTION struct Pair swapped(struct Pair p, u32 add) { return (struct Pair){p.second + add, p.first}; }
FUNCTION struct Big filled(u32 seed) {
  struct Big b;
  for (u32 k = 0; k < 12; ++k)
    b.a[k] = seed * (k + 3) ^ seed >> k;
  return b;
}
FUNCTION u32 summed(struct Big b, u32 from) {
  u32 s = 0;
  for (u32 k = from; k < 12; ++k)
    s += b.a[k];
  return s;
}
FUNCTION u32 many(u32 a, u32 b, u32 c, u32 d, u64 e, u64 f, u8 g, short h, u32 i, u32 j, u32 k, u32 l) {
  return a + b * 2 + c * 3 + d * 4 + (u32)(e >> 5) + (u32)(f >> 40) + g + (u32)h + i * 5 + j * 6 + k * 7 + l * 8;
}
FUNCTION void bumped(u32 *p, u32 count) {
  for (u32 k = 0; k < count; ++k)
    p[k] = p[k] * 3 + k;
}
FUNCTION u32 innermost(u32 v) { return v * 7 + 1; }
FUNCTION u32 inner(u32 v) { return innermost(v) ^ innermost(v >> 3); }
FUNCTION u32 outer(u32 v) { return inner(v + 1) + inner(v * 2); }
FUNCTION u64 wide(u64 a, u64 b) { return a * b + (a >> 7); }
FUNCTION u32 add(u32 a, u32 b) { return a + b; }
FUNCTION u32 mix(u32 a, u32 b) { return a * 33 ^ b; }
FUNCTION u32 pick(u32 a, u32 b) { return a & 1 ? b : a; }

PROGRAM(structures) {
  u32 i = INDEX;
  struct Pair p = swapped((struct Pair){x[i], y[i]}, n);
  p = swapped(p, 1);
  x[i] = p.first;
  y[i] = p.second;
}
PROGRAM(large_structures) {
  u32 i = INDEX;
  struct Big b = filled(x[i]);
  b.a[n % 12] = 5;
  y[i] = summed(b, y[i] & 7);
}
PROGRAM(many_arguments) {
  u32 i = INDEX, a = x[i], b = y[i];
  x[i] = many(a, b, n, i, (u64)a << 20, (u64)b << 30, (u8)a, (short)b, a ^ b, a & b, a | b, ~a);
}
PROGRAM(pointers_to_private) {
  u32 i = INDEX, v[6] = {x[i], y[i], n, i, 5, 6};
  bumped(v + 1, 4);
  bumped(v, 2);
  x[i] = v[0] + v[3];
  y[i] = v[n % 6];
}
PROGRAM(call_chains) {
  u32 i = INDEX;
  x[i] = outer(x[i]);
  if (y[i] & 1)
    y[i] = outer(y[i]) + inner(n);
}
PROGRAM(wide_calls) {
  u32 i = INDEX;
  u64 w = wide((u64)x[i] << 9 | n, (u64)y[i] << 17 | 3);
  x[i] = (u32)w;
  y[i] = (u32)(w >> 32);
}
PROGRAM(chosen_functions) {
  u32 i = INDEX;
  u32 (*function)(u32, u32) = n % 3 == 0 ? add : n % 3 == 1 ? mix : pick;
  x[i] = function(x[i], y[i]);
}
PROGRAM(divergent_functions) {
  u32 i = INDEX;
  u32 (*table[3])(u32, u32) = {add, mix, pick};
  y[i] = table[x[i] % 3](x[i], y[i]);
}
PROGRAM(chosen_pointers) {
  u32 i = INDEX, local[4] = {1, x[i], 3, 4};
  u32 *p = x[i] & 1 ? &local[y[i] & 3] : (u32 *)&y[i];
  *p += 7;
  x[i] = local[0] + local[1] * 2 + local[2] * 3 + local[3] * 5;
}
PROGRAM(linked) {
  u32 i = INDEX, at = i & 511, sum = 0;
  for (u32 k = 0; k < 10; ++k) {
    at = y[at] & 511;
    sum = sum * 31 + at;
  }
  x[i] = sum;
}
PROGRAM(small_stores) {
  u32 i = INDEX;
  GLOBAL u8 *bytes = (GLOBAL u8 *)(x + i);
  GLOBAL unsigned short *halves = (GLOBAL unsigned short *)(y + i);
  bytes[3] = (u8)(bytes[0] + n);
  bytes[1] ^= bytes[2];
  halves[1] -= halves[0];
}
PROGRAM(volatile_memory) {
  u32 i = INDEX;
  volatile u32 v[3] = {x[i], n, 2};
  v[2] += v[0];
  v[v[0] & 1] = v[2] ^ y[i];
  x[i] = v[0] + v[1] + v[2];
}
