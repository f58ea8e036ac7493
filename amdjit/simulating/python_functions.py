"""What Python's own functions are in a simulated kernel: those that make or ask numbers."""

from __future__ import annotations

import builtins
import math
import operator
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from amdjit.frontend.values.promotion import common_scalar
from amdjit.language.type_classes import TypeClass
from amdjit.simulating.arrays import KernelArray, VectorArray
from amdjit.simulating.not_simulated import NotSimulatedError
from amdjit.simulating.numbers import (
    Conversion,
    KnownNumber,
    Number,
    WeakNumber,
    convert,
    number_of,
    pair,
    scalar_type,
    weakly,
)
from amdjit.simulating.vectors import VectorConversion, VectorValue
from amdjit.types import Scalar, Type, boolean, f64, from_dtype, i32, i64, u64

__all__ = ["Counted", "StaticItems", "functions_of", "kernel_type_of"]


class StaticItems(tuple[Any, ...]):
    """The numbers of `static_range(...)`: a loop over them is one that is unrolled."""

    __slots__ = ()


class Counted:
    """A `range(...)` of typed numbers."""

    def __init__(self, numbers: range, kind: type[Number], type: Scalar, is_weak: bool) -> None:
        self.numbers = numbers
        self._kind, self._type, self._is_weak = kind, type, is_weak

    def __iter__(self) -> Iterator[Any]:
        kind, type = self._kind, self._type
        if self._is_weak:
            return (WeakNumber(type, each, each) for each in self.numbers)
        return (kind(type, each) for each in self.numbers)

    def __reversed__(self) -> Iterator[Any]:
        return iter(Counted(self.numbers[::-1], self._kind, self._type, self._is_weak))

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, index: Any) -> Any:
        return self._kind(self._type, self.numbers[operator.index(index)])

    def __contains__(self, item: object) -> bool:
        return item in self.numbers

    def __repr__(self) -> str:
        return repr(self.numbers)


def _range(kind: type[Number], *bounds: Any) -> Counted:
    numbers = range(*map(_whole, bounds))
    typed = [each.type for each in bounds if isinstance(each, Number)]
    own = [scalar_type(kind.rules, each) for each in bounds]
    chosen = kind.rules.range_type(own)
    if chosen is None:
        chosen = (typed or own)[0]
        for other in (typed or own)[1:]:
            chosen = common_scalar(chosen, other) or i64
        # A range counts in no less than 32 bits.
        chosen = chosen if chosen.bits >= i32.bits else i32
    strong = [each for each in bounds if isinstance(each, Number) and type(each) is not WeakNumber]
    is_weak = kind.rules.has_weak_literals and not strong
    return Counted(numbers, kind, chosen, is_weak)


def _whole(bound: Any) -> int:
    return int(bound) if isinstance(bound, Number) else operator.index(bound)


def _length(kind: type[Number], items: Any) -> Any:
    return items.shape[0] if isinstance(items, (KernelArray, VectorArray)) else len(items)


def _enumerate(kind: type[Number], items: Any, start: Any = 0) -> Any:
    if isinstance(items, tuple):
        return tuple(enumerate(items, operator.index(start)))
    return zip(_range(kind, start, i64.maximum), items, strict=False)


def _int(kind: type[Number], value: Any = 0) -> Any:
    if not isinstance(value, Number):
        return int(value)
    if not kind.rules.has_weak_literals:
        return convert(kind, value.type if value.type.is_integer else kind.rules.integer, value)
    if value.__class__ is KnownNumber and value.type.is_integer:
        return value.value
    if value.type is i32:
        return value
    whole = convert(kind, i64, value).value
    return WeakNumber(i32, convert(kind, i32, value).value, whole)


def _float(kind: type[Number], value: Any = 0.0) -> Any:
    if not isinstance(value, Number):
        return float(value)
    if not kind.rules.has_weak_literals and value.type.is_float:
        return value
    if value.type is kind.rules.floating:
        return value
    made = convert(kind, kind.rules.floating, value)
    if not kind.rules.has_weak_literals:
        return made
    return WeakNumber(made.type, made.value, convert(kind, f64, value).value.item())


def _complex(python: Any) -> Callable[..., Any]:
    """Return what makes a complex number: of literals alone the host does."""

    def make(kind: type[Number], *parts: Any) -> Any:
        if any(isinstance(part, Number) for part in parts):
            raise NotSimulatedError(f"{python.__name__}(...) of a kernel's numbers")
        return python(*parts)

    return make


