"""The types of calls of numbers: the case of a function that fits its arguments, and results that
adopt the width that they meet."""

from __future__ import annotations

import ast
import cmath
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from amdjit.declarations import DeviceFunction, Intrinsic
from amdjit.diagnostics import CompileError
from amdjit.frontend.building.arguments import Arguments
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.numbers.conversion import convert
from amdjit.frontend.numbers.operands import own_type
from amdjit.frontend.numbers.width_warnings import note_narrow_call
from amdjit.frontend.values.kinds import CompileTime, Value
from amdjit.frontend.values.typing_rules import Case
from amdjit.frontend.values.weak_numbers import wide_type
from amdjit.tree import nodes as tree
from amdjit.types import (
    PointerPattern,
    Scalar,
    Type,
    TypeVariable,
    boolean,
    f16,
    f32,
    f64,
    i32,
    i64,
    u64,
)

# Functions of weak numbers: in 64 bits the call is repeated.


def without_width(
    builder: FunctionBuilder,
    callee: Intrinsic | DeviceFunction,
    arguments: Arguments,
    result: Value,
    call: Callable[[Arguments], Value],
) -> Value:
    """Make the result of a function of weak numbers weak: beside an f64 the call is repeated in
    f64."""
    weak, given = builder.weak, arguments.positional
    are_weak = all(weak.is_weak(value) or not _decides(value) for value in given)
    if (
        arguments.keywords
        or not are_weak
        or not isinstance(result, tree.Expression)
        or result.type != f32
    ):
        return result

    kept = _of_fixed_type(callee)

    def in_f64() -> tree.Expression:
        wide = (v if i in kept else _in_f64(builder, v, given) for i, v in enumerate(given))
        again = call(Arguments(tuple(wide), {}, arguments.places))
        assert isinstance(again, tree.Expression)
        return again

    if not builder.rules.has_weak_literals:
        return in_f64()  # Numba's functions of integers are those of f64
    weak.note_call(result, in_f64)
    return result


def _of_fixed_type(callee: Intrinsic | DeviceFunction) -> frozenset[int]:
    """Return the places of parameters that have one type, such as the exponent of `ldexp`."""
    parameters = callee.parameters if isinstance(callee, Intrinsic) else ()
    return frozenset(
        i for i, each in enumerate(parameters) if not isinstance(each.type, TypeVariable)
    )


def _in_f64(builder: FunctionBuilder, value: Value, given: tuple[Value, ...]) -> Value:
    """Return an argument of a call that is repeated in f64. Literals are f64 beside one; where all
    are literals, they become it here."""
    if isinstance(value, tree.Expression):
        return builder.launch_parameters.wide(value, f64)
    if any(isinstance(each, tree.Expression) and _decides(each) for each in given):
        return value
    known = value.value if isinstance(value, CompileTime) else None
    place = next((each.span for each in given if isinstance(each, tree.Expression)), None)
    if not isinstance(known, float) or place is None:
        return value
    return tree.Constant(place, f64, known)


def as_wide_as_needed(
    builder: FunctionBuilder,
    callee: Intrinsic | DeviceFunction,
    arguments: Arguments,
    result: Value,
    call: Callable[[Arguments], Value],
    node: ast.expr,
) -> Value:
    """Make the result of one of amdjit's functions weak if all arguments are: in 64 bits the call
    is repeated."""
    if not isinstance(result, tree.Expression) or result.type not in (i32, f32):
        return result
    weak, type = builder.weak, result.type
    given = _deciding(callee, arguments, type)
    if not given or not all(weak.is_weak(value) and value.type == type for value in given):
        return result
    deciding = frozenset(given)

    def widened(value: Value) -> Value:
        if not isinstance(value, tree.Expression) or value not in deciding:
            return value
        return builder.launch_parameters.wide(value, wide_type(type))

    def in_64_bits() -> tree.Expression:
        requests = len(builder.launch_parameters.requests)
        positional = tuple(map(widened, arguments.positional))
        keywords = {name: widened(value) for name, value in arguments.keywords.items()}
        try:
            with builder.collect() as added:
                again = call(Arguments(positional, keywords, arguments.places))
        except CompileError:
            del builder.launch_parameters.requests[requests:]
            note_narrow_call(builder, callee, type, node)
            return result
        builder.statements += added
        assert isinstance(again, tree.Expression)
        return again

    weak.note_call(result, in_64_bits)
    return result


