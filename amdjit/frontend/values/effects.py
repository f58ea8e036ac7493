"""What a program does to memory: which values depend on it, and the kernel parameters that it may
write."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from amdjit.frontend.values.kinds import Method, TupleValue, Value
from amdjit.tree import nodes as tree
from amdjit.tree.walk import walk


def depends_on_memory(value: object) -> bool:
    """Whether statements in front of a value could change what it computes, or the value what they
    compute."""
    return any(isinstance(node, (tree.Load, tree.Call, tree.CallIntrinsic)) for node in walk(value))


def reads(value: object, variables: Collection[tree.Variable]) -> bool:
    """Whether a value reads one of some variables."""
    return bool(variables) and any(
        isinstance(node, tree.Read) and node.variable in variables for node in walk(value)
    )


def assigned_variables(statements: Sequence[tree.Statement]) -> set[tree.Variable]:
    """Return the variables that statements assign, in inner blocks too."""
    return {node.variable for node in walk(list(statements)) if isinstance(node, tree.Assign)}


def has_effects(value: object) -> bool:
    """Whether a value may do more than to compute."""
    return any(isinstance(node, (tree.Call, tree.CallIntrinsic)) for node in walk(value))


def may_act(value: Value) -> bool:
    """Whether a value, or an item of it, may do more than to compute."""
    if isinstance(value, TupleValue):
        return any(map(may_act, value.items))
    return may_act(value.receiver) if isinstance(value, Method) else has_effects(value)
