"""What the headers of all kernels share: C text, the same in each, behind one guard.

Small floats are structures of sign, exponent and fraction; the five of them differ in the widths,
the bias, and in what the last exponent means.
"""

from __future__ import annotations

from dataclasses import dataclass

from amdjit.target import TARGETS

__all__ = ["common_text"]


@dataclass(frozen=True)
class _Float:
    """A float of 8 or 16 bits. kind: 0 with infinities, 1 without but with two NaN codes, 2 with
    one NaN, the code of -0."""

    name: str
    bits: int
    fraction: int
    bias: int
    kind: int


_FLOATS = (
    _Float("f16", 16, 10, 15, 0),
    _Float("bf16", 16, 7, 127, 0),
    _Float("fp8", 8, 3, 7, 1),
    _Float("bf8", 8, 2, 15, 0),
    _Float("fp8_fnuz", 8, 3, 8, 2),
    _Float("bf8_fnuz", 8, 2, 16, 2),
)

_CHECKS = """\
/* Fails to compile where a condition does not hold; C99 has no _Static_assert. */
#define AMDJIT_ASSERT(name, condition) typedef char amdjit_assert_##name[(condition) ? 1 : -1]

/* The bytes that an array spans, from low to before high; none if it has no elements. */
typedef struct amdjit_span {
  uint64_t low, high;
} amdjit_span;

/* What kernels rely on in an array. limit: bytes that it may span; most: the greatest extent and
 * stride. */
typedef struct amdjit_array_facts {
  uint64_t element_bytes, alignment, limit;
  int64_t most;
  int has_rows; /* elements of the last axis side by side, no negative stride */
} amdjit_array_facts;

/* What may be wrong with an array; each kernel has words for it. */
enum amdjit_array_fault {
  AMDJIT_FITS,
  AMDJIT_NEGATIVE,
  AMDJIT_TOO_LARGE,
  AMDJIT_NULL,
  AMDJIT_MISALIGNED,
  AMDJIT_NO_ROWS
};

/* Find what an array spans, and whether the kernel can take it. strides: NULL for a C-contiguous
 * one. */
static inline enum amdjit_array_fault amdjit_check_array(
    amdjit_span *span, const void *data, int axes, const int64_t *shape, const int64_t *strides,
    const amdjit_array_facts *facts) {
  uint64_t below = 0, above = 0, step = 1, limit = facts->limit / facts->element_bytes;
  int axis, is_empty = 0;
  span->low = span->high = 0;
  for (axis = 0; axis < axes; axis++) {
    if (shape[axis] < 0) return AMDJIT_NEGATIVE;
    if (shape[axis] > facts->most) return AMDJIT_TOO_LARGE;
    if (strides && (strides[axis] > facts->most || strides[axis] < -facts->most))
      return AMDJIT_TOO_LARGE;
    if (strides && facts->has_rows &&
        (strides[axis] < 0 || (axis == axes - 1 && strides[axis] != 1)))
      return AMDJIT_NO_ROWS;
    if (shape[axis] == 0) is_empty = 1;
  }
  if (is_empty) return AMDJIT_FITS;
  for (axis = axes - 1; axis >= 0; axis--) {
    uint64_t last = (uint64_t)shape[axis] - 1;
    int64_t signed_stride = strides ? strides[axis] : (int64_t)step;
    int is_negative = signed_stride < 0;
    uint64_t stride = (uint64_t)(is_negative ? -signed_stride : signed_stride);
    if (stride && last > limit / stride) return AMDJIT_TOO_LARGE;
    *(is_negative ? &below : &above) += last * stride;
    if (above + below >= limit) return AMDJIT_TOO_LARGE;
    step *= last + 1;
  }
  if (!data) return AMDJIT_NULL;
  if ((uint64_t)(uintptr_t)data % facts->alignment) return AMDJIT_MISALIGNED;
  span->low = (uint64_t)(uintptr_t)data - below * facts->element_bytes;
  span->high = (uint64_t)(uintptr_t)data + (above + 1) * facts->element_bytes;
  return AMDJIT_FITS;
}

static inline int amdjit_share_memory(const amdjit_span *first, const amdjit_span *second) {
  return first->low < second->high && second->low < first->high;
}

/* The processors that run a generic processor's code, each after a space. */
static const char *const amdjit_generic[][2] = {
GENERIC};

/* How well a device runs code for a target id: 0 if not at all, which is so for other processors
 * and settings of another value; the more settings the better; worst a generic processor's. */
static inline size_t amdjit_runs_on(const char *id, const char *device) {
  size_t length = strcspn(id, ":"), own = strcspn(device, ":"), fit = 1000 + strlen(id), i;
  if (length != own || strncmp(id, device, length)) {
    const char *member = NULL;
    for (i = 0; i < sizeof amdjit_generic / sizeof *amdjit_generic; i++)
      if (strlen(amdjit_generic[i][0]) == length && !strncmp(id, amdjit_generic[i][0], length))
        member = amdjit_generic[i][1];
    while (member && (strcspn(member + 1, " ") != own || strncmp(member + 1, device, own)))
      member = strchr(member + 1, ' ');
    if (!member) return 0;
    fit = strlen(id);
  }
  for (id += length; *id; id += length) {
    const char *there = device;
    length = 1 + strcspn(id + 1, ":"); /* with the colon before it, and the sign at its end */
    while ((there = strchr(there, ':')) != NULL) {
      if (!strncmp(there, id, length - 1) && there[length - 1] != id[length - 1]) return 0;
      there++;
    }
  }
  return fit;
}
"""

