"""Operators and functions on numbers that the launch knows, computed by the host as a kernel would.

Integers are Python's, without bounds; floats are f64 with IEEE results where Python would raise.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from amdjit.diagnostics import LaunchError
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.values.kinds import CompileTime, Value
from amdjit.language.launch_numbers import LaunchNumber
from amdjit.tree import nodes as tree
from amdjit.tree.nodes import BinaryOperator, UnaryOperator

# Larger numbers would take the host long, and none of them is left in a type of a kernel.
_MOST_BITS = 1 << 16


def launch_operands(
    builder: FunctionBuilder, values: Sequence[Value]
) -> tuple[LaunchNumber, ...] | None:
    """Return the operands as numbers of the launch if each is one or a literal, and not all are
    literals."""
    numbers: list[LaunchNumber] = []
    for value in values:
        number = builder.weak.number(value)
        if (
            number is None
            and isinstance(value, CompileTime)
            and isinstance(value.value, (bool, int, float))
        ):
            number = constant(value.value)
        if number is None:
            return None
        numbers.append(number)
    return tuple(numbers) if any(number.parameters for number in numbers) else None


def at_launch(
    builder: FunctionBuilder,
    operation: Callable[..., LaunchNumber | None],
    values: Sequence[Value],
    node: ast.AST,
) -> tree.Read | None:
    """Let the launch compute an operation on its own numbers and read the result; None if a
    value is of another kind, or if the kernel has to compute it."""
    numbers = launch_operands(builder, values)
    made = None if numbers is None else operation(*numbers)
    return None if made is None else builder.launch_parameters.read_weak(made, builder.span(node))


def constant(value: bool | int | float) -> LaunchNumber:
    """Return a literal that meets a launch's number."""
    return LaunchNumber(f"{value!r}", type(value), lambda: value)


def _quiet(compute: Callable[..., Any]) -> Callable[..., float]:
    def apply(*values: Any) -> float:
        try:
            with np.errstate(all="ignore"):
                return float(compute(*(np.float64(value) for value in values)))
        except OverflowError:
            return math.inf

    return apply


def _or_zero(compute: Callable[[int, int], int]) -> Callable[[int, int], int]:
    return lambda x, y: compute(x, y) if y else 0


def _divided(x: Any, y: Any) -> float:
    return float(x / y) if y and abs(x) < 2**1000 else _quiet(np.divide)(x, y)


def _shift_left(x: int, count: int) -> int:
    if count < 0 or not x:
        return 0
    _check_size(f"{x} << {count}", count)
    return x << count


def _shift_right(x: int, count: int) -> int:
    return x >> (count if count >= 0 else x.bit_length())


def _power(x: Any, exponent: Any) -> Any:
    """Return a power; with a negative exponent a float, as Python does."""
    if exponent < 0 or float in (type(x), type(exponent)):
        return _quiet(np.power)(x, exponent)
    _check_size(f"{x} ** {exponent}", exponent * (abs(x) - 1).bit_length())
    return int(x**exponent)


def _modular_power(x: int, exponent: int, modulus: int) -> int:
    """Return `pow(x, exponent, modulus)`; a negative exponent and a modulus of 0 as kernels do."""
    return pow(x, max(exponent, 0), modulus) if modulus else 0


def _check_size(text: str, bits: int) -> None:
    if bits > _MOST_BITS:
        raise LaunchError(f"{text}, which the host computes, has more than {_MOST_BITS} bits")


def _lesser(x: Any, y: Any) -> Any:
    return _chosen(x, y, operator.lt)


def _greater(x: Any, y: Any) -> Any:
    return _chosen(x, y, operator.gt)


def _chosen(x: Any, y: Any, before: Callable[[Any, Any], bool]) -> Any:
    if x != x or y != y:
        return math.nan
    return y if before((y, math.copysign(1, y)), (x, math.copysign(1, x))) else x


