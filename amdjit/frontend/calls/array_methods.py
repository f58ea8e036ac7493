"""Functions of whole arrays: `a.sum()`, `np.argmax(a)`, `max(a)`. They are written in the kernel
language, in `amdjit.intrinsics.arrays`. Ufuncs of arrays are loops, which `ufuncs` makes."""

from __future__ import annotations

import numpy as np

from amdjit.declarations import DeviceFunction, Intrinsic
from amdjit.frontend.building.arguments import Arguments
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.expressions.array_attributes import REDUCTIONS
from amdjit.frontend.values.kinds import Method, TupleValue, Value
from amdjit.tree import nodes as tree
from amdjit.types import Array, Vector


def is_of_array(callee: object, arguments: Arguments) -> bool:
    """Whether a function is called for the elements of an array; `min(a, b)` is not."""
    given = arguments.positional
    first = given[0] if given and (len(given) == 1 or callee is sum) else None
    return isinstance(first, tree.Expression) and isinstance(first.type, Array)


def is_array(value: Value) -> bool:
    """Whether a value is an array, or a tuple of values of which one is."""
    if isinstance(value, TupleValue):
        return value.structure is None and any(map(is_array, value.items))
    return isinstance(value, tree.Expression) and isinstance(value.type, Array)


def is_ufunc_call(builder: FunctionBuilder, callee: object, arguments: Arguments) -> bool:
    """Whether this is a ufunc of arrays, or of numbers in a kernel with Numba's typing."""
    if not isinstance(callee, np.ufunc):
        return False
    values = (*arguments.positional, *arguments.keywords.values())
    if any(is_array(value) for value in values):
        return True
    if builder.rules.has_weak_literals or arguments.keywords or arguments.are_static:
        return False
    return len(values) == callee.nin and not any(
        isinstance(value, tree.Expression) and isinstance(value.type, Vector) for value in values
    )


def array_method(builder: FunctionBuilder, method: Method) -> Intrinsic | DeviceFunction | None:
    """Return the function that a method of arrays stands for, None for those that the front end
    types itself."""
    if method.name not in REDUCTIONS:
        return None
    return builder.session.builtins[getattr(np, method.name)]
