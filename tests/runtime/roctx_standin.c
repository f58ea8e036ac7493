/* A stand-in for librocprofiler-sdk-roctx.so: it writes what it is called for to stdout. */
#include <stdio.h>
#include <stdlib.h>

static int depth;
static int told(const char *what, const char *name, int level) {
  printf("%s %s %d\n", what, name, level);
  fflush(stdout);
  return level;
}
int roctxRangePushA(const char *name) { return told("push", name, depth++); }
int roctxRangePop(void) { return told("pop", "-", --depth); }
