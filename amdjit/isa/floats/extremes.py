"""Minimum, maximum and median of floats, including NaNs and zeros (RDNA 4 ISA, V_MIN_NUM_F32,
V_MINIMUM_F32, ...).

LLVM's intrinsics do not define which NaN is returned; the ISA does, and compilers use these
instructions to quiet signalling NaNs.
"""

from __future__ import annotations

from collections.abc import Mapping

from amdjit.isa.arithmetic import Arithmetic, Value, bits_of, element_of
from amdjit.isa.floats.comparisons import compare
from amdjit.isa.floats.nans import QUIET_BIT, bits, is_nan, quieted
from amdjit.isa.integer_expressions import Expression, chain


def _quieted(b: Arithmetic, x: Value) -> Value:
    return b.bitcast(quieted(b, x), element_of(x.type))


def _of_numbers(b: Arithmetic, greater: bool, x: Value, y: Value) -> Value:
    """Return the smaller or greater operand, y if one is NaN; -0 is smaller than +0."""
    chosen = b.select(compare(b, "ogt" if greater else "olt", x, y), x, y)
    both = b.and_ if greater else b.or_
    joined = b.bitcast(both(bits(b, x), bits(b, y)), element_of(x.type))
    return b.select(compare(b, "oeq", x, y), joined, chosen)


def number(greater: bool) -> Expression:
    """Return minimumNumber or maximumNumber: a number wins over NaN; of two NaNs, the first is
    returned, made quiet."""
    name = "maximumnum" if greater else "minimumnum"

    def expression(b: Arithmetic, x: Value, y: Value) -> Value:
        is_half = element_of(x.type) == "half"
        left, right = (b.convert("fpext", v, "float") if is_half else v for v in (x, y))
        # The host's instructions handle all but two NaNs; that case is detected in parallel with
        # them, not after them.
        broken = b.and_(b.compare("uno", left, left), b.compare("uno", right, right))
        chosen = b.intrinsic(name, left, right)
        return b.select(
            broken, _quieted(b, x), b.convert("fptrunc", chosen, "half") if is_half else chosen
        )

    return expression


def extreme(greater: bool) -> Expression:
    """Return minimum or maximum: NaN wins over a number; of two the first, made quiet (a gfx1201;
    the ISA prefers a signalling one)."""

    def expression(b: Arithmetic, x: Value, y: Value) -> Value:
        result = b.select(is_nan(b, y), _quieted(b, y), _of_numbers(b, greater, x, y))
        return b.select(is_nan(b, x), _quieted(b, x), result)

    return expression


def _is_signalling(b: Arithmetic, x: Value) -> Value:
    raw = bits(b, x)
    quiet_bit = b.const(raw, QUIET_BIT[bits_of(x.type)])
    return b.and_(is_nan(b, x), b.compare("eq", b.and_(raw, quiet_bit), b.const(raw, 0)))


def older(greater: bool, quiets: bool) -> Expression:
    """Return the minimum or maximum of gfx11, where a number wins over a quiet NaN (RDNA 3 ISA,
    V_MIN_F32).

    quiets: MODE's IEEE bit: a signalling NaN wins over everything, and is made quiet. Otherwise
    NaNs are not told apart, and of two of them the first is returned as it is.
    """
    of_numbers = number(greater)

    def expression(b: Arithmetic, x: Value, y: Value) -> Value:
        result = of_numbers(b, x, y)
        if not quiets:
            return b.select(b.and_(is_nan(b, x), is_nan(b, y)), x, result)
        result = b.select(_is_signalling(b, y), _quieted(b, y), result)
        return b.select(_is_signalling(b, x), _quieted(b, x), result)

    return expression


MINIMUM_NUMBER, MAXIMUM_NUMBER = number(False), number(True)
EXTREMES: Mapping[str, Expression] = {
    "min_num": MINIMUM_NUMBER,
    "max_num": MAXIMUM_NUMBER,
    "minimum": extreme(False),
    "maximum": extreme(True),
}


def median_of(low: Expression, high: Expression) -> Expression:
    """Return the median of three floats, where -0 is smaller than +0 (captured on a gfx1201); if
    one is NaN, the smallest by `low` (V_MED3_NUM)."""

    def expression(b: Arithmetic, x: Value, y: Value, z: Value) -> Value:
        middle = high(b, low(b, x, y), low(b, high(b, x, y), z))
        unordered = b.or_(compare(b, "uno", x, y), compare(b, "uno", z, z))
        return b.select(unordered, chain(low, low)(b, x, y, z), middle)

    return expression


median = median_of(MINIMUM_NUMBER, MAXIMUM_NUMBER)