def _extreme(is_least: bool) -> Callable[..., Any]:
    of_literals: Any = min if is_least else max

    def choose(kind: type[Number], *items: Any) -> Any:
        if len(items) == 1:
            items = tuple(items[0])
        result = items[0]
        for item in _of_one_type(kind, items)[1:] if len(items) > 2 else items[1:]:
            result = _lesser(kind, result, item)
        return result

    def _lesser(kind: type[Number], x: Any, y: Any) -> Any:
        if isinstance(x, VectorValue) or isinstance(y, VectorValue):
            owner, other = (x, y) if isinstance(x, VectorValue) else (y, x)
            return owner._each(other, partial(choose, kind))
        if not isinstance(x, Number) and not isinstance(y, Number):
            return of_literals(x, y)
        types = [scalar_type(kind.rules, each) for each in (x, y)]
        both = isinstance(x, Number) and isinstance(y, Number)
        if both and u64 in types and any(each.is_signed for each in types):
            return number_of(kind, i64 if is_least else u64, of_literals(int(x), int(y)))
        if kind is Number:
            return weakly(in_common_type, x, y)
        return in_common_type(kind, x, y)

    def in_common_type(kind: type[Number], x: Any, y: Any) -> Any:
        return _chosen(*pair(kind, "min", x, y), is_least)

    return choose


def _of_one_type(kind: type[Number], items: tuple[Any, ...]) -> tuple[Any, ...]:
    """Several numbers convert at once to the float type that all have in common."""
    types = [each.type for each in items if isinstance(each, Number)]
    types.sort(key=lambda each: not each.is_float)
    if not types or not types[0].is_float:
        return items
    target: Any = types[0]
    for other in types[1:]:
        target = common_scalar(target, other)
    return tuple(convert(kind, target, x) if isinstance(x, Number) else x for x in items)


def _chosen(x: Any, y: Any, is_least: bool) -> Any:
    if isinstance(x, bool):
        return (x and y) if is_least else (x or y)
    if x.type.is_float and (math.isnan(x.value) or math.isnan(y.value)):
        return type(x)(x.type, x.type.dtype.type(math.nan))
    if x.value == y.value:
        first = bool(np.signbit(x.value)) is is_least if x.type.is_float else True
        return x if first else y
    return x if (x.value < y.value) == is_least else y


def kernel_type_of(value: Any) -> Any:
    """Return what `type(x)` is in a kernel."""
    if isinstance(value, (Number, KernelArray)):
        return value.dtype if isinstance(value, Number) else value.kernel_type
    if isinstance(value, VectorValue):
        return VectorConversion(type(value.elements[0]), value.type)
    return type(value)


def _type(kind: type[Number], value: Any) -> Any:
    return kernel_type_of(value)


def _is_instance(kind: type[Number], value: Any, kinds: Any) -> bool:
    return any(_is_a(value, each) for each in _alternatives(kinds))


def _alternatives(kinds: Any) -> tuple[Any, ...]:
    if isinstance(kinds, tuple):
        return tuple(inner for kind in kinds for inner in _alternatives(kind))
    return typing.get_args(kinds) if isinstance(kinds, types.UnionType) else (kinds,)


def _is_a(value: Any, kind: Any) -> bool:
    kind = _PYTHONS.get(getattr(kind, "func", None), kind)
    kind = kind.type if isinstance(kind, (Conversion, VectorConversion)) else kind
    own = getattr(value, "kernel_type", None) or getattr(value, "type", None)
    if isinstance(kind, TypeClass):
        return isinstance(own, kind)
    if not isinstance(own, Type):
        if isinstance(value, bool):
            return kind in (bool, int, boolean, np.bool_)
        return isinstance(kind, type) and isinstance(value, kind)
    if isinstance(kind, Type):
        return own == kind
    if not isinstance(own, Scalar):
        return False
    if kind in (int, np.integer):
        return own.is_integer
    if kind in (float, np.floating):
        return own.is_float
    is_numpys = isinstance(kind, type) and issubclass(kind, np.generic)
    return is_numpys and from_dtype(np.dtype(kind)) == own


_PYTHONS: Mapping[Any, type] = {_int: int, _float: float}

_OF_NUMPY: Mapping[Any, Callable[..., Any]] = {
    np.add: operator.add, np.subtract: operator.sub, np.multiply: operator.mul,
    np.divide: operator.truediv, np.floor_divide: operator.floordiv, np.remainder: operator.mod,
    np.bitwise_and: operator.and_, np.bitwise_or: operator.or_, np.bitwise_xor: operator.xor,
    np.left_shift: operator.lshift, np.right_shift: operator.rshift, np.equal: operator.eq,
    np.not_equal: operator.ne, np.less: operator.lt, np.less_equal: operator.le,
    np.greater: operator.gt, np.greater_equal: operator.ge, np.negative: operator.neg,
    np.positive: operator.pos, np.invert: operator.invert, np.logical_not: operator.not_,
    np.absolute: abs,
}  # fmt: skip


def functions_of(kind: type[Number]) -> dict[Any, Callable[..., Any]]:
    """Return what Python's and NumPy's functions are under a kernel's rules."""
    own: dict[Any, Callable[..., Any]] = {
        range: _range,
        len: _length,
        enumerate: _enumerate,
        int: _int,
        float: _float,
        **{each: _complex(each) for each in (complex, np.complex64, np.complex128)},
        builtins.min: _extreme(True),
        builtins.max: _extreme(False),
        np.minimum: _extreme(True),
        np.maximum: _extreme(False),
        isinstance: _is_instance,
        type: _type,
    }
    return {**_OF_NUMPY, **{each: partial(function, kind) for each, function in own.items()}}
