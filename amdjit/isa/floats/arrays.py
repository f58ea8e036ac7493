"""Expressions of instructions read with NumPy: a value is an array, which has the type's dtype.

Floats are rounded to the nearest, and denormals are numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import copysign, inf, isfinite
from operator import add, and_, eq, ge, gt, le, lshift, lt, mul, ne, or_, rshift, sub, truediv, xor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from amdjit.isa.arithmetic import Arithmetic, Value, bits_of, element_type, is_float

__all__ = ["dtype_of", "of_arrays"]

_FLOATS = {"half": np.float16, "float": np.float32, "double": np.float64}


@dataclass(frozen=True, slots=True)
class _Array(Value):
    """array: the numbers; integers are unsigned, as LLVM's have no sign."""

    array: Any = None


def dtype_of(code: str) -> np.dtype[Any]:
    """Return the dtype of an operand by the ISA's name of its type."""
    return _dtype(element_type(code))


def of_arrays(
    expression: Callable[..., Value | tuple[Value, Value]],
    codes: Sequence[str],
    operands: Sequence[NDArray[Any]],
) -> tuple[NDArray[Any], ...]:
    """Return what an expression makes of arrays. codes: the ISA's names of the operands' types."""
    values = [
        _value(element_type(code), operand) for code, operand in zip(codes, operands, strict=True)
    ]
    with np.errstate(all="ignore"):
        found = expression(_Arrays(), *values)
    return tuple(map(_array, found if isinstance(found, tuple) else (found,)))


def _dtype(kind: str) -> np.dtype[Any]:
    if kind == "i1":
        return np.dtype(bool)
    return np.dtype(_FLOATS.get(kind) or f"u{bits_of(kind) // 8}")


def _value(kind: str, array: Any) -> _Array:
    return _Array(kind, "", None, np.asarray(array, _dtype(kind)))


def _array(value: Value) -> NDArray[Any]:
    assert isinstance(value, _Array)
    return np.asarray(value.array)


def _signed(x: NDArray[Any]) -> NDArray[Any]:
    signed: NDArray[Any] = x.view(f"i{x.itemsize}")
    return signed


class _Arrays(Arithmetic):
    def const(self, shape: Value, value: float) -> _Array:
        if is_float(shape.type) or shape.type == "i1":
            return _value(shape.type, value)
        return _value(shape.type, int(value) & (1 << bits_of(shape.type)) - 1)

    def binary(self, operation: str, left: Value, right: Value) -> _Array:
        x, y = _array(left), _array(right)
        if operation == "ashr":
            return _value(left.type, (_signed(x) >> _signed(y)).astype(x.dtype))
        return _value(left.type, _BINARY[operation](x, y))

    def compare(self, predicate: str, left: Value, right: Value) -> _Array:
        x, y = _array(left), _array(right)
        if predicate[0] == "s":
            x, y = _signed(x), _signed(y)
        if not is_float(left.type):
            return _value("i1", _RELATIONS[predicate[-2:]](x, y))
        unordered = np.isnan(x) | np.isnan(y)
        if predicate in ("ord", "uno"):
            return _value("i1", unordered == (predicate == "uno"))
        holds = _RELATIONS[predicate[-2:]](x, y)
        return _value("i1", holds & ~unordered if predicate[0] == "o" else holds | unordered)

    def select(self, condition: Value, yes: Value, no: Value) -> _Array:
        # As bits, so that NaNs stay what they are.
        x, y = (_array(value) for value in (yes, no))
        bits = f"u{x.itemsize}"
        chosen = np.where(_array(condition), x.view(bits), y.view(bits))
        return _value(yes.type, chosen.view(x.dtype))

    def cast(self, operation: str, value: Value, type_name: str) -> _Array:
        x, to = _array(value), _dtype(type_name)
        if operation == "bitcast":
            return _value(type_name, x.view(to))
        if operation == "sext":
            return _value(type_name, _signed(x).astype(f"i{to.itemsize}").view(to))
        if operation == "sitofp":
            return _value(type_name, _signed(x).astype(to))
        if operation.startswith("fpto"):
            return _value(type_name, _whole(x, to, operation[4] == "s"))
        return _value(type_name, x.astype(to))

    def intrinsic(self, name: str, *arguments: Value, flags: Sequence[Value] = ()) -> _Array:
        kind = arguments[0].type
        return _value(kind, _INTRINSICS[name](*map(_array, arguments)).astype(_dtype(kind)))


