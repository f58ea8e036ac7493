"""Vectors of a simulated kernel: a few numbers of one type, a value like a number."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from amdjit.simulating.numbers import Number, TypeValue, class_of, convert, number_of
from amdjit.types import Scalar, Vector

__all__ = ["VectorConversion", "VectorValue", "bits_as", "made_vector"]


class VectorValue:
    """The elements of a vector. It never changes: an assignment to an element makes another one."""

    __slots__ = ("elements", "type")
    __array_ufunc__ = None

    def __init__(self, type: Vector, elements: Sequence[Number]) -> None:
        self.type, self.elements = type, tuple(elements)

    def __repr__(self) -> str:
        return f"{self.type}({', '.join(map(str, self.elements))})"

    def __len__(self) -> int:
        return self.type.length

    def __iter__(self) -> Iterator[Number]:
        return iter(self.elements)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            chosen = self.elements[index]
            return VectorValue(Vector(self.type.element, len(chosen)), chosen)
        return self.elements[operator.index(index)]

    def replaced(self, index: Any, value: Any) -> VectorValue:
        """Return the vector with another element."""
        elements = list(self.elements)
        elements[operator.index(index)] = convert(type(elements[0]), self.type.element, value)
        return VectorValue(self.type, elements)

    @property
    def numpy(self) -> Any:
        """The elements as a NumPy array."""
        return np.array([each.value for each in self.elements], self.type.element.dtype)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.asarray(self.numpy, dtype)

    def _each(self, other: Any, compute: Callable[[Any, Any], Any]) -> Any:
        others = other.elements if isinstance(other, VectorValue) else [other] * len(self)
        if len(others) != len(self):
            raise TypeError(f"{self!r} and {other!r} have different lengths")
        parts = [compute(a, b) for a, b in zip(self.elements, others, strict=True)]
        return VectorValue(Vector(parts[0].type, len(parts)), parts)

    def __neg__(self) -> VectorValue:
        return VectorValue(self.type, [-each for each in self.elements])

    def __pos__(self) -> VectorValue:
        return self

    def __invert__(self) -> VectorValue:
        return VectorValue(self.type, [~each for each in self.elements])

    def __abs__(self) -> VectorValue:
        return VectorValue(self.type, [abs(each) for each in self.elements])

    def __pow__(self, exponent: Any) -> VectorValue:
        return VectorValue(self.type, [each**exponent for each in self.elements])


def _method(compute: Callable[[Any, Any], Any], swaps: bool) -> Callable[[Any, Any], Any]:
    def method(self: VectorValue, other: Any) -> Any:
        if not isinstance(other, (VectorValue, Number, int, float, np.generic)):
            return NotImplemented
        return self._each(other, (lambda a, b: compute(b, a)) if swaps else compute)

    return method


for _name in ("add", "sub", "mul", "floordiv", "mod", "truediv", "and_", "or_", "xor", "lshift",
              "rshift"):  # fmt: skip
    _plain = _name.rstrip("_")
    setattr(VectorValue, f"__{_plain}__", _method(getattr(operator, _name), False))
    setattr(VectorValue, f"__r{_plain}__", _method(getattr(operator, _name), True))


def made_vector(kind: type[Number], type: Vector, values: Sequence[Any]) -> VectorValue:
    """Return `f32x4()` of zeros, `f32x4(x)`, `f32x4(v)` converted, or `f32x4(a, b, c, d)`."""
    if len(values) == 1 and isinstance(values[0], (tuple, VectorValue)):
        values = tuple(values[0])
    if len(values) < 2:
        values = [values[0] if values else 0] * type.length
    if len(values) != type.length:
        raise TypeError(f"{type} takes no value, one, or {type.length}; {len(values)} were given")
    return VectorValue(type, [convert(kind, type.element, each) for each in values])


def bits_as(value: Number | VectorValue, target: Scalar | Vector) -> Any:
    """Return the bits of a number or vector read as another type of the same size."""
    if not isinstance(value, (Number, VectorValue)):
        raise TypeError(f"bitcast takes a typed number or vector, not {value!r}")
    content = value.numpy.tobytes()
    if len(content) != target.nbytes:
        raise TypeError(f"bitcast({value!r}, {target}): the sizes differ")
    kind = type(value) if isinstance(value, Number) else type(value.elements[0])
    kind = class_of(kind.rules)
    if isinstance(target, Vector):
        items = np.frombuffer(content, target.element.dtype)
        return VectorValue(target, [number_of(kind, target.element, each) for each in items])
    return number_of(kind, target, np.frombuffer(content, target.dtype)[0])


class VectorConversion(TypeValue):
    """A vector type; called it makes a vector."""

    __slots__ = ()

    def __call__(self, *values: Any) -> VectorValue:
        """Make a vector."""
        return made_vector(self.kind, self.type, values)
