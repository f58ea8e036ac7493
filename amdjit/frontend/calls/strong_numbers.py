"""Functions of `math` and `cmath`, and `divmod`, where literals and integers have types of their
own, as in Numba: `math.atan2(x, 0.1)` of an f32 is an f64."""

from __future__ import annotations

import ast
import cmath
import math
from typing import Any

from amdjit.frontend.building.arguments import Arguments
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.building.conversion import convert
from amdjit.frontend.building.operands import own_type
from amdjit.types import Scalar, Type, boolean

_NAMES = (
    "atan2", "copysign", "degrees", "erf", "erfc", "fmod", "frexp", "gamma", "hypot", "lgamma",
    "log", "modf", "nextafter", "radians", "remainder", "ulp",
)  # fmt: skip
# Without `pow`, for which an integer exponent is not a float, nor a constant one an f64.
_OF_FLOATS = frozenset(getattr(math, name) for name in _NAMES) | frozenset(
    function for name, function in vars(cmath).items() if callable(function)
)


def with_own_types(
    builder: FunctionBuilder, callee: Any, arguments: Arguments, node: ast.Call
) -> Arguments:
    """Convert the numbers that a function of floats gets to the one type that they have together;
    not with amdjit's typing, where literals have none."""
    is_of_floats = callee in _OF_FLOATS
    if builder.rules.has_weak_literals or not (is_of_floats or callee is divmod):
        return arguments
    if arguments.keywords:
        return arguments
    kinds = [own_type(builder, value) for value in arguments.positional]
    joined = _joined(builder, kinds, is_of_floats)
    if joined is None:
        return arguments
    numbers = tuple(convert(builder, value, joined, node) for value in arguments.positional)
    return Arguments(numbers, {}, arguments.places)


def _joined(
    builder: FunctionBuilder, kinds: list[Type | None], is_of_floats: bool
) -> Scalar | None:
    numbers = [kind for kind in kinds if isinstance(kind, Scalar) and not kind.storage_only]
    if not numbers or len(numbers) < len(kinds):
        return None
    joined: Type = numbers[0]
    for number in numbers[1:]:
        joined = builder.rules.operand_type("/" if is_of_floats else "//", joined, number) or joined
    assert isinstance(joined, Scalar)
    if is_of_floats and (joined.is_integer or joined is boolean):
        return builder.rules.float_for(joined)
    return joined
