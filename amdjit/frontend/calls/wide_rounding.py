"""Rounding to integers where Python's integers are i64: `math.floor(x)`, `round(x)`."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from amdjit.frontend.building.arguments import Arguments
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.building.conversion import convert
from amdjit.frontend.values.kinds import Value
from amdjit.tree import nodes as tree
from amdjit.types import Scalar

# NumPy's functions round to floats.
_FLOATS = {math.floor: np.floor, math.ceil: np.ceil, math.trunc: np.trunc, round: np.rint}


def rounded(
    builder: FunctionBuilder,
    callee: Any,
    arguments: Arguments,
    call: Callable[..., Value],
    node: ast.Call,
) -> Value | None:
    """Type the rounding of a number to an i64; None for other functions, and where Python's
    integers are i32."""
    if builder.rules.has_weak_literals or callee not in _FLOATS:
        return None
    if len(arguments.positional) != 1 or arguments.keywords:
        return None
    (value,) = arguments.positional
    if not isinstance(value, tree.Expression) or not isinstance(value.type, Scalar):
        return None
    if value.type.is_float:
        whole = call(builder, builder.session.builtins[_FLOATS[callee]], arguments, node)
        return convert(builder, whole, builder.rules.integer, node)
    return convert(builder, value, builder.rules.integer, node)