_FLOAT_FUNCTIONS = """\
/* Floats of 8 and 16 bits, as their bits. kind 0: with infinities; 1: without, the last code is
 * NaN; 2: the code of -0 is the only NaN. */
static inline double amdjit_from_bits(uint32_t code, int bits, int fraction, int bias, int kind) {
  uint32_t sign = code >> (bits - 1), magnitude = code & ((1u << (bits - 1)) - 1);
  int exponent = (int)(magnitude >> fraction), last = (1 << (bits - 1 - fraction)) - 1;
  double value = (double)(magnitude & ((1u << fraction) - 1));
  if (kind == 0 && exponent == last) value = value != 0 ? (double)NAN : (double)INFINITY;
  else if (kind == 1 && magnitude == (1u << (bits - 1)) - 1) value = (double)NAN;
  else if (kind == 2 && sign && !magnitude) return (double)NAN;
  else if (exponent) value = ldexp(value + (double)(1u << fraction), exponent - bias - fraction);
  else value = ldexp(value, 1 - bias - fraction);
  return sign ? -value : value;
}

/* Round to the nearest, of two the even one; what is too large becomes infinite or NaN. */
static inline uint32_t amdjit_to_bits(double value, int bits, int fraction, int bias, int kind) {
  uint32_t sign = signbit(value) ? 1u << (bits - 1) : 0, all = (1u << (bits - 1)) - 1;
  uint32_t infinity = all & ~((1u << fraction) - 1);
  uint32_t least_infinite = kind == 0 ? infinity : kind == 1 ? all : all + 1;
  uint32_t nan = kind == 0 ? infinity | 1u << (fraction - 1) : kind == 1 ? all : 1u << (bits - 1);
  uint32_t over = kind == 2 ? nan : sign | (kind == 0 ? infinity : nan);
  int exponent;
  uint32_t whole;
  double scaled;
  uint32_t code;
  if (isnan(value)) return kind == 2 ? nan : sign | nan;
  if (isinf(value)) return over;
  if (value == 0) return kind == 2 ? 0 : sign;
  (void)frexp(value, &exponent);
  exponent = exponent - 1 + bias < 1 ? 1 : exponent - 1 + bias;
  if (exponent > 1 << (bits - fraction)) return over;
  scaled = ldexp(fabs(value), fraction + bias - exponent);
  whole = (uint32_t)scaled;
  if (scaled - whole > 0.5 || (scaled - whole == 0.5 && whole % 2)) whole += 1;
  /* The hidden bit, and a carry out of the fraction, count the exponent up. */
  code = ((uint32_t)(exponent - 1) << fraction) + whole;
  if (code >= least_infinite) return over;
  return kind == 2 && !code ? 0 : sign | code;
}
"""


def common_text() -> str:
    """Return the shared part of a header."""
    generic = "".join(
        f'  {{"{each.name}", "{"".join(f" {name}" for name in each.members)}"}},\n'
        for each in TARGETS
        if each.members
    )
    types = "\n".join(
        f"typedef uint{each.bits}_t amdjit_{each.name}; /* its bits */" for each in _FLOATS
    )
    conversions = "\n".join(_conversions(each) for each in _FLOATS)
    return (
        "#ifndef AMDJIT_C\n#define AMDJIT_C 1\n\n"
        f"{types}\ntypedef uint8_t amdjit_boolean; /* 0 or 1 */\n\n"
        f"{_CHECKS.replace('GENERIC', generic)}\n{_FLOAT_FUNCTIONS}\n{conversions}\n"
        "#endif /* AMDJIT_C */\n"
    )


def _conversions(each: _Float) -> str:
    numbers = f"{each.bits}, {each.fraction}, {each.bias}, {each.kind}"
    name = f"amdjit_{each.name}"
    return (
        f"static inline double {name}_value({name} bits) {{\n"
        f"  return amdjit_from_bits(bits, {numbers});\n}}\n"
        f"static inline {name} {name}_bits(double value) {{\n"
        f"  return ({name})amdjit_to_bits(value, {numbers});\n}}\n"
    )