def _deciding(
    callee: Intrinsic | DeviceFunction, arguments: Arguments, result: Scalar
) -> tuple[tree.Expression, ...]:
    """Return the arguments that decide the width of a result; none if its type is fixed."""
    values = (*arguments.positional, *arguments.keywords.values())
    if isinstance(callee, Intrinsic):
        names = [parameter.name for parameter in callee.parameters]
        given = {**dict(zip(names, arguments.positional, strict=False)), **arguments.keywords}
        kinds = {parameter.name: parameter.type for parameter in callee.parameters}
        # Memory has its own type, whatever is stored to it.
        if not isinstance(callee.result, TypeVariable) or any(
            _points_to(k, callee.result) for k in kinds.values()
        ):
            return ()
        values = tuple(value for name, value in given.items() if kinds.get(name) == callee.result)
    numbers = [
        value
        for value in values
        if isinstance(value, tree.Expression) and value.type is not boolean
    ]
    return tuple(
        v for v in numbers if not isinstance(v.type, Scalar) or v.type.is_float == result.is_float
    )


def _points_to(kind: Type | None, variable: TypeVariable) -> bool:
    return isinstance(kind, PointerPattern) and kind.element == variable


def _decides(value: Value) -> bool:
    """Whether an argument decides the width of a float: integers and literals do not."""
    kind = value.type if isinstance(value, tree.Expression) else None
    return not isinstance(value, CompileTime) and not (
        isinstance(kind, Scalar) and not kind.is_float
    )


# Functions of `math` and `cmath`, and `divmod`, where literals and integers have types of their
# own, as in Numba: `math.atan2(x, 0.1)` of an f32 is an f64.

_FLOATS: Sequence[Case] = ((f32,), (f64,))
# For integers there are cases of their own, which compute in f64.
_NUMBERS: Sequence[Case] = ((i64,), (u64,), (f32,), (f64,))
# The cases of parameters that Numba has (numba/cuda/cudamath.py, typing/builtins.py): of one
# parameter for those that are all alike.
_CASES: dict[Any, Sequence[Case]] = {
    **dict.fromkeys((math.copysign, math.fmod, math.nextafter, math.remainder), _FLOATS),
    math.frexp: _FLOATS,
    math.modf: _FLOATS[::-1],
    math.ldexp: ((f32, i32), (f64, i32)),
    math.pow: ((f32, f32), (f64, f64), (f32, i32), (f64, i32)),
    divmod: _NUMBERS,
}
_NOT_OF_FLOATS = (
    "ceil", "comb", "dist", "factorial", "floor", "fsum", "gcd", "isclose", "isfinite", "isinf",
    "isnan", "isqrt", "lcm", "perm", "prod", "sumprod", "trunc",
)  # fmt: skip
_CASES |= {
    function: _NUMBERS
    for name, function in vars(math).items()
    if callable(function) and name not in _NOT_OF_FLOATS and function not in _CASES
}
_OF_COMPLEX = frozenset(function for function in vars(cmath).values() if callable(function))


def with_own_types(
    builder: FunctionBuilder, callee: Any, arguments: Arguments, node: ast.Call
) -> Arguments:
    """Convert the numbers that a function of floats gets to the types of the case of the function
    that they fit best; not with amdjit's typing, where literals have none."""
    if builder.rules.has_weak_literals or arguments.keywords:
        return arguments
    if callee not in _OF_COMPLEX and callee not in _CASES:
        return arguments
    kinds = [own_type(builder, value) for value in arguments.positional]
    numbers = [kind for kind in kinds if isinstance(kind, Scalar) and not kind.storage_only]
    if not numbers or len(numbers) < len(kinds):
        return arguments
    if callee in _OF_COMPLEX:
        types: Case = (_joined(builder, numbers),) * len(numbers)
    else:
        types = _case(builder, callee, numbers)
    values = zip(arguments.positional, types, strict=False)
    converted = tuple(convert(builder, value, type, node) for value, type in values)
    rest = arguments.positional[len(converted) :]  # that Python's function does not have
    return Arguments((*converted, *rest), {}, arguments.places)


def _case(builder: FunctionBuilder, callee: Any, numbers: list[Scalar]) -> Case:
    cases = _CASES[callee]
    alike = [case * len(numbers) for case in cases if len(case) == 1]
    if not alike and len(cases[0]) != len(numbers):
        return ()
    if all(number.is_float and number.bits == 16 for number in numbers):
        return ()  # f16 and bf16 have cases of their own
    found = builder.rules.overload(alike or cases, numbers)
    is_divmod = callee is divmod
    return tuple(f64 if alike and not is_divmod and not t.is_float else t for t in found)