_OF_INTEGERS: Mapping[BinaryOperator, Callable[[Any, Any], Any]] = {
    BinaryOperator.ADD: operator.add,
    BinaryOperator.SUBTRACT: operator.sub,
    BinaryOperator.MULTIPLY: operator.mul,
    BinaryOperator.FLOOR_DIVIDE: _or_zero(operator.floordiv),
    BinaryOperator.MODULO: _or_zero(operator.mod),
    BinaryOperator.POWER: _power,
    BinaryOperator.AND: operator.and_,
    BinaryOperator.OR: operator.or_,
    BinaryOperator.XOR: operator.xor,
    BinaryOperator.SHIFT_LEFT: _shift_left,
    BinaryOperator.SHIFT_RIGHT: _shift_right,
    BinaryOperator.MINIMUM: _lesser,
    BinaryOperator.MAXIMUM: _greater,
}
_OF_FLOATS: Mapping[BinaryOperator, Callable[[Any, Any], Any]] = {
    BinaryOperator.ADD: _quiet(np.add),
    BinaryOperator.SUBTRACT: _quiet(np.subtract),
    BinaryOperator.MULTIPLY: _quiet(np.multiply),
    BinaryOperator.FLOOR_DIVIDE: _quiet(np.floor_divide),
    BinaryOperator.MODULO: _quiet(np.remainder),
    BinaryOperator.POWER: _quiet(np.power),
    BinaryOperator.MINIMUM: _lesser,
    BinaryOperator.MAXIMUM: _greater,
}
_STAY_BOOLEAN = (
    BinaryOperator.AND,
    BinaryOperator.OR,
    BinaryOperator.XOR,
    BinaryOperator.MINIMUM,
    BinaryOperator.MAXIMUM,
)


def binary(symbol: BinaryOperator, left: LaunchNumber, right: LaunchNumber) -> LaunchNumber | None:
    """Return `left symbol right`, None if the operator does not take the operands or the result's
    kind is unknown."""
    text = f"({left.text} {symbol.value} {right.text})"
    if symbol in (BinaryOperator.MINIMUM, BinaryOperator.MAXIMUM):
        text = f"{symbol.value}({left.text}, {right.text})"
    if symbol is BinaryOperator.DIVIDE:
        return LaunchNumber(text, float, _divided, (left, right))
    if float in (left.kind, right.kind):
        compute = _OF_FLOATS.get(symbol)
        return None if compute is None else LaunchNumber(text, float, compute, (left, right))
    if symbol is BinaryOperator.POWER and not right.parameters and right.value({}) < 0:
        return LaunchNumber(text, float, _power, (left, right))
    is_boolean = left.kind is right.kind is bool and symbol in _STAY_BOOLEAN
    return LaunchNumber(text, bool if is_boolean else int, _OF_INTEGERS[symbol], (left, right))


def modular_power(
    base: LaunchNumber, exponent: LaunchNumber, modulus: LaunchNumber
) -> LaunchNumber | None:
    """Return `pow(base, exponent, modulus)`; None for floats."""
    operands = base, exponent, modulus
    if any(operand.kind is float for operand in operands):
        return None
    text = f"pow({', '.join(operand.text for operand in operands)})"
    return LaunchNumber(text, int, _modular_power, operands)


def unary(symbol: UnaryOperator, operand: LaunchNumber) -> LaunchNumber | None:
    """Return `-x`, `~x` or `abs(x)`; None if the operator does not take the operand."""
    kind = float if operand.kind is float else int
    if symbol is UnaryOperator.NEGATE:
        return LaunchNumber(f"(-{operand.text})", kind, operator.neg, (operand,))
    if symbol is UnaryOperator.ABSOLUTE:
        return LaunchNumber(f"abs({operand.text})", kind, abs, (operand,))
    if symbol is UnaryOperator.INVERT and kind is int:
        return LaunchNumber(f"(~{operand.text})", int, lambda x: ~int(x), (operand,))
    return None


