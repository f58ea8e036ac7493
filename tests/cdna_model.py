"""What the matrix cores of CDNA compute, in Python's fractions, one element at a time: slow, plain,
and independent of the models.

Written from the published rules (MMA-Sim 2.1.1, arXiv 2511.10909). Numbers are bits; a decoded one
is a fraction, "nan", or +1 or -1 times "inf" as the strings "+inf" and "-inf".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

Number = Fraction | str

# Widths of exponents and fractions, and the bias.
FORMATS = {
    "f64": (11, 52, 1023), "f32": (8, 23, 127), "xf32": (8, 23, 127), "f16": (5, 10, 15),
    "bf16": (8, 7, 127), "fp8_fnuz": (4, 3, 8), "bf8_fnuz": (5, 2, 16), "fp8": (4, 3, 7),
    "bf8": (5, 2, 15), "fp6": (2, 3, 1), "bf6": (3, 2, 3), "fp4": (2, 1, 1),
}  # fmt: skip
STEPS = {
    ("gfx908", "f16"): 4, ("gfx908", "bf16"): 2, ("gfx90a", "f16"): 4, ("gfx90a", "bf16"): 2,
    ("gfx90a", "bf16_1k"): 4, ("gfx942", "xf32"): 4, ("gfx942", "f16"): 8,
    ("gfx942", "bf16_1k"): 8,
}  # fmt: skip


def decoded(bits: int, kind: str) -> tuple[Number, int]:
    """Return a number and the exponent of its encoding."""
    width, fraction, bias = FORMATS[kind]
    sign = -1 if bits >> width + fraction & 1 else 1
    field, rest = bits >> fraction & (1 << width) - 1, bits & (1 << fraction) - 1
    top = field == (1 << width) - 1
    if kind in ("fp8_fnuz", "bf8_fnuz"):
        if bits == 0x80:
            return "nan", 0
    elif kind == "fp8":
        if top and rest == 7:
            return "nan", 0
    elif kind not in ("fp6", "bf6", "fp4") and top:
        return ("nan" if rest else "+inf" if sign > 0 else "-inf"), 0
    exponent = max(field, 1) - bias
    significand = rest + ((1 << fraction) if field else 0)
    return sign * Fraction(significand) * Fraction(2) ** (exponent - fraction), exponent


def leading(x: Fraction) -> int:
    """Return the exponent of the leading bit of a number that is not 0."""
    guess = abs(x.numerator).bit_length() - x.denominator.bit_length()
    return guess if abs(x) >= Fraction(2) ** guess else guess - 1


def rounded(x: Fraction, kind: str) -> int:
    """Return the bits of the nearest number, ties to even; +0 for 0."""
    width, fraction, bias = FORMATS[kind]
    if x == 0:
        return 0
    exponent = max(leading(x), 1 - bias)
    units = round(abs(x) / Fraction(2) ** (exponent - fraction))
    sign = (x < 0) << width + fraction
    # The units carry into the exponent's field by themselves.
    found = units + ((exponent + bias - 1) << fraction)
    return sign | min(found, ((1 << width) - 1) << fraction)


def floored(x: Fraction, exponent: int) -> Fraction:
    unit = Fraction(2) ** exponent
    return math.floor(x / unit) * unit


def cut(x: Fraction, exponent: int) -> Fraction:
    unit = Fraction(2) ** exponent
    return math.trunc(x / unit) * unit


def special(products: Sequence[Number], c: Number) -> str | None:
    """Return what NaN and infinities make of a sum."""
    strings = {each for each in [*products, c] if isinstance(each, str)}
    if not strings:
        return None
    return strings.pop() if len(strings) == 1 else "nan"


def multiplied(x: Number, y: Number, limit: Fraction | None) -> Number:
    """Return a product; of `limit` or more, it is infinite."""
    if "nan" in (x, y):
        return "nan"
    if isinstance(x, str) or isinstance(y, str):
        if x == 0 or y == 0:
            return "nan"
        signs = [each[0] == "-" if isinstance(each, str) else each < 0 for each in (x, y)]
        return "-inf" if signs[0] != signs[1] else "+inf"
    product = x * y
    if limit is not None and abs(product) >= limit:
        return "-inf" if product < 0 else "+inf"
    return product


def special_bits(found: str, kind: str, target: str) -> int:
    width, fraction, _ = FORMATS[kind]
    infinity = ((1 << width) - 1) << fraction
    if found == "nan":
        is_known = target == "gfx942" and kind == "f32"
        return 0x7FFFFFFF if is_known else infinity | 1 << fraction - 1
    return infinity | (found[0] == "-") << width + fraction


def element(a: Sequence[int], b: Sequence[int], c: int, kind: str, target: str) -> int:
    """Return the bits of c + the sum of products of a and b, of one or more instructions. kind:
    the inputs' type, `bf16_1k` for those of four or more elements a lane."""
    held = kind.removesuffix("_1k")
    result = "f64" if kind == "f64" else "f32"
    length = 16 if "fnuz" in kind else 1 if kind in ("f32", "f64") else STEPS[target, kind]
    if target == "gfx942" and kind in ("f16", "bf16_1k"):
        length = min(length, len(a))
    for first in range(0, len(a), length):
        x, y = a[first : first + length], b[first : first + length]
        if target == "gfx90a" and length > 1:
            c = pairs(x, y, c, held)
        else:
            c = fused(x, y, c, held, result, target)
    return c


