"""The documented meaning of what has parts: arrays, vectors, complex numbers, records."""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from amdjit.types import SCALARS, Scalar, Vector, f64, i16, i32, i64
from tests.fuzz.documented_meaning import BINARY, Number, convert, extreme, of
from tests.fuzz.program_types import COMPLEX, VECTORS, ComplexType


class Conversion:
    """A type called in a kernel."""

    def __init__(self, type: Scalar) -> None:
        self.type = type

    def __call__(self, x: Any) -> Number:
        return convert(self.type, x)


class Array:
    """An array of numbers."""

    def __init__(self, type: Scalar, values: np.ndarray[Any, Any]) -> None:
        self.type, self.values = type, values

    def __getitem__(self, index: Any) -> Number:
        return Number(self.type, self.values[_plain(index)])

    def __setitem__(self, index: Any, value: Any) -> None:
        self.values[_plain(index)] = convert(self.type, value).value


def _plain(index: Any) -> int | tuple[int, ...]:
    return tuple(map(operator.index, index)) if isinstance(index, tuple) else operator.index(index)


class VectorValue:
    """A vector. An element is assigned in a copy: names do not share a vector."""

    def __init__(self, type: Vector, items: tuple[Number, ...]) -> None:
        self.type, self.items = type, items

    def __getitem__(self, index: Any) -> Number:
        return self.items[operator.index(index)]

    def replaced(self, index: Any, value: Any) -> VectorValue:
        """Return this vector with another element."""
        items = list(self.items)
        items[operator.index(index)] = convert(self.type.element, value)
        return VectorValue(self.type, tuple(items))

    def each(
        self, other: Any, compute: Callable[[Any, Any], Any], swap: bool = False
    ) -> VectorValue:
        """Compute element by element, with a number beside every element."""
        others = other.items if isinstance(other, VectorValue) else (other,) * len(self.items)
        pairs = (
            zip(others, self.items, strict=True) if swap else zip(self.items, others, strict=True)
        )
        element = self.type.element
        return VectorValue(
            self.type,
            tuple(
                convert(element, compute(_typed(element, a), _typed(element, b))) for a, b in pairs
            ),
        )

    def __abs__(self) -> VectorValue:
        return VectorValue(self.type, tuple(abs(item) for item in self.items))  # type: ignore[arg-type]

    def __neg__(self) -> VectorValue:
        return VectorValue(self.type, tuple(-item for item in self.items))  # type: ignore[operator]


def _typed(element: Scalar, value: Any) -> Number:
    return convert(element, value)


def _on_each(
    compute: Callable[[Any, Any], Any], swap: bool
) -> Callable[[VectorValue, Any], VectorValue]:
    return lambda vector, other: vector.each(other, compute, swap)


for _name, _function in BINARY.items():
    setattr(VectorValue, f"__{_name}__", _on_each(_function, False))
    setattr(VectorValue, f"__r{_name}__", _on_each(_function, True))


class MakeVector:
    """A vector type called in a kernel."""

    def __init__(self, type: Vector) -> None:
        self.type = type

    def __call__(self, *values: Any) -> VectorValue:
        if len(values) == 1:
            values = (
                values[0].items if isinstance(values[0], VectorValue) else values * self.type.length
            )
        return VectorValue(self.type, tuple(convert(self.type.element, value) for value in values))


def _shuffle(left: VectorValue, right: VectorValue, picks: tuple[int, ...]) -> VectorValue:
    items = (*left.items, *right.items)
    return VectorValue(left.type, tuple(items[pick] for pick in picks))


class Complex:
    """A complex number: two floats of one type."""

    def __init__(self, type: ComplexType, real: Any, imag: Any) -> None:
        self.type = type
        self.real, self.imag = convert(type.part, real), convert(type.part, imag)

    def __bool__(self) -> bool:
        return bool(self.real) or bool(self.imag)

    def __neg__(self) -> Complex:
        return Complex(self.type, -self.real, -self.imag)  # type: ignore[operator]

    def __pos__(self) -> Complex:
        return self

    def conjugate(self) -> Complex:
        return Complex(self.type, self.real, -self.imag)  # type: ignore[operator]

    @property
    def numpy(self) -> Any:
        """This number as NumPy has it."""
        result = np.zeros(1, self.type.name)
        result.real, result.imag = self.real.value, self.imag.value
        return result


