"""What docs/types.md says of operators, as Python objects: kernel source runs on them under Python
itself.

Integers are computed by Python without bounds and cut to their width; floats by NumPy in their own
type.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from amdjit.frontend.values.promotion import common_scalar
from amdjit.types import Scalar, bf16, boolean, f32, f64, i32, i64, u64

Literal = bool | int | float


class Number:
    """A value of a machine type."""

    def __init__(self, type: Scalar, value: Any) -> None:
        self.type, self.value = type, value

    def __bool__(self) -> bool:
        return bool(self.value != 0)

    def __index__(self) -> int:
        return int(self.value)

    def __repr__(self) -> str:
        return f"{self.type}({self.value})"

    def __format__(self, form: str) -> str:
        return format(self.value.item(), form) if form else str(self)

    def __str__(self) -> str:
        """Write as few digits as the type needs."""
        return str(self.value)


Plain = (bool, int, float, Number)
"""What scalar operators take; what has parts brings operators of its own."""


def of(type: Scalar, value: Any) -> Number:
    """Return a number of a type; integers are cut to its width."""
    if type.is_integer:
        wrapped = int(value) & ((1 << type.bits) - 1)
        value = wrapped - (1 << type.bits) if wrapped > type.maximum else wrapped
    return Number(type, rounded(type, value))


def rounded(type: Scalar, value: Any) -> Any:
    """Return a number in the NumPy type of a scalar type, rounded once."""
    if type is not bf16 or isinstance(value, (np.integer, np.bool_, np.float32, np.float16)):
        return type.dtype.type(np.float32(value) if type is bf16 else value)
    wide = np.float64(value)
    narrow = np.float32(wide)
    # Round to odd first: then the second rounding does what a single one would.
    if np.isfinite(narrow) and float(narrow) != float(wide) and not int(narrow.view(np.uint32)) & 1:
        narrow = np.nextafter(narrow, np.float32(np.inf if wide > narrow else -np.inf))
    return type.dtype.type(narrow)


def convert(type: Scalar, x: Number | Literal) -> Number:
    """Convert on request."""
    if not isinstance(x, Number):
        return of(type, int(x) if isinstance(x, float) and type.is_integer else x)
    if type.is_integer and x.type.is_float:
        if math.isnan(x.value):
            return of(type, 0)
        if math.isinf(x.value):
            return of(type, type.maximum if x.value > 0 else type.minimum)
        return of(type, min(max(int(x.value), type.minimum), type.maximum))
    if type is boolean:
        return Number(boolean, np.bool_(bool(x)))
    if type.is_integer:
        return of(type, int(x.value))
    return Number(type, rounded(type, x.value))


def _weak(literal: Literal, other: Scalar) -> Scalar:
    if isinstance(literal, bool) or other.is_float:
        return other
    if isinstance(literal, int):
        return i32 if other is boolean else other
    return f64 if other.bits == 64 else f32


def pair(x: Number | Literal, y: Number | Literal) -> tuple[Number, Number]:
    """Bring two operands to their common type."""
    if isinstance(x, Number) and isinstance(y, Number):
        common = common_scalar(x.type, y.type)
        assert common is not None
    elif isinstance(x, Number):
        common = _weak(y, x.type)  # type: ignore[arg-type]
    else:
        assert isinstance(y, Number)
        common = _weak(x, y.type)
    return convert(common, x), convert(common, y)


def _beside_u64(x: Number | Literal, y: Number | Literal) -> bool:
    """Whether one operand is a u64 and the other one has a signed integer type."""
    types = [side.type for side in (x, y) if isinstance(side, Number)]
    return len(types) == 2 and u64 in types and any(type.is_signed for type in types)


def _integers(x: Number, y: Number) -> tuple[Number, Number]:
    return (convert(i32, x), convert(i32, y)) if x.type is boolean else (x, y)


def _arithmetic(compute: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Number]:
    def apply(x: Any, y: Any) -> Number:
        if _beside_u64(x, y):
            return of(u64, compute(int(x.value), int(y.value)))
        x, y = _integers(*pair(x, y))
        if x.type.is_float:
            return Number(x.type, compute(x.value, y.value))
        return of(x.type, compute(int(x.value), int(y.value)))

    return apply


def _down(
    compute: Callable[[Any, Any], Any], floats: Callable[[Any, Any], Any]
) -> Callable[[Any, Any], Number]:
    def apply(x: Any, y: Any) -> Any:
        if _beside_u64(x, y):
            return of(u64, compute(int(x.value), int(y.value)) if y.value else 0)
        x, y = _integers(*pair(x, y))
        if x.type.is_float:
            return Number(x.type, floats(x.value, y.value))
        return of(x.type, compute(int(x.value), int(y.value)) if y.value else 0)

    return apply


def _divide(x: Any, y: Any) -> Number:
    if _beside_u64(x, y):
        return Number(f64, np.divide(convert(f64, x).value, convert(f64, y).value))
    x, y = _integers(*pair(x, y))
    target = x.type if x.type.is_float else f64 if x.type.bits == 64 else f32
    return Number(target, np.divide(convert(target, x).value, convert(target, y).value))


def _bits(compute: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Number]:
    def apply(x: Any, y: Any) -> Any:
        if _beside_u64(x, y):
            return of(u64, compute(int(x.value), int(y.value)))
        x, y = pair(x, y)
        return of(x.type, compute(int(x.value), int(y.value)))

    return apply


def _shifted(x: Any, y: Any) -> tuple[Number, Number]:
    """Bring a shift's operands to Numbers: the left one keeps its type, and so does its count."""
    if isinstance(x, Number) and isinstance(y, Number):
        return (convert(i32, x) if x.type is boolean else x), y
    return _integers(*pair(x, y))


