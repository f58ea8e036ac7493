"""exp2, log2, sine and cosine of 32 floats, computed in double precision: within 1 ulp, like the
hardware."""

from __future__ import annotations

import math
from collections.abc import Sequence

from amdjit.emulator.host.builder import Builder, Value, constant, vector
from amdjit.emulator.host.function import NativeFunction

_SINGLE = vector("float")
_DOUBLE = vector("double")


def _polynomial(b: Builder, x: Value, coefficients: Sequence[float]) -> Value:
    """Evaluate a polynomial by Horner's scheme; the constant coefficient comes first."""
    result = constant(_DOUBLE, coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        result = b.intrinsic("fma", result, x, constant(_DOUBLE, coefficient))
    return result


def _function(name: str) -> tuple[NativeFunction, Value, Value]:
    function = NativeFunction(name, _SINGLE, [(_SINGLE, "x")])
    single = function.parameter("x")
    return function, single, function.convert("fpext", single, "double")


def exp2_text(attributes: str) -> str:
    """Return `aj_exp2`: 2**x; denormal results are kept."""
    b, _, x = _function("aj_exp2")
    low = b.intrinsic("maximum", x, constant(_DOUBLE, -200.0))
    limited = b.intrinsic("minimum", low, constant(_DOUBLE, 200.0))
    whole = b.intrinsic("roundeven", limited)
    rest = b.binary("fmul", b.binary("fsub", limited, whole), constant(_DOUBLE, math.log(2)))
    mantissa = _polynomial(b, rest, [1 / math.factorial(n) for n in range(11)])
    safe = b.select(b.compare("uno", whole, whole), constant(_DOUBLE, 0.0), whole)
    exponent = b.convert("fptosi", safe, "i64")
    scale = b.bitcast(b.shift("shl", b.add(exponent, b.const(exponent, 1023)), 52), "double")
    b.give(b.convert("fptrunc", b.binary("fmul", mantissa, scale), "float"))
    return b.text(attributes)


def log2_text(attributes: str) -> str:
    """Return `aj_log2`: -Inf for 0, NaN for negative numbers."""
    b, single, x = _function("aj_log2")
    bits = b.bitcast(x, "i64")
    # Take m in [sqrt(1/2), sqrt(2)): adding the distance between the bits of sqrt(1/2) and 1 moves
    # the exponent.
    shifted = b.add(bits, b.const(bits, 0x3FF0000000000000 - 0x3FE6A09E667F3BCD))
    exponent = b.sub(b.shift("ashr", shifted, 52), b.const(bits, 1023))
    mantissa = b.bitcast(b.sub(bits, b.shift("shl", exponent, 52)), "double")
    one = constant(_DOUBLE, 1.0)
    ratio = b.binary("fdiv", b.binary("fsub", mantissa, one), b.binary("fadd", mantissa, one))
    square = b.binary("fmul", ratio, ratio)
    series = _polynomial(b, square, [2 / math.log(2) / (2 * n + 1) for n in range(10)])
    result = b.intrinsic("fma", ratio, series, b.convert("sitofp", exponent, "double"))
    value = b.convert("fptrunc", result, "float")
    zero, infinity = constant(_SINGLE, 0.0), constant(_SINGLE, math.inf)
    value = b.select(b.compare("oeq", single, infinity), infinity, value)
    value = b.select(b.compare("oeq", single, zero), constant(_SINGLE, -math.inf), value)
    invalid = b.or_(b.compare("olt", single, zero), b.compare("uno", single, single))
    nan = b.bitcast(constant(vector("i32"), 0x7FC00000), "float")
    b.give(b.select(invalid, nan, value))
    return b.text(attributes)


def _circle(name: str, turn: float, attributes: str) -> str:
    """Return sin(2 pi (x + turn)), reduced to an eighth of a turn around 0 or around a quarter
    turn."""
    b, _, x = _function(name)
    moved = b.binary(
        "fadd", b.binary("fsub", x, b.intrinsic("roundeven", x)), constant(_DOUBLE, turn)
    )
    quarters = b.intrinsic("roundeven", b.binary("fmul", moved, constant(_DOUBLE, 4.0)))
    rest = b.intrinsic("fma", quarters, constant(_DOUBLE, -0.25), moved)
    angle = b.binary("fmul", rest, constant(_DOUBLE, 2 * math.pi))
    square = b.binary("fmul", angle, angle)
    sine_series = [(-1) ** n / math.factorial(2 * n + 1) for n in range(8)]
    cosine_series = [(-1) ** n / math.factorial(2 * n) for n in range(8)]
    sine = b.binary("fmul", angle, _polynomial(b, square, sine_series))
    cosine = _polynomial(b, square, cosine_series)
    safe = b.select(b.compare("uno", quarters, quarters), constant(_DOUBLE, 0.0), quarters)
    quadrant = b.convert("fptosi", safe, "i64")
    odd = b.resize(quadrant, 1)
    chosen = b.select(odd, cosine, sine)
    negative = b.resize(b.shift("lshr", quadrant, 1), 1)
    result = b.select(negative, b.emit(_DOUBLE, f"fneg {_DOUBLE} {chosen.text}"), chosen)
    b.give(b.convert("fptrunc", result, "float"))
    return b.text(attributes)


def sine_text(attributes: str) -> str:
    """Return `aj_sin`: the sine of x turns."""
    return _circle("aj_sin", 0.0, attributes)


def cosine_text(attributes: str) -> str:
    """Return `aj_cos`: the cosine of x turns."""
    return _circle("aj_cos", 0.25, attributes)
