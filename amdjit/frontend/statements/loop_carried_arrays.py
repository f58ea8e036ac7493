"""Arrays that a loop creates with `np.zeros` and its relatives, and carries to later iterations.

In Python, each iteration creates another array. In a kernel, the array has the same memory in all
iterations, so a name that carries it would see it change: such a loop is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from amdjit.diagnostics import codes
from amdjit.frontend.calls.allocations import MADE_ANEW
from amdjit.tree import nodes as tree
from amdjit.tree.walk import walk
from amdjit.types import AddressSpace, Array, Tuple, Type

__all__ = ["check_loop_carried_arrays"]

Sources = Mapping[tree.Variable, list[tree.Assign]]


def check_loop_carried_arrays(
    carried: Mapping[str, tree.Variable], body: Sequence[tree.Statement]
) -> None:
    """Refuse a loop in which a carried name takes over another name's array that the body makes."""
    kept = {variable: name for name, variable in carried.items() if _has_arrays(variable.type)}
    if not kept:
        return
    sources: dict[tree.Variable, list[tree.Assign]] = {}
    for node in walk(list(body)):
        if isinstance(node, tree.Assign) and _has_arrays(node.variable.type):
            sources.setdefault(node.variable, []).append(node)
    for variable, name in kept.items():
        for made in _named_before(sources, variable, frozenset()):
            problem = f"`{name}` keeps an array that the next iteration makes again"
            remedy = (
                f"make all arrays before the loop, and copy the elements, `{name}[:] = ...`, or "
                "swap the names"
            )
            raise codes.error(codes.REFUSED, made.span, problem=problem, remedy=remedy)


def _has_arrays(type: Type) -> bool:
    if isinstance(type, Tuple):
        return any(map(_has_arrays, type.elements))
    return isinstance(type, Array) and type.address_space is AddressSpace.PRIVATE


def _read_arrays(value: tree.Expression) -> list[tree.Variable]:
    return [
        node.variable
        for node in walk(value)
        if isinstance(node, tree.Read) and _has_arrays(node.variable.type)
    ]


def _named_before(
    sources: Sources, variable: tree.Variable, passed: frozenset[tree.Variable]
) -> list[tree.Assign]:
    """Return the assignments of a variable that take a new array from another name."""
    found = []
    for made in sources.get(variable, ()):
        for read in _read_arrays(made.value):
            if read is variable or read in passed:
                continue
            if read.is_hidden:
                found += _named_before(sources, read, passed | {variable})
            elif _holds_new(sources, read, passed | {variable}):
                found.append(made)
    return found


def _holds_new(sources: Sources, variable: tree.Variable, passed: frozenset[tree.Variable]) -> bool:
    """Whether a variable may hold an array that the loop makes."""
    if variable in passed:
        return False
    return any(
        _makes_new(made.value)
        or any(_holds_new(sources, read, passed | {variable}) for read in _read_arrays(made.value))
        for made in sources.get(variable, ())
    )


def _makes_new(value: tree.Expression) -> bool:
    """Whether an expression makes an array, or calls a function that does."""
    return any(
        (isinstance(node, tree.AllocateArray) and node.name == MADE_ANEW)
        or (isinstance(node, tree.Call) and _function_makes_new(node.function))
        for node in walk(value)
    )


def _function_makes_new(function: tree.Function) -> bool:
    return any(
        isinstance(node, (tree.Assign, tree.Return))
        and node.value is not None
        and _makes_new(node.value)
        for node in walk(list(function.body))
    )