def _shift_left(x: Any, y: Any) -> Number:
    x, y = _shifted(x, y)
    return of(x.type, int(x.value) << int(y.value) if 0 <= int(y.value) < x.type.bits else 0)


def _shift_right(x: Any, y: Any) -> Number:
    x, y = _shifted(x, y)
    count = int(y.value) if 0 <= int(y.value) < x.type.bits else x.type.bits
    return of(x.type, int(x.value) >> count)


def _compare(compute: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Number]:
    def apply(x: Any, y: Any) -> Any:
        for literal, number in ((x, y), (y, x)):
            known = (
                isinstance(literal, int) and isinstance(number, Number) and number.type.is_integer
            )
            if known and not number.type.minimum <= literal <= number.type.maximum:
                exact = [int(side.value) if isinstance(side, Number) else side for side in (x, y)]
                return Number(boolean, np.bool_(compute(*exact)))
        if _beside_u64(x, y):
            return Number(boolean, np.bool_(compute(int(x.value), int(y.value))))
        x, y = pair(x, y)
        return Number(boolean, np.bool_(compute(x.value, y.value)))

    return apply


def _rounded_to(x: Number, digits: Any) -> Number:
    """Round to decimals by a product in the number's own type; a number whose product leaves the
    type stays."""
    n = operator.index(digits)
    if x.type.is_integer:
        return of(x.type, round(int(x.value), n))
    factor = x.type.dtype.type(10.0 ** abs(n))
    if n < 0:
        return Number(x.type, np.rint(x.value / factor) * factor)
    product = x.value * factor
    return x if np.isinf(product) else Number(x.type, np.rint(product) / factor)


def _power(x: Number, n: Any) -> Number:
    if isinstance(n, Number):
        x, n = _integers(*pair(x, n))
        return of(x.type, int(x.value) ** int(n.value))
    result: Any = convert(x.type, 1)
    started, base = False, x
    while n:
        if n & 1:
            result, started = (result * base if started else base), True
        n >>= 1
        base = base * base if n else base
    return result