def comparison(
    sign: str, compute: Callable[[Any, Any], Any], left: LaunchNumber, right: LaunchNumber
) -> LaunchNumber:
    """Return a comparison, which Python computes exactly."""
    return LaunchNumber(f"({left.text} {sign} {right.text})", bool, compute, (left, right))


def truth(operand: LaunchNumber) -> LaunchNumber:
    """Return whether a number is not 0."""
    return (
        operand
        if operand.kind is bool
        else LaunchNumber(f"bool({operand.text})", bool, bool, (operand,))
    )


def opposite(operand: LaunchNumber) -> LaunchNumber:
    """Return `not x`."""
    return LaunchNumber(f"(not {operand.text})", bool, operator.not_, (operand,))


def as_kind(kind: type[int] | type[float], operand: LaunchNumber) -> LaunchNumber:
    """Return `int(x)` or `float(x)`."""
    compute = _quiet(lambda x: x) if kind is float else _whole(int)
    return LaunchNumber(f"{kind.__name__}({operand.text})", kind, compute, (operand,))


# Infinity as an integer: beyond every type.
_BEYOND = 1 << 128


def _whole(compute: Callable[[Any], int]) -> Callable[[Any], int]:
    def apply(x: Any) -> int:
        if x != x:
            return 0
        return compute(x) if abs(x) != math.inf else _BEYOND if x > 0 else -_BEYOND

    return apply


def _or_ieee(compute: Callable[..., Any]) -> Callable[..., float]:
    """Return infinity or NaN, as IEEE 754 demands, if Python raises."""

    def apply(*values: Any) -> float:
        try:
            return float(compute(*values))
        except OverflowError:
            return math.inf
        except ValueError:
            is_pole = compute in (math.log, math.log2, math.log10) and values[0] == 0
            return -math.inf if is_pole else math.nan

    return apply


_OF_MATH = (
    "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "asinh",
    "acosh", "expm1", "erf", "erfc", "sqrt", "cbrt", "hypot", "exp", "exp2", "log2", "log10",
    "log", "fabs", "copysign", "radians", "degrees", "pow",
)  # fmt: skip
_OF_NUMPY = (
    "sin", "cos", "tan", "sinh", "cosh", "tanh", "sqrt", "exp", "exp2", "log2", "log10", "log",
    "expm1", "log1p", "hypot", "power", "float_power",
)  # fmt: skip
_FUNCTIONS: Mapping[Hashable, Callable[..., float]] = {
    **{
        getattr(math, name): _or_ieee(getattr(math, name))
        for name in _OF_MATH
        if hasattr(math, name)
    },
    math.pow: _quiet(np.power),
    math.log1p: _quiet(np.log1p),
    math.atanh: _quiet(np.arctanh),
    **{getattr(np, name): _quiet(getattr(np, name)) for name in _OF_NUMPY},
}


_ROUNDING: Mapping[Hashable, Callable[[Any], int]] = {
    function: _whole(function) for function in (math.floor, math.ceil, math.trunc, round)
}
_QUESTIONS: Mapping[Hashable, Callable[[Any], bool]] = {
    function: function for function in (math.isnan, math.isinf, math.isfinite)
}
_BY_KIND: Mapping[type, Mapping[Hashable, Callable[..., Any]]] = {
    int: _ROUNDING,
    bool: _QUESTIONS,
    float: _FUNCTIONS,
}


def of_function(function: Any, *operands: LaunchNumber) -> LaunchNumber | None:
    """Return a function of Python or NumPy applied to a launch's numbers; None if a kernel has to
    compute it."""
    if not isinstance(function, Hashable):
        return None
    text = f"{getattr(function, '__name__', '')}({', '.join(operand.text for operand in operands)})"
    for kind, functions in _BY_KIND.items():
        if function in functions and (kind is float or len(operands) == 1):
            return LaunchNumber(text, kind, functions[function], operands)
    return None