def _both(x: Any, y: Any) -> tuple[Complex, Complex]:
    wide = any(
        side.type is f64 or side.type == COMPLEX[1]
        for side in (x, y)
        if isinstance(side, (Number, Complex))
    )
    type = COMPLEX[wide]
    return to_complex(type, x), to_complex(type, y)


def to_complex(type: ComplexType, value: Any) -> Complex:
    """Convert to a complex type; a real number gets the imaginary part 0."""
    if isinstance(value, (Complex, complex)):
        return Complex(type, value.real, value.imag)
    return Complex(type, value, 0)


def _product(x: Any, y: Any) -> tuple[Any, Any]:
    return x.real * y.real - x.imag * y.imag, x.real * y.imag + x.imag * y.real


def _quotient(x: Complex, y: Complex) -> tuple[Any, Any]:
    result = x.numpy / y.numpy
    return Number(x.type.part, result.real[0]), Number(x.type.part, result.imag[0])


_COMPLEX: dict[str, Callable[[Any, Any], tuple[Any, Any]]] = {
    "add": lambda x, y: (x.real + y.real, x.imag + y.imag),
    "sub": lambda x, y: (x.real - y.real, x.imag - y.imag),
    "mul": _product,
    "truediv": _quotient,
}


def _complex(
    compute: Callable[[Any, Any], tuple[Any, Any]], swap: bool
) -> Callable[[Any, Any], Complex]:
    def apply(x: Any, y: Any) -> Complex:
        x, y = _both(y, x) if swap else _both(x, y)
        return Complex(x.type, *compute(x, y))

    return apply


for _name, _parts in _COMPLEX.items():
    setattr(Complex, f"__{_name}__", _complex(_parts, False))
    setattr(Complex, f"__r{_name}__", _complex(_parts, True))


def _equal(x: Any, y: Any) -> Any:
    x, y = _both(x, y)
    return (x.real == y.real) & (x.imag == y.imag)


Complex.__eq__ = _equal  # type: ignore[assignment]
Complex.__ne__ = lambda x, y: _equal(x, y) ^ True  # type: ignore[assignment]
Complex.__hash__ = None  # type: ignore[assignment]


def _make_complex(real: Any, imag: Any) -> Complex:
    wide = any(isinstance(part, Number) and part.type is f64 for part in (real, imag))
    return Complex(COMPLEX[wide], real, imag)


def record(cls: type) -> type:
    """Make a frozen dataclass whose fields convert to the types that they are annotated with."""

    def convert_fields(self: Any) -> None:
        for name, annotation in cls.__annotations__.items():
            if isinstance(annotation, (Conversion, MakeVector)):
                object.__setattr__(self, name, annotation(getattr(self, name)))

    cls.__post_init__ = convert_fields  # type: ignore[attr-defined]
    return dataclasses.dataclass(frozen=True, eq=False)(cls)


def _bitcast(x: Number, target: Conversion) -> Number:
    return Number(target.type, x.value.view(target.type.dtype))


def _counted(*bounds: Any) -> Iterator[Number]:
    rounds = range(*(int(operator.index(bound)) for bound in bounds))
    # The number of a round has no width where the bounds have none.
    return (
        rounds if all(isinstance(bound, int) for bound in bounds) else (of(i32, k) for k in rounds)
    )


class _Memory:
    def array(self, shape: int | tuple[int, ...], type: Conversion) -> Array:
        return Array(type.type, np.zeros(shape, type.type.dtype))


NAMES: dict[str, Any] = {
    **{str(type): Conversion(type) for type in SCALARS},
    **{str(type): MakeVector(type) for type in VECTORS},
    "complex": _make_complex,
    "complex64": lambda x: to_complex(COMPLEX[0], x),
    "complex128": lambda x: to_complex(COMPLEX[1], x),
    "min": extreme(True),
    "max": extreme(False),
    "bitcast": _bitcast,
    "range": _counted,
    "static_range": range,
    "local": _Memory(),
    "shared": _Memory(),
    "shuffle": _shuffle,
    "replace": dataclasses.replace,
    "record": record,
    "put": VectorValue.replaced,
    "LAST": of(i64, -1),
    "TWO": of(i16, 2),
    "THREE": 3,
    "device_function": lambda inline: lambda function: function,
}
"""What the names of a kernel mean here."""