def fused(a: Sequence[int], b: Sequence[int], c: int, kind: str, result: str, target: str) -> int:
    if kind == "xf32":
        a, b = ([each if nan(each) else each & ~0x1FFF for each in side] for side in (a, b))
    x, y = ([decoded(bits, kind) for bits in side] for side in (a, b))
    own, own_exponent = decoded(c, result)
    on_grid = target == "gfx942" and kind not in ("f32", "f64")
    limit = Fraction(2) ** 128 if on_grid else None
    products = [multiplied(p[0], q[0], limit) for p, q in zip(x, y, strict=True)]
    found = special(products, own)
    if found is not None:
        return special_bits(found, result, target)
    numbers = [each for each in products if isinstance(each, Fraction)]
    assert isinstance(own, Fraction)
    if not on_grid:
        if kind in ("f32", "f64") and numbers[0] + own == 0:
            width = 63 if result == "f64" else 31
            sign = c >> width & (a[0] ^ b[0]) >> width & 1
            exact_zero = numbers[0] == 0 and own == 0
            return sign << width if exact_zero else 0
        return rounded_fused(numbers, own, result)
    exponents = [p[1] + q[1] for p, q in zip(x, y, strict=True)]
    return on_one_grid(numbers, exponents, own, own_exponent, "fnuz" in kind)


def rounded_fused(numbers: Sequence[Fraction], own: Fraction, result: str) -> int:
    total = sum(numbers, own)
    found = rounded(total, result)
    width = 63 if result == "f64" else 31
    return found | (total < 0) << width


def nan(bits: int) -> bool:
    return bits & 0x7FFFFFFF > 0x7F800000


def on_one_grid(
    products: Sequence[Fraction],
    exponents: Sequence[int],
    own: Fraction,
    own_exponent: int,
    in_halves: bool,
) -> int:
    """Return the sum as gfx942 computes it."""
    own_exponent = own_exponent if own else -126
    sums: list[tuple[Fraction, int]] = []
    for first in range(2 if in_halves else 1):
        stride = 2 if in_halves else 1
        group = [
            (product, exponent)
            for product, exponent in zip(
                products[first::stride], exponents[first::stride], strict=True
            )
            if product
        ]
        if group:
            highest = max(exponent for _, exponent in group)
            sums.append((sum((cut(p, highest - 24) for p, _ in group), Fraction(0)), highest))
    total, top = Fraction(0), own_exponent
    if sums:
        highest = max(exponent for _, exponent in sums)
        total = sum((floored(each, highest - 24) for each, _ in sums), Fraction(0))
        top = max(highest, own_exponent)
    if in_halves and own_exponent < top - 25:
        own = Fraction(0)
    total = floored(total, top - 32) + floored(own, top - 24)
    if total:
        total = floored(total, max(leading(total), -126) - 31)
    return rounded(total, "f32")


def pairs(a: Sequence[int], b: Sequence[int], c: int, kind: str) -> int:
    """Return the sum as gfx90a computes it: f32 bits."""
    smallest = Fraction(2) ** (1 - FORMATS[kind][2])
    x, y = ([flushed_input(bits, kind, smallest) for bits in side] for side in (a, b))
    terms = [ieee(multiplied(p, q, None), s ^ t) for (p, s), (q, t) in zip(x, y, strict=True)]
    while len(terms) > 1:
        terms = [added(p, q) for p, q in zip(terms[::2], terms[1::2], strict=True)]
    own = flushed_input(c, "f32", Fraction(2) ** -126)
    return added(ieee(*own), terms[0])


def flushed_input(bits: int, kind: str, smallest: Fraction) -> tuple[Number, bool]:
    """Return a number and whether its sign is -; subnormal ones are +0."""
    width, fraction, _ = FORMATS[kind]
    value, _ = decoded(bits, kind)
    negative = bool(bits >> width + fraction & 1)
    if isinstance(value, Fraction) and abs(value) < smallest:
        # A zero keeps its sign only if it is one; the published model makes both +0.
        return Fraction(0), False
    return value, negative


def ieee(x: Number, negative: bool) -> int:
    """Return f32 bits, a subnormal number as a zero of its sign."""
    if isinstance(x, str):
        return special_bits(x, "f32", "gfx90a")
    found = rounded(x, "f32")
    if found & 0x7FFFFFFF < 0x800000:
        return int(negative) << 31
    return found


def added(x: int, y: int) -> int:
    p, q = decoded(x, "f32")[0], decoded(y, "f32")[0]
    found = special([p], q)
    if found is not None:
        return special_bits(found, "f32", "gfx90a")
    assert isinstance(p, Fraction)
    assert isinstance(q, Fraction)
    total = p + q
    both_negative = bool(x >> 31 & y >> 31)
    return ieee(total, both_negative if total == 0 else total < 0)
