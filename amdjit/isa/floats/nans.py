"""Which NaN an instruction returns, made explicit because neither LLVM nor hosts agree on one.

It is the first NaN among the sources, in their order, made quiet; where numbers produce a NaN, it
is the negative quiet one without a payload. A multiply-add considers its product first: 0 times
infinity produces that one even if the addend is a NaN. Measured on gfx1201 for V_DIV_FMAS,
V_DIV_SCALE, V_DIV_FIXUP (bjacob/goc, `tests/div_fmas_hardware.h` and its neighbours), V_FMA_F16,
V_FRACT and V_FREXP_MANT; AMD's emulator rocjitsu does the same everywhere (ROCm/rocm-systems,
`shared/fp_mode.h`, `shared/rounding.h`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from amdjit.isa.arithmetic import (
    Arithmetic,
    Value,
    bits_of,
    element_of,
    is_float,
    like,
)
from amdjit.isa.integer_expressions import Expression

# Bits of the fraction, by width.
_FRACTION = {16: 10, 32: 23, 64: 52}
QUIET_BIT = {width: 1 << bits - 1 for width, bits in _FRACTION.items()}
_ELEMENTS = {16: "half", 32: "float", 64: "double"}

# Computes the bits of a result's NaN from the operands.
Rule = Callable[[Arithmetic, Sequence[Value]], Value]


def bits(b: Arithmetic, x: Value) -> Value:
    """Return a float's bits."""
    return b.bitcast(x, f"i{bits_of(x.type)}")


def quieted(b: Arithmetic, x: Value) -> Value:
    """Return the bits of a NaN, made quiet."""
    raw = bits(b, x)
    return b.or_(raw, b.const(raw, QUIET_BIT[bits_of(x.type)]))


def invalid(b: Arithmetic, shape: Value) -> Value:
    """Return the bits of the NaN that numbers produce; `shape`: a float of the type."""
    width = bits_of(shape.type)
    raw = Value(like(shape.type, f"i{width}"), "")
    return b.const(raw, (1 << width) - QUIET_BIT[width])


def is_nan(b: Arithmetic, x: Value) -> Value:
    """Return where a float is a NaN."""
    if element_of(x.type) != "half":
        return b.compare("uno", x, x)
    # Hosts compare halves after a conversion.
    magnitude = b.mask(bits(b, x), 15)
    return b.compare("ugt", magnitude, b.const(magnitude, 0x7C00))


def first_nan(b: Arithmetic, operands: Sequence[Value]) -> Value:
    """Return the first NaN, made quiet, or the invalid one if there is none."""
    floats = [x for x in operands if is_float(x.type)]
    result = invalid(b, floats[0])
    for x in reversed(floats):
        result = b.select(is_nan(b, x), quieted(b, x), result)
    return result


def fused_nan(b: Arithmetic, operands: Sequence[Value]) -> Value:
    """Return the NaN of x * y + z: an invalid product comes before the addend."""
    x, y, z = operands
    product = is_nan(b, _wide(b, "fmul", x, y))
    return b.select(product, first_nan(b, [x, y]), first_nan(b, [z]))


def _wide(b: Arithmetic, operation: str, x: Value, y: Value) -> Value:
    """Compute halves in single precision."""
    if element_of(x.type) == "half":
        x, y = (b.convert("fpext", v, "float") for v in (x, y))
    return b.binary(operation, x, y)


def converted_nan(element: str) -> Rule:
    """Return the rule of conversions: the sign and the leading bits of the fraction are kept."""

    def rule(b: Arithmetic, operands: Sequence[Value]) -> Value:
        source, width = bits_of(operands[0].type), {"half": 16, "float": 32, "double": 64}[element]
        raw = quieted(b, operands[0])
        fraction = _FRACTION[width]
        top = b.const(raw, 1 << source - 1)
        if width < source:
            kept = b.shift(
                "lshr", b.shift("shl", raw, source - _FRACTION[source]), source - fraction
            )
            sign = b.shift("lshr", b.and_(raw, top), source - width)
            exponent = b.const(raw, (1 << width - 1) - (1 << fraction))
            return b.resize(b.or_(b.or_(sign, exponent), kept), width)
        wide = b.resize(raw, width)
        sign = b.shift("shl", b.resize(b.and_(raw, top), width), width - source)
        payload = b.shift("lshr", b.shift("shl", wide, width - _FRACTION[source]), width - fraction)
        return b.or_(b.or_(sign, b.const(wide, (1 << width - 1) - (1 << fraction))), payload)

    return rule


def settled(
    b: Arithmetic, result: Value, operands: Sequence[Value], rule: Rule = first_nan
) -> Value:
    """Return a result with the NaNs that the rule derives from the operands."""

    def correct() -> Value:
        return b.select(is_nan(b, result), rule(b, operands), bits(b, result))

    return b.corrected(result, correct, operands if rule in _PROPAGATING else ())


# Under these rules, a NaN among the operands is one in the result.
_PROPAGATING = (first_nan, fused_nan)


def with_nans(expression: Expression, rule: Rule = first_nan) -> Expression:
    """Return an expression whose NaNs follow a rule on its operands, in the order of the
    instruction."""

    def with_rule(b: Arithmetic, *operands: Value) -> Value:
        return settled(b, expression(b, *operands), operands, rule)

    return with_rule
