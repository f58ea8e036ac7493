"""Numbers of a simulated kernel: Python objects that compute as the kernel language does.

A `Number` has a machine type. Integers are kept as Python's own and cut to their width, floats as
NumPy's scalars of their type. Python's own numbers are the literals of the language: they take the
type of the number that they meet. docs/types.md states the rules.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from amdjit.frontend.values.promotion import literal_fits
from amdjit.frontend.values.typing_rules import AMDJIT, NUMBA, TypingRules
from amdjit.simulating.not_simulated import NotSimulatedError
from amdjit.types import Scalar, bf16, boolean, f32, f64, from_dtype, i32, i64, u32, u64

__all__ = [
    "Conversion",
    "KnownNumber",
    "NumbaNumber",
    "Number",
    "TypeValue",
    "WeakNumber",
    "class_of",
    "convert",
    "known_class",
    "number_of",
    "of_numpy",
    "pair",
    "rounded",
    "scalar_type",
    "weakly",
    "wide",
    "with_rules",
]

Literal = bool | int | float


class Number:
    """A value of a machine type. Equal numbers of different types are equal, as in a kernel."""

    __slots__ = ("type", "value")
    __array_ufunc__ = None  # NumPy's scalars leave operators to this class
    rules: ClassVar[TypingRules] = AMDJIT

    def __init__(self, type: Scalar, value: Any) -> None:
        """value: a Python int within the type's limits, or a NumPy scalar of a float type."""
        self.type, self.value = type, value

    def __repr__(self) -> str:
        return f"{self.type}({self.value!s})"

    def __str__(self) -> str:
        return str(self.value)

    def __format__(self, form: str) -> str:
        if not form:
            return str(self.value)
        return format(self.value if self.type.is_integer else float(self.value), form)

    def __bool__(self) -> bool:
        return bool(self.value != 0)

    def __int__(self) -> int:
        return int(self.value)

    def __float__(self) -> float:
        return float(self.value)

    def __index__(self) -> int:
        if not self.type.is_integer:
            raise TypeError(f"{self!r} is not an integer")
        return int(self.value)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """Let NumPy's functions take the number, in a debugger for instance."""
        return np.asarray(self.numpy, dtype)

    def __hash__(self) -> int:
        return hash(self.value)

    @property
    def numpy(self) -> Any:
        """The number as a NumPy scalar."""
        return self.type.dtype.type(self.value)

    @property
    def dtype(self) -> Conversion:
        """The type, which converts when it is called."""
        return Conversion(class_of(type(self).rules), self.type)

    @property
    def real(self) -> Number:
        """The number itself."""
        return self

    def __neg__(self) -> Number:
        return self._own(operator.neg)

    def __pos__(self) -> Number:
        return self._own(operator.pos)

    def __invert__(self) -> Number:
        if not self.type.is_integer:
            raise TypeError(f"~ takes integers, not {self!r}")
        return self._own(operator.invert)

    def _own(self, compute: Callable[[Any], Any]) -> Number:
        if isinstance(self, WeakNumber):
            narrow = number_of(Number, self.type, compute(self.value))
            return WeakNumber(self.type, narrow.value, compute(self.exact))
        kind = self._kind_of_result
        made: Number = number_of(kind, self.type, compute(self.value))
        wider: Any = kind.rules.own_result(self.type)
        result: Number = convert(kind, wider, made)
        return result

    @property
    def _kind_of_result(self) -> type[Number]:
        return Number if type(self) is WeakNumber else type(self)

    def __abs__(self) -> Number:
        if isinstance(self, WeakNumber):
            return self._own(abs)
        result: Number = number_of(self._kind_of_result, self.type, abs(self.value))
        return result

    def __pow__(self, exponent: Any) -> Any:
        """Multiply in the order of binary powers, for a constant exponent."""
        if isinstance(exponent, int) and 0 <= exponent <= 64:
            return _power(self, exponent)
        raise TypeError("in a debugger only whole exponents of 0 to 64 can be computed")


class NumbaNumber(Number):
    """A number in a function with Numba's typing, where literals are i64 and f64."""

    __slots__ = ()
    rules: ClassVar[TypingRules] = NUMBA


class KnownNumber(Number):
    """A number that is known when a kernel is compiled: made of literals and such numbers alone."""

    __slots__ = ()


class WeakNumber(Number):
    """A number without a width of its own: it began as a literal before a loop, or is a float made
    of integers. It has 32 bits alone; exact is what it would be in 64, which 64-bit types take."""

    __slots__ = ("exact",)

    def __init__(self, type: Scalar, value: Any, exact: Literal) -> None:
        super().__init__(type, value)
        self.exact = exact


def class_of(rules: TypingRules) -> type[Number]:
    """Return the class of the numbers that follow a kernel's rules."""
    return Number if rules.has_weak_literals else NumbaNumber