def _joined(builder: FunctionBuilder, numbers: list[Scalar]) -> Scalar:
    joined: Type = numbers[0]
    for number in numbers[1:]:
        joined = builder.rules.operand_type("/", joined, number) or joined
    assert isinstance(joined, Scalar)
    return joined if joined.is_float else builder.rules.float_for(joined)


# Rounding to whole numbers that are i64 or stay floats: `math.floor(x)`, `round(x)`.

ROUNDED_TO_FLOATS: Mapping[Any, Any] = {
    math.floor: np.floor,
    math.ceil: np.ceil,
    math.trunc: np.trunc,
    round: np.rint,
}
"""For functions that round to integers, NumPy's, which round to floats."""


def rounded(
    builder: FunctionBuilder,
    callee: Any,
    arguments: Arguments,
    call: Callable[..., Value],
    node: ast.Call,
) -> Value | None:
    """Type the rounding of a number by Numba's rules: `round(x)` is an i64, `math.floor(x)` and
    its like are floats. None for other functions, and where Python's integers are i32."""
    if builder.rules.has_weak_literals or callee not in ROUNDED_TO_FLOATS:
        return None
    if len(arguments.positional) not in (1, 2) or arguments.keywords:
        return None
    value = arguments.positional[0]
    if isinstance(value, CompileTime) and isinstance(value.value, (int, float)):
        is_float = callee is not round
        return CompileTime(float(ROUNDED_TO_FLOATS[callee](value.value))) if is_float else None
    if not isinstance(value, tree.Expression) or not isinstance(value.type, Scalar):
        return None
    if len(arguments.positional) == 2:
        return _to_digits(
            builder, value, type=value.type, arguments=arguments, call=call, node=node
        )
    if callee is not round:
        return _to_float(builder, callee, value, call, node)
    if value.type.is_float:
        whole = call(builder, builder.session.builtins[ROUNDED_TO_FLOATS[callee]], arguments, node)
        return convert(builder, whole, builder.rules.integer, node)
    return convert(builder, value, builder.rules.integer, node)


def _to_float(
    builder: FunctionBuilder,
    callee: Any,
    value: tree.Expression,
    call: Callable[..., Value],
    node: ast.Call,
) -> Value:
    """Type Numba's `math.floor(x)`, `ceil` and `trunc` of CUDA: a float stays one, an integer
    becomes f64."""
    assert isinstance(value.type, Scalar)
    if not value.type.is_float:
        return convert(builder, value, builder.rules.float_for(value.type), node)
    return call(
        builder, builder.session.builtins[ROUNDED_TO_FLOATS[callee]], Arguments((value,), {}), node
    )


def _to_digits(
    builder: FunctionBuilder,
    value: tree.Expression,
    type: Scalar,
    arguments: Arguments,
    call: Callable[..., Value],
    node: ast.Call,
) -> Value | None:
    """Type Numba's `round(x, digits)`, which multiplies an f32 by an f64."""
    if type is f64 or type is f16:
        return None
    wide = Arguments((convert(builder, value, f64, node), arguments.positional[1]), {})
    made = call(builder, builder.session.builtins[round], wide, node)
    return convert(builder, made, builder.rules.overload(((f32,), (f64,)), [type])[0], node)


def rounded_without_width(
    builder: FunctionBuilder,
    callee: Any,
    arguments: Arguments,
    result: Value,
    call: Callable[..., Value],
    node: ast.Call,
) -> Value:
    """Make the whole number that a float is rounded to weak, as that of `int(x)` is: an i64 where
    it meets one."""
    if callee not in ROUNDED_TO_FLOATS or len(arguments.positional) != 1 or arguments.keywords:
        return result
    (value,) = arguments.positional
    kind = value.type if isinstance(value, tree.Expression) else None
    is_of_float = isinstance(kind, Scalar) and kind.is_float
    if not is_of_float or not isinstance(result, tree.Expression) or result.type is not i32:
        return result

    def in_64_bits() -> tree.Expression:
        function = builder.session.builtins[ROUNDED_TO_FLOATS[callee]]
        return convert(builder, call(builder, function, arguments, node), i64, node)

    builder.weak.note_call(result, in_64_bits)
    return result
