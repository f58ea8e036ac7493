"""One element of a product as gfx12 computes it, in Python's integers: slow, plain, and independent
of the models.

A number is a pair (integer, grid): integer * 2**grid. All arguments and results are bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

QUIET = 0x00400000
F32_INFINITY = 0x7F800000


@dataclass(frozen=True)
class Factors:
    """A format of factors: exponent bits, fraction bits, whether its largest exponent has finite
    numbers (E4M3)."""

    exponent: int
    fraction: int
    has_infinity: bool = True

    @property
    def bias(self) -> int:
        return (1 << self.exponent - 1) - 1

    def split(self, bits: int) -> tuple[int, int, int]:
        """Return sign, exponent field and fraction."""
        field = bits >> self.fraction & (1 << self.exponent) - 1
        return bits >> self.exponent + self.fraction & 1, field, bits & (1 << self.fraction) - 1

    def is_nan(self, bits: int) -> bool:
        _, field, fraction = self.split(bits)
        top = field == (1 << self.exponent) - 1
        return top and (
            fraction != 0 if self.has_infinity else fraction == (1 << self.fraction) - 1
        )

    def is_infinite(self, bits: int) -> bool:
        _, field, fraction = self.split(bits)
        return self.has_infinity and field == (1 << self.exponent) - 1 and fraction == 0

    def significand(self, bits: int) -> int:
        """Return the signed integer significand; subnormals have no hidden bit."""
        sign, field, fraction = self.split(bits)
        magnitude = fraction | (1 << self.fraction if field else 0)
        return -magnitude if sign else magnitude

    def aligning_exponent(self, bits: int) -> int:
        return max(self.split(bits)[1], 1) - self.bias


FACTORS = {
    "f16": Factors(5, 10),
    "bf16": Factors(8, 7),
    "fp8": Factors(4, 3, has_infinity=False),
    "bf8": Factors(5, 2),
}


def on_grid(integer: int, grid: int, wanted: int) -> int:
    """Return a number's multiple of 2**wanted, rounded towards minus infinity."""
    shift = grid - wanted
    return integer << shift if shift >= 0 else integer >> -shift


def rounded(integer: int, grid: int, exponent: int, fraction: int, saturate: bool = False) -> int:
    """Return the bits of the nearest number of a format, ties to even, with gradual underflow. Zero
    is positive."""
    bias = (1 << exponent - 1) - 1
    magnitude = abs(integer)
    lead = max(1 - bias, magnitude.bit_length() - 1 + grid)
    shift = lead - fraction - grid
    # Python rounds halves to even.
    units = round(Fraction(magnitude, 1 << shift)) if shift > 0 else magnitude << -shift
    if units == 1 << fraction + 1:
        units, lead = units >> 1, lead + 1
    if not units:
        return 0
    sign = int(integer < 0) << exponent + fraction
    if lead > bias:
        infinity = (1 << exponent) - 1 << fraction
        return sign | (infinity - 1 if saturate else infinity)
    field = lead + bias if units >> fraction else 0
    return sign | field << fraction | units & (1 << fraction) - 1


def widened(bits: int, kind: str) -> int:
    """Return an accumulator as the bits of an f32 of the same value or payload."""
    if kind == "f32":
        return bits
    if kind == "bf16":
        return bits << 16
    sign, field, fraction = FACTORS["f16"].split(bits)
    if field == 31:
        return sign << 31 | F32_INFINITY | fraction << 13
    return sign << 31 | rounded(abs(FACTORS["f16"].significand(bits)), max(field, 1) - 25, 8, 23)


def narrowed(bits: int, kind: str) -> int:
    """Return infinities and NaN, given as f32, in the result's format."""
    if kind == "f32":
        return bits
    if bits == 0xFFC00A3D:
        return 0xFE3D if kind == "f16" else 0xFFFD
    return bits >> 16 if kind == "bf16" else bits >> 16 & 0x8000 | 0x7C00 | bits >> 13 & 1023


def special(
    a: Sequence[int], b: Sequence[int], c: int, left: Factors, right: Factors, invalid_bits: int
) -> int | None:
    """Return the f32 bits of a step that NaN or infinities decide, None for others."""
    if any(map(left.is_nan, a)) or any(map(right.is_nan, b)):
        return 0xFFC00A3D
    signs = set()
    for x, y in zip(a, b, strict=True):
        if left.is_infinite(x) or right.is_infinite(y):
            if not left.significand(x) or not right.significand(y):
                return invalid_bits
            signs.add(left.split(x)[0] ^ right.split(y)[0])
    if len(signs) > 1:
        return invalid_bits
    if c & 0x7FFFFFFF > F32_INFINITY:
        return c | QUIET
    if c & 0x7FFFFFFF == F32_INFINITY:
        signs.add(c >> 31)
    if len(signs) > 1:
        return invalid_bits
    return F32_INFINITY | signs.pop() << 31 if signs else None


def step(
    a: Sequence[int],
    b: Sequence[int],
    c: int,
    kinds: tuple[str, str],
    result: str,
    fp16_ovfl: bool = False,
) -> int:
    """Return the bits of c + the dot product of two (DOT2) or four (DOT4) factors."""
    left, right = FACTORS[kinds[0]], FACTORS[kinds[1]]
    are_bytes = kinds[0] in ("fp8", "bf8")
    wide = widened(c, result)
    decided = special(a, b, wide, left, right, 0xFFC00A3D if are_bytes else 0xFFC00000)
    if decided is not None:
        return narrowed(decided, result)
    products, grids = [], []
    for x, y in zip(a, b, strict=True):
        exponent = left.aligning_exponent(x) + right.aligning_exponent(y)
        product = left.significand(x) * right.significand(y)
        products.append((product, exponent - left.fraction - right.fraction))
        grids.append(exponent - 24 if product else None)
    lowest = -14 if result == "f16" else -126
    f32 = Factors(8, 23)
    added, added_grid = f32.significand(wide), f32.aligning_exponent(wide) - 23
    leading = max(lowest, added_grid + abs(added).bit_length() - 1) if added else lowest
    grid = max([known for known in grids if known is not None] + [leading - 26])
    total = on_grid(added, added_grid, grid)
    if added < 0 and on_grid(-added, added_grid, grid) == 0 and grid > lowest:
        total = 0
    group = len(a) if are_bytes else 2
    for first in range(0, len(a), group):
        own = [known for known in grids[first : first + group] if known is not None]
        if not own:
            continue
        inner = max(own)
        units = sum(on_grid(integer, at, inner) for integer, at in products[first : first + group])
        total += on_grid(units, inner, grid)
    if result == "f16":
        return rounded(total, grid, 5, 10, saturate=fp16_ovfl)
    bits = rounded(total, grid, 8, 23)
    return bits >> 16 if result == "bf16" else bits


def chain(
    a: Sequence[int],
    b: Sequence[int],
    c: int,
    kinds: tuple[str, str],
    result: str,
    fp16_ovfl: bool = False,
) -> int:
    """Return the bits of one element of D: steps of four along k."""
    for first in range(0, len(a), 4):
        c = step(a[first : first + 4], b[first : first + 4], c, kinds, result, fp16_ovfl)
    return c
