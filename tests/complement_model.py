"""What an RDNA 3 computes in dot products and matrix products, in Python's integers, one element at
a time: slow, plain, and independent of the models and of the emulator.

Measured on a Radeon Pro W7900 and published with ROCm/rocm-systems issue 12056; `tests/hardware`
holds the values that tests replay. A term is (is negative, significand, exponent of its last bit).
"""

from __future__ import annotations

from collections.abc import Sequence

FACTOR_NAN = {"f32": 0xFFC00A3D, "f16": 0xFE3D, "bf16": 0xFFFD}
INVALID = {"f32": 0xFFC00000, "f16": 0xFE00, "bf16": 0xFFC0}
# Widths of exponents and fractions.
WIDTHS = {"f16": (5, 10), "bf16": (8, 7), "f32": (8, 23)}

Term = tuple[bool, int, int]


def _fields(bits: int, kind: str) -> tuple[bool, int, int]:
    exponent, fraction = WIDTHS[kind]
    return (
        bool(bits >> exponent + fraction & 1),
        bits >> fraction & (1 << exponent) - 1,
        bits & (1 << fraction) - 1,
    )


def _term(bits: int, kind: str) -> Term:
    """Return a finite number. Subnormal ones count as 0 in the formats with f32's exponents."""
    exponent, fraction = WIDTHS[kind]
    sign, field, rest = _fields(bits, kind)
    significand = rest | 1 << fraction if field else rest if kind == "f16" else 0
    return sign, significand, max(field, 1) - (1 << exponent - 1) + 1 - fraction


def _is_special(bits: int, kind: str) -> bool:
    return _fields(bits, kind)[1] == (1 << WIDTHS[kind][0]) - 1


def _is_nan(bits: int, kind: str) -> bool:
    return _is_special(bits, kind) and _fields(bits, kind)[2] != 0


def _shifted(value: int, amount: int) -> int:
    return value << amount if amount >= 0 else value >> -amount


def _nearest(value: int, shift: int) -> int:
    """Return a positive number without its lowest bits, rounded to nearest even."""
    if shift <= 0:
        return value << -shift
    kept, tail, half = value >> shift, value & (1 << shift) - 1, 1 << shift - 1
    return kept + (tail > half or (tail == half and kept & 1))


def _rounded(total: int, grid: int, kind: str, clamps: bool) -> int:
    """Return total * 2**grid as bits. f32 rounds as if exponents had no end, and only then is too
    small a number 0; f16 has subnormal numbers."""
    exponent, fraction = WIDTHS[kind]
    magnitude, bias = abs(total), (1 << exponent - 1) - 1
    if not magnitude:
        return 0
    place = magnitude.bit_length() - 1 + grid - fraction
    if kind == "f16":
        place = max(place, 1 - bias - fraction)
    significand = _nearest(magnitude, place - grid)
    if significand >> fraction + 1:
        significand, place = significand >> 1, place + 1
    if not significand or (kind == "f32" and place + fraction < 1 - bias):
        return 0
    field = place + fraction + bias if significand >> fraction else 0
    infinity = ((1 << exponent) - 1) << fraction
    code = field << fraction | significand & (1 << fraction) - 1
    if code >= infinity:
        code = infinity - 1 if clamps and kind == "f16" else infinity
    return code | int(total < 0) << exponent + fraction


def _special(a: Sequence[int], b: Sequence[int], c: int, kind: str, result: str) -> int | None:
    if any(_is_nan(bits, kind) for bits in (*a, *b)):
        return FACTOR_NAN[result]
    signs = set()
    for x, y in zip(a, b, strict=True):
        if _is_special(x, kind) or _is_special(y, kind):
            (x_sign, x_size, _), (y_sign, y_size, _) = _term(x, kind), _term(y, kind)
            if not x_size or not y_size:
                return INVALID[result]
            signs.add(x_sign != y_sign)
    if len(signs) > 1:
        return INVALID[result]
    if _is_nan(c, result):
        return c | 1 << WIDTHS[result][1] - 1
    if _is_special(c, result):
        signs.add(_fields(c, result)[0])
    if len(signs) > 1:
        return INVALID[result]
    exponent, fraction = WIDTHS[result]
    return (((1 << exponent) - 1) | int(signs.pop()) << exponent) << fraction if signs else None


def step(
    a: Sequence[int], b: Sequence[int], c: int, kind: str, result: str, clamps: bool = False
) -> int:
    """Return the bits of c + two products of `kind`; c and the result are of type `result`."""
    special = _special(a, b, c, kind, result)
    if special is not None:
        return special
    negative, size, last = _term(c, result)
    products = []
    for x, y in zip(a, b, strict=True):
        (x_sign, x_size, x_last), (y_sign, y_size, y_last) = _term(x, kind), _term(y, kind)
        products.append((x_sign != y_sign, x_size * y_size, x_last + y_last))
    if not size and not any(product for _, product, _ in products):
        return 0
    # The grid of a product is 24 below the sum of its factors' exponents.
    grids = [at + 2 * WIDTHS[kind][1] - 24 for _, product, at in products if product]
    if result == "f16":
        grids.append(max(last + size.bit_length() - 1 if size else -14, -14) - 26)
    elif size:
        grids.append(last + size.bit_length() - 1 - 26)
    grid = max(grids)
    total = _shifted(size, last - grid)
    for sign, product, at in products:
        units = _shifted(product, at - grid)
        total += units if sign == negative else ~units
    total = -total if negative else total
    if result == "bf16":
        return _rounded(total, grid, "f32", False) >> 16
    return _rounded(total, grid, result, clamps)


def chain(
    a: Sequence[int], b: Sequence[int], c: int, kind: str, result: str, clamps: bool = False
) -> int:
    """Return the bits of one element of D: steps of two along k."""
    for first in range(0, len(a), 2):
        c = step(a[first : first + 2], b[first : first + 2], c, kind, result, clamps)
    return c