BINARY: dict[str, Callable[[Any, Any], Number]] = {
    "add": _arithmetic(operator.add),
    "sub": _arithmetic(operator.sub),
    "mul": _arithmetic(operator.mul),
    "floordiv": _down(operator.floordiv, np.floor_divide),
    "mod": _down(operator.mod, np.remainder),
    "truediv": _divide,
    "and": _bits(operator.and_),
    "or": _bits(operator.or_),
    "xor": _bits(operator.xor),
    "lshift": _shift_left,
    "rshift": _shift_right,
}


def _on_plain(compute: Callable[[Any, Any], Any], swap: bool) -> Callable[[Any, Any], Any]:
    def apply(x: Any, y: Any) -> Any:
        if not isinstance(y, Plain):
            return NotImplemented
        return compute(y, x) if swap else compute(x, y)

    return apply


for _name, _function in BINARY.items():
    setattr(Number, f"__{_name}__", _on_plain(_function, False))
    setattr(Number, f"__r{_name}__", _on_plain(_function, True))
for _name in ("lt", "le", "eq", "ne", "gt", "ge"):
    setattr(Number, f"__{_name}__", _compare(getattr(operator, _name)))
Number.__hash__ = None  # type: ignore[assignment]
Number.__round__ = _rounded_to  # type: ignore[attr-defined]
Number.__pow__ = _power  # type: ignore[attr-defined]
Number.__neg__ = lambda x: _negative(x)  # type: ignore[attr-defined]
Number.__pos__ = lambda x: convert(i32, x) if x.type is boolean else x  # type: ignore[attr-defined]
Number.__invert__ = lambda x: of(*_inverted(x))  # type: ignore[attr-defined]
Number.__abs__ = lambda x: (
    -x if not x.type.is_float and x.value < 0 else Number(x.type, abs(x.value))
)  # type: ignore[attr-defined]


def _negative(x: Number) -> Number:
    x = convert(i32, x) if x.type is boolean else x
    return Number(x.type, -x.value) if x.type.is_float else of(x.type, -int(x.value))


def _inverted(x: Number) -> tuple[Scalar, int]:
    x = convert(i32, x) if x.type is boolean else x
    return x.type, ~int(x.value)


def _in_float_of_all(items: tuple[Any, ...]) -> tuple[Any, ...]:
    """Convert numbers to the float type that all have in common, if they have one."""
    types = [item.type for item in items if isinstance(item, Number)]
    types.sort(key=lambda type: not type.is_float)
    if len(items) < 3 or not types or not types[0].is_float:
        return items
    common: Any = types[0]
    for type in types[1:]:
        common = common_scalar(common, type)
    return tuple(convert(common, item) if isinstance(item, Number) else item for item in items)


def extreme(less: bool) -> Callable[..., Number]:
    def choose(*items: Any) -> Number:
        items = _in_float_of_all(items)
        result = items[0]
        for item in items[1:]:
            if hasattr(result, "each"):
                result = result.each(item, choose)
                continue
            if not isinstance(result, Number) and not isinstance(item, Number):
                result = min(result, item) if less else max(result, item)
                continue
            if _beside_u64(result, item):
                extreme = min if less else max
                result = of(i64 if less else u64, extreme(int(result.value), int(item.value)))
                continue
            x, y = pair(result, item)
            result = _chosen(x, y, less)
        return result

    return choose


def _chosen(x: Number, y: Number, less: bool) -> Number:
    if x.type.is_float and (math.isnan(x.value) or math.isnan(y.value)):
        return Number(x.type, x.type.dtype.type(math.nan))
    if x.type.is_float and x.value == y.value:
        return x if bool(np.signbit(x.value)) is less else y
    return x if (x.value < y.value) is np.bool_(less) or x.value == y.value else y


class Conversion:
    """A type called in a kernel."""

    def __init__(self, type: Scalar) -> None:
        self.type = type

    def __call__(self, x: Any) -> Number:
        return convert(self.type, x)
