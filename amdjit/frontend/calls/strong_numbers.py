"""Functions of `math` and `cmath`, and `divmod`, where literals and integers have types of their
own, as in Numba: `math.atan2(x, 0.1)` of an f32 is an f64."""

from __future__ import annotations

import ast
import cmath
import math
from collections.abc import Sequence
from typing import Any

from amdjit.frontend.building.arguments import Arguments
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.building.conversion import convert
from amdjit.frontend.building.operands import own_type
from amdjit.frontend.values.typing_rules import Case
from amdjit.types import Scalar, Type, f32, f64, i32, i64, u64

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