def known_class(kind: type[Number], value: Any) -> type[Number]:
    """Return the class of a number that is made of a value."""
    is_known = kind is Number and (value.__class__ is KnownNumber or not isinstance(value, Number))
    return KnownNumber if is_known else kind


def with_rules(kind: type[Number], value: Any) -> Any:
    """Return a number under the rules of another function; other values as they are."""
    if isinstance(value, Number) and type(value).rules is not kind.rules:
        return kind(value.type, value.value)
    return value


def rounded(type: Scalar, value: Any) -> Any:
    """Return a number in the NumPy type of a float type, rounded once to the nearest."""
    if isinstance(value, int) and abs(value) > 2**53:
        # NumPy rounds Python's integers to f64 first.
        wide = np.uint64(value) if value >= 0 else np.int64(value)
        return wide.astype(type.dtype) if type.bits >= 32 else _odd(type, float(value))
    return _odd(type, value) if type is bf16 else type.dtype.type(value)


def _odd(type: Scalar, value: Any) -> Any:
    """Round by way of f32: where that is inexact its last bit is set, so that the second rounding
    does what a single one would."""
    wide = np.float64(value)
    narrow = np.float32(wide)
    if np.isfinite(narrow) and float(narrow) != float(wide) and not int(narrow.view(np.uint32)) & 1:
        narrow = np.nextafter(narrow, np.float32(np.inf if wide > narrow else -np.inf))
    return type.dtype.type(narrow)


def number_of(kind: type[Number], type: Scalar, value: Any) -> Any:
    """Return a value in a type: integers are cut to its width, floats rounded. A boolean is
    Python's own."""
    if type.is_integer:
        value = int(value)
        if not type.minimum <= value <= type.maximum:
            value &= (1 << type.bits) - 1
            value -= (1 << type.bits) if value > type.maximum else 0
        return kind(type, value)
    if type is boolean:
        return bool(value)
    return kind(type, value if value.__class__ is type.dtype.type else rounded(type, value))


def of_numpy(kind: type[Number], value: np.generic) -> Any:
    """Return a NumPy scalar as a number of its type; NotSimulatedError for those of no type of the
    kernel language's numbers."""
    found = from_dtype(value.dtype)
    if found is None:
        raise NotSimulatedError(f"a number of NumPy's type {value.dtype}")
    if found is boolean:
        return bool(value)
    return kind(found, int(value) if found.is_integer else value)


def convert(kind: type[Number], target: Scalar, x: Any) -> Any:
    """Convert on request, as `f16(x)` does."""
    if isinstance(x, Number):
        if x.type is target:
            return x if type(x) is kind else kind(target, x.value)
        x = x.exact if isinstance(x, WeakNumber) and target.bits == 64 else x.value
    elif isinstance(x, np.generic):
        x = x.item() if from_dtype(x.dtype) is not None else x
    elif isinstance(x, str):
        x = float(x) if target.is_float else int(x)
    if not isinstance(x, (int, float, np.generic)):
        raise TypeError(f"{x!r} cannot be converted to {target}: convert a number")
    if target.is_integer and not isinstance(x, int):
        return kind(target, _to_integer(target, float(x)))
    if target is boolean:
        return bool(x != 0)
    return number_of(kind, target, x)


def _to_integer(target: Scalar, value: float) -> int:
    if math.isnan(value):
        return 0
    if math.isinf(value):
        return target.maximum if value > 0 else target.minimum
    return min(max(int(value), target.minimum), target.maximum)


def scalar_type(rules: TypingRules, x: Any) -> Scalar:
    """Return the type of a number, or that of a literal alone."""
    if isinstance(x, Number):
        return x.type
    found = rules.default_type(x)
    if found is None:
        raise OverflowError(f"no type of the kernel language holds {x}")
    return found


def pair(kind: type[Number], symbol: str, x: Any, y: Any) -> tuple[Any, Any]:
    """Bring two operands to the type in which an operator works on both."""
    target = _common(kind.rules, symbol, x, y)
    if target is None:
        raise TypeError(
            f"`{symbol}` of {x!r} and {y!r}: their types have none in common; convert one of them"
        )
    return _operand(kind, target, x), _operand(kind, target, y)


def _common(rules: TypingRules, symbol: str, x: Any, y: Any) -> Scalar | None:
    if rules.has_weak_literals:
        if not isinstance(x, Number):
            return rules.literal_type(x, y.type)
        if not isinstance(y, Number):
            return rules.literal_type(y, x.type)
        if x.type is y.type:
            return x.type
        for weak, other in ((x, y), (y, x)):
            if weak.__class__ is WeakNumber and weak.type is f32 and other.type in (i64, u64):
                return f64  # as for a literal
    found = rules.operand_type(symbol, scalar_type(rules, x), scalar_type(rules, y))
    return found if isinstance(found, Scalar) else None