def _whole(x: NDArray[Any], to: np.dtype[Any], signed: bool) -> NDArray[Any]:
    """Truncate, saturate, and make 0 of NaN."""
    kind = np.dtype(f"{'i' if signed else 'u'}{to.itemsize}")
    limits = np.iinfo(kind)
    wide = np.trunc(x.astype(np.float64))
    inside = np.where((wide >= limits.min) & (wide <= limits.max), wide, 0).astype(kind)
    found = np.where(wide > limits.max, limits.max, np.where(wide < limits.min, limits.min, inside))
    return np.asarray(found, kind).view(to)


def _number(
    extreme: Callable[[Any, Any], Any], join: Callable[[Any, Any], Any]
) -> Callable[[Any, Any], Any]:
    """Return minimumnum or maximumnum: zeros are ordered by their signs."""

    def found(x: NDArray[Any], y: NDArray[Any]) -> NDArray[Any]:
        bits = f"u{x.itemsize}"
        both = join(x.view(bits), y.view(bits)).view(x.dtype)
        return np.asarray(np.where(x == y, both, extreme(x, y)))

    return found


def _fused(x: NDArray[Any], y: NDArray[Any], z: NDArray[Any]) -> NDArray[Any]:
    """Multiply and add f32: the product is exact in f64; the sum is rounded to odd there, so that
    rounding it again changes nothing. f64 are fractions, one by one."""
    if x.dtype == np.float64:
        return np.asarray(_FUSED_DOUBLES(x, y, z), np.float64)
    product, addend = x.astype(np.float64) * y, z.astype(np.float64)
    total = np.asarray(product + addend)
    back = total - product
    error = (product - (total - back)) + (addend - back)
    raw = total.view(np.int64)
    step = np.where((error > 0) == (total > 0), 1, -1)
    odd = np.where((raw & 1 == 0) & (error != 0) & np.isfinite(total), raw + step, raw)
    return odd.view(np.float64).astype(np.float32)


def _fused_double(x: float, y: float, z: float) -> float:
    if not (isfinite(x) and isfinite(y) and isfinite(z)):
        return x * y + z
    exact = Fraction(x) * Fraction(y) + Fraction(z)
    try:
        # Of a sum that is exactly 0, and of one that becomes 0, the signs differ.
        return copysign(float(exact), exact) if exact else x * y + z
    except OverflowError:
        return inf if exact > 0 else -inf


_FUSED_DOUBLES = np.frompyfunc(_fused_double, 3, 1)

_BINARY: Mapping[str, Callable[[Any, Any], Any]] = {
    "add": add, "sub": sub, "mul": mul, "and": and_, "or": or_, "xor": xor, "shl": lshift,
    "lshr": rshift, "fadd": add, "fsub": sub, "fmul": mul, "fdiv": truediv,
}  # fmt: skip
_RELATIONS: Mapping[str, Callable[[Any, Any], Any]] = {
    "eq": eq, "ne": ne, "lt": lt, "le": le, "gt": gt, "ge": ge,
}  # fmt: skip
_INTRINSICS: Mapping[str, Callable[..., Any]] = {
    "fabs": np.abs, "copysign": np.copysign, "fma": _fused, "floor": np.floor, "ceil": np.ceil,
    "trunc": np.trunc, "roundeven": np.rint, "sqrt": np.sqrt, "minimum": np.minimum,
    "maximum": np.maximum, "minnum": np.fmin, "maxnum": np.fmax,
    "minimumnum": _number(np.fmin, or_), "maximumnum": _number(np.fmax, and_),
    "umin": np.minimum, "umax": np.maximum,
    "smin": lambda x, y: np.minimum(_signed(x), _signed(y)),
    "smax": lambda x, y: np.maximum(_signed(x), _signed(y)),
}  # fmt: skip
