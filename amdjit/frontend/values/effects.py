"""Effects of values: whether a value depends on memory, reads a variable, or does more than
compute."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from amdjit.declarations import InlineAsm, Intrinsic
from amdjit.frontend.values.kinds import Method, TupleValue, Value
from amdjit.tree import nodes as tree
from amdjit.tree.walk import walk
from amdjit.types import PointerPattern


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


def may_repeat(value: object) -> bool:
    """Whether computing a value twice does what computing it once does: it may read memory, but
    neither write to it nor report."""
    return all(
        _only_computes(node.intrinsic)
        if isinstance(node, tree.CallIntrinsic)
        else _may_be_called_twice(node.function)
        for node in walk(value)
        if isinstance(node, (tree.Call, tree.CallIntrinsic))
    )


def _only_computes(intrinsic: Intrinsic) -> bool:
    lowering = intrinsic.lowering
    has_effects = isinstance(lowering, InlineAsm) and lowering.side_effects
    return not has_effects and not any(
        isinstance(parameter.type, PointerPattern) for parameter in intrinsic.parameters
    )


def _may_be_called_twice(function: tree.Function) -> bool:
    statements = list(walk(function.body))
    writes = any(isinstance(node, (tree.Store, tree.Evaluate)) for node in statements)
    return not writes and not function.reports and may_repeat(function.body)


def may_act(value: Value) -> bool:
    """Whether a value, or one of its items, may do more than compute."""
    if isinstance(value, TupleValue):
        return any(map(may_act, value.items))
    return may_act(value.receiver) if isinstance(value, Method) else has_effects(value)