def _operand(kind: type[Number], target: Scalar, side: Any) -> Any:
    if target is boolean:
        return bool(side)
    if not isinstance(side, Number) and not literal_fits(side, target):
        raise OverflowError(f"the number {side} does not fit {target}, the other operand's type")
    return convert(kind, target, side)


Compute = Callable[[Any, Any], Any]


def _are_mixed(kind: type[Number], x: Any, y: Any) -> bool:
    """Whether one operand is a u64 and the other one signed, which have no type in common."""
    if not kind.rules.has_weak_literals:
        return False
    both = isinstance(x, Number) and isinstance(y, Number)
    return both and u64 in (x.type, y.type) and (x.type.is_signed or y.type.is_signed)


def _arithmetic(symbol: str, integers: Compute, floats: Compute) -> Callable[..., Any]:
    def apply(kind: type[Number], x: Any, y: Any) -> Any:
        if _are_mixed(kind, x, y):
            return number_of(kind, u64, integers(x.value, y.value))
        x, y = _numbers(kind, *pair(kind, symbol, x, y))
        if x.type.is_float:
            return kind(x.type, floats(x.value, y.value))
        return number_of(kind, x.type, integers(x.value, y.value))

    return apply


def _numbers(kind: type[Number], x: Any, y: Any) -> tuple[Any, Any]:
    """Booleans are computed as integers."""
    if isinstance(x, bool):
        own = kind.rules.integer
        return kind(own, int(x)), kind(own, int(y))
    return x, y


def _down(compute: Compute) -> Compute:
    return lambda x, y: compute(x, y) if y else 0


def _divide(kind: type[Number], x: Any, y: Any) -> Any:
    if _are_mixed(kind, x, y):
        target = f64
    else:
        x, y = _numbers(kind, *pair(kind, "/", x, y))
        target = x.type if x.type.is_float else kind.rules.quotient_type(x.type)
    return kind(target, np.divide(convert(kind, target, x).value, convert(kind, target, y).value))


def _bits(symbol: str, compute: Compute) -> Callable[..., Any]:
    def apply(kind: type[Number], x: Any, y: Any) -> Any:
        if _are_mixed(kind, x, y):
            return number_of(kind, u64, compute(x.value, y.value))
        x, y = pair(kind, symbol, x, y)
        if isinstance(x, bool):
            return compute(x, y)
        if x.type.is_float:
            raise TypeError(f"`{symbol}` takes integers, not {x!r} and {y!r}")
        return number_of(kind, x.type, compute(x.value, y.value))

    return apply


def _shift(symbol: str, compute: Callable[[int, int, int], int]) -> Callable[..., Any]:
    def apply(kind: type[Number], x: Any, y: Any) -> Any:
        if isinstance(x, Number) and isinstance(y, Number) and kind.rules.has_weak_literals:
            # A count of 64 bits is compared with the width in these.
            is_wide = x.__class__ is WeakNumber and y.type.bits == 64
            left, count = wide(x) if is_wide else x, y
        else:
            left, count = _numbers(kind, *pair(kind, symbol, x, y))
        if left.type.is_float:
            raise TypeError(f"`{symbol}` takes integers, not {x!r} and {y!r}")
        return number_of(kind, left.type, compute(left.value, int(count), left.type.bits))

    return apply


def _shifted_left(x: int, count: int, bits: int) -> int:
    return x << count if 0 <= count < bits else 0


def _shifted_right(x: int, count: int, bits: int) -> int:
    return x >> (count if 0 <= count < bits else bits)


def _comparison(symbol: str, compute: Compute) -> Callable[..., Any]:
    def apply(kind: type[Number], x: Any, y: Any) -> bool:
        types = [scalar_type(kind.rules, side) for side in (x, y)]
        if not any(type.is_float for type in types):
            return bool(compute(_beside(x, types[1]), _beside(y, types[0])))
        x, y = pair(kind, symbol, x, y)
        return bool(compute(x.value, y.value))

    return apply


def _beside(x: Any, other: Scalar) -> int:
    """Return an integer as it is beside a number of a type."""
    return int(x.exact if x.__class__ is WeakNumber and other.bits == 64 else x)


def _power(x: Number, exponent: int) -> Any:
    kind = x._kind_of_result
    result: Any = None
    base: Any = x
    while exponent:
        if exponent & 1:
            result = base if result is None else result * base
        exponent >>= 1
        base = base * base if exponent else base
    return number_of(kind, x.type, 1) if result is None else result


