"""Effects of values: whether a value depends on memory, reads a variable, or does more than
compute."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from amdjit.frontend.values.kinds import Method, TupleValue, Value
from amdjit.tree import nodes as tree
from amdjit.tree.walk import walk


def depends_on_memory(value: object) -> bool:
    """Whether statements before a value could change its result, or the value could change
    theirs."""
    return any(isinstance(node, (tree.Load, tree.Call, tree.CallIntrinsic)) for node in walk(value))


def reads(value: object, variables: Collection[tree.Variable]) -> bool:
    """Whether a value reads one of the variables."""
    return bool(variables) and any(
        isinstance(node, tree.Read) and node.variable in variables for node in walk(value)
    )


def assigned_variables(statements: Sequence[tree.Statement]) -> set[tree.Variable]:
    """Return the variables that statements assign, in inner blocks too."""
    return {node.variable for node in walk(list(statements)) if isinstance(node, tree.Assign)}


def has_effects(value: object) -> bool:
    """Whether an expression may do more than compute."""
    return any(isinstance(node, (tree.Call, tree.CallIntrinsic)) for node in walk(value))


def may_act(value: Value) -> bool:
    """Whether a value, or one of its items, may do more than compute."""
    if isinstance(value, TupleValue):
        return any(map(may_act, value.items))
    return may_act(value.receiver) if isinstance(value, Method) else has_effects(value)
