"""Python's numbers among the arguments of a launch, and what is computed from them alone.

Python's int and float have no width: like a literal, such a number takes the type of the other
operand at each use. Its value is known when the kernel is launched. So the host computes what
depends on such numbers alone, exactly as Python does, checks that each result fits the type in
which the kernel uses it, and passes it as a parameter of that type.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import field
from types import MappingProxyType
from typing import Any

from amdjit.diagnostics import LaunchError
from amdjit.diagnostics.notebooks import shown_file
from amdjit.diagnostics.span import Span
from amdjit.late_methods import dataclass
from amdjit.types import Scalar, Type, boolean, f32, f64, i32, i64

__all__ = [
    "NO_WIDTHS",
    "NUMBA_WIDTHS",
    "PYTHON_FLOAT",
    "PYTHON_INT",
    "LaunchNumber",
    "LaunchUse",
    "PythonNumber",
    "TooWideError",
    "least_overflow",
    "python_number",
]


@dataclass(frozen=True, slots=True)
class PythonNumber(Type):
    """The type of an argument that is a Python float, or a Python int that fits an i32."""

    kind: type[int] | type[float]

    def __str__(self) -> str:
        return self.kind.__name__


PYTHON_INT, PYTHON_FLOAT = PythonNumber(int), PythonNumber(float)
NO_WIDTHS: Mapping[Type, Scalar] = MappingProxyType({})
# With Numba's typing each has a type of its own.
NUMBA_WIDTHS: Mapping[Type, Scalar] = MappingProxyType({PYTHON_INT: i64, PYTHON_FLOAT: f64})


def python_number(kind: object) -> PythonNumber | None:
    """Return the type that Python's `int` or `float` stands for, None for anything else."""
    return PYTHON_INT if kind is int else PYTHON_FLOAT if kind is float else None


@dataclass(frozen=True, slots=True)
class LaunchNumber:
    """A number that is known at the launch: an argument, a constant, or computed from others.

    text: the number as it is written, which identifies it. kind: bool, int or float.
    """

    text: str
    kind: type
    compute: Callable[..., Any] | None = field(default=None, compare=False, repr=False)
    operands: tuple[LaunchNumber, ...] = field(default=(), compare=False, repr=False)

    @property
    def alone(self) -> Scalar:
        """The type that the number has where no operand decides it."""
        return boolean if self.kind is bool else i32 if self.kind is int else f32

    @property
    def parameters(self) -> frozenset[str]:
        """The names of the arguments that the number depends on."""
        if self.compute is None:
            return frozenset({self.text})
        return frozenset(name for operand in self.operands for name in operand.parameters)

    def value(self, arguments: Mapping[str, Any]) -> Any:
        """Compute the number from the arguments by name."""
        if self.compute is None:
            return arguments[self.text]
        values = [operand.value(arguments) for operand in self.operands]
        try:
            return self.compute(*values)
        except (TypeError, AttributeError) as problem:
            # Python's own for a power with a negative exponent, which is a float.
            raise LaunchError(f"`{self.text}` of {values}: {problem}") from problem


class TooWideError(LaunchError):
    """An integer that the kernel uses as an i32 does not fit one: it could be an i64."""


@dataclass(frozen=True, slots=True)
class LaunchUse:
    """A number of the launch that is passed as a parameter of this type.

    span: where the kernel first uses the number as this type.
    """

    number: LaunchNumber
    type: Scalar
    span: Span = field(compare=False)

    def argument(self, kernel: str, arguments: Mapping[str, Any]) -> Any:
        """Return the value to pass. LaunchError if it does not fit the type."""
        value = self.number.value(arguments)
        if self.type.is_float:
            return self._float(kernel, value)
        if self.type is boolean:
            return bool(value)
        if isinstance(value, float) and self.number.kind is int and not value.is_integer():
            raise LaunchError(
                f"argument {self._names()} of {kernel}: `{self.number.text}` = {value!r} is used "
                f"as {self.type} at {shown_file(self.span.file)}:{self.span.line}. In Python a "
                "power with a negative exponent is a float: use it as one, or write `int(...)`"
            )
        if isinstance(value, float):
            return _truncated(value, self.type)
        if not self.type.minimum <= value <= self.type.maximum:
            limits = f"holds {self.type.minimum} to {self.type.maximum}"
            kind = TooWideError if self.type == i32 else LaunchError
            raise kind(self._message(kernel, value, limits, "numpy.int64"))
        return value

    def _float(self, kernel: str, value: Any) -> Any:
        if isinstance(value, float) and self.type == f64:
            return value
        try:
            number = float(value)
            fits = self.type == f64 or not math.isfinite(number)
            fits = fits or abs(number) < least_overflow(self.type)
        except OverflowError:
            number, fits = 0.0, False
        if not fits:
            limits = f"holds finite numbers up to {_largest(self.type):.6g}"
            raise LaunchError(self._message(kernel, value, limits, "numpy.float64"))
        return number

    def _names(self) -> str:
        return " and ".join(sorted(self.number.parameters))

    def _message(self, kernel: str, value: Any, limits: str, remedy: str) -> str:
        names = self._names()
        what = (
            f"`{self.number.text}` = {value!r}" if self.number.compute is not None else repr(value)
        )
        return (
            f"argument {names} of {kernel}: {what} is used as {self.type} at "
            f"{shown_file(self.span.file)}:{self.span.line}, "
            f"and {self.type} {limits}. Python's numbers take the type of the other operand: pass "
            f"{remedy}({names}) to compute in that type, or convert the other operand"
        )


# Significant bits, with the hidden one, and the largest exponent.
_FLOATS = {
    "f16": (11, 15), "bf16": (8, 127), "f32": (24, 127), "fp8": (4, 8), "bf8": (3, 15),
    "fp8_fnuz": (4, 7), "bf8_fnuz": (3, 15),
}  # fmt: skip


def _largest(type: Scalar) -> float:
    precision, exponent = _FLOATS[type.name]
    # The last code of e4m3fn is NaN.
    return 448.0 if type.name == "fp8" else math.ldexp(2 - 2.0 ** (1 - precision), exponent)


def least_overflow(type: Scalar) -> float:
    """Return the least number that rounds to infinity (to NaN, where there is none): half a unit
    above the largest."""
    precision, _ = _FLOATS[type.name]
    largest = _largest(type)
    return largest + math.ldexp(1.0, math.frexp(largest)[1] - precision - 1)


def _truncated(value: float, type: Scalar) -> int:
    """Convert toward zero as kernels do: NaN becomes 0, and a number out of range the nearest
    integer of the type."""
    if math.isnan(value):
        return 0
    if math.isinf(value):
        return type.maximum if value > 0 else type.minimum
    return min(max(int(value), type.minimum), type.maximum)
