#include "common.h"
/* Functions that call themselves, and each other. */
#define PROGRAM(name) KERNEL name(GLOBAL u32 *x, GLOBAL u32 *y, u32 n)
#define FUNCTION __attribute__((noinline)) static
FUNCTION u32 binomial(u32 k, u32 m) { return m == 0 || m == k ? 1 : binomial(k - 1, m - 1) + binomial(k - 1, m); }
FUNCTION u32 is_odd(u32 v);
FUNCTION u32 is_even(u32 v) { return v == 0 ? 1 : is_odd(v - 1); }
FUNCTION u32 is_odd(u32 v) { return v == 0 ? 0 : is_even(v - 1); }
FUNCTION void towers(u32 discs, u32 from, u32 to, u32 *moves) {
  if (discs == 0)
    return;
  towers(discs - 1, from, 3 - from - to, moves);
  *moves = *moves * 9 + from * 3 + to;
  towers(discs - 1, 3 - from - to, to, moves);
}

PROGRAM(binomials) {
  u32 i = INDEX;
  x[i] = binomial(4 + x[i] % 5, y[i] % 4);
}
PROGRAM(mutual_recursion) {
  u32 i = INDEX;
  x[i] = is_even(x[i] % 20) * 2 + is_odd(y[i] % 9);
}
PROGRAM(moved_towers) {
  u32 i = INDEX, moves = x[i];
  towers(1 + (y[i] + n) % 4, 0, 2, &moves);
  y[i] = moves;
}