_OPERATORS: dict[str, Callable[..., Any]] = {
    "add": _arithmetic("+", operator.add, operator.add),
    "sub": _arithmetic("-", operator.sub, operator.sub),
    "mul": _arithmetic("*", operator.mul, operator.mul),
    "floordiv": _arithmetic("//", _down(operator.floordiv), np.floor_divide),
    "mod": _arithmetic("%", _down(operator.mod), np.remainder),
    "truediv": _divide,
    "and": _bits("&", operator.and_),
    "or": _bits("|", operator.or_),
    "xor": _bits("^", operator.xor),
    "lshift": _shift("<<", _shifted_left),
    "rshift": _shift(">>", _shifted_right),
}
_COMPARISONS = {
    name: _comparison(symbol, getattr(operator, name))
    for name, symbol in (
        ("lt", "<"), ("le", "<="), ("eq", "=="), ("ne", "!="), ("gt", ">"), ("ge", ">="),
    )
}  # fmt: skip


def _method(name: str, apply: Callable[..., Any], swaps: bool) -> Callable[[Any, Any], Any]:
    def method(self: Any, other: Any) -> Any:
        if isinstance(other, complex):
            raise NotSimulatedError("arithmetic with complex numbers")
        if isinstance(other, np.generic):
            other = of_numpy(type(self), other)
        if not isinstance(other, (Number, int, float)):
            return NotImplemented
        x, y = (other, self) if swaps else (self, other)
        kind = self.__class__
        if kind.rules is not AMDJIT:
            return apply(kind, x, y)
        if kind is KnownNumber and (
            other.__class__ is KnownNumber or not isinstance(other, Number)
        ):
            return apply(KnownNumber, x, y)
        return _weak(name, apply, x, y) if name in _OPERATORS else apply(Number, x, y)

    return method


def _weak(name: str, apply: Callable[..., Any], x: Any, y: Any) -> Any:
    weak = list(map(_is_weak, (x, y)))
    if any(weak) and not all(weak) and name in _MODULAR:
        x, y = _taken(x, y), _taken(y, x)
    if name not in _SHIFTS:
        return weakly(apply, x, y)
    narrow = apply(Number, x, y)
    if not weak[0] or narrow.type is not i32:
        return narrow
    exact = apply(Number, wide(x), convert(Number, i64, y))
    return WeakNumber(i32, narrow.value, exact.value)


def weakly(apply: Callable[..., Any], x: Any, y: Any) -> Any:
    """Compute in the common type; of numbers without a width in 64 bits, too."""
    narrow = apply(Number, x, y)
    if not isinstance(narrow, Number) or narrow.type.bits != 32:
        return narrow
    weak = [
        _is_weak(each) or (narrow.type.is_float and each.type.is_integer and each.type.bits <= 32)
        for each in (x, y)
    ]
    if not all(weak):
        return narrow
    exact = apply(Number, wide(x), wide(y))
    value = float(exact.value) if exact.type.is_float else exact.value
    return WeakNumber(narrow.type, narrow.value, value)


def _is_weak(x: Any) -> bool:
    return not isinstance(x, Number) or x.__class__ is WeakNumber


def _taken(x: Any, other: Any) -> Any:
    """A weak integer takes the unsigned type that it meets, as a literal does."""
    is_taken = x.__class__ is WeakNumber and (x.type, other.type) in ((i32, u32), (i32, u64))
    return convert(Number, other.type, x) if is_taken else x


def wide(x: Any) -> Number:
    """Return a number in 64 bits."""
    exact = x.exact if x.__class__ is WeakNumber else x.value if isinstance(x, Number) else x
    is_float = isinstance(exact, (float, np.floating))
    return convert(Number, f64 if is_float else i64, exact)  # type: ignore[no-any-return]


_MODULAR = frozenset(("add", "sub", "mul", "and", "or", "xor"))
_SHIFTS = frozenset(("lshift", "rshift"))

for _name, _apply in _OPERATORS.items():
    setattr(Number, f"__{_name}__", _method(_name, _apply, False))
    setattr(Number, f"__r{_name}__", _method(_name, _apply, True))
for _name, _apply in _COMPARISONS.items():
    setattr(Number, f"__{_name}__", _method(_name, _apply, False))


class TypeValue:
    """A type as a value in a simulated kernel: equal to the type. kind: of the numbers there."""

    __slots__ = ("kind", "type")

    def __init__(self, kind: type[Number], type: Any) -> None:
        self.kind, self.type = kind, type

    def __eq__(self, other: object) -> bool:
        return bool(self.type == (other.type if isinstance(other, TypeValue) else other))

    def __hash__(self) -> int:
        return hash(self.type)

    def __repr__(self) -> str:
        return repr(self.type)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.type, name)


class Conversion(TypeValue):
    """A scalar type; called it converts."""

    __slots__ = ()

    def __call__(self, value: Any = 0) -> Any:
        """Convert a number."""
        return convert(known_class(self.kind, value), self.type, value)
