"""What a program does to memory: the LDS it takes, and the kernel parameters that it may write."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import fields
from functools import cache
from typing import Any

from amdjit.tree import nodes as tree
from amdjit.types import AddressSpace, Array, Scalar, Vector

Roots = dict[tree.Variable, frozenset[int]]


def walk(node: object) -> Iterator[tree.Node]:
    """Yield a node and all nodes below it in order, called functions excluded."""
    pending = [node]
    while pending:
        node = pending.pop()
        if isinstance(node, tree.Node):
            yield node
            kind: Any = type(node)
            pending += [getattr(node, name) for name in _parts(kind)]
        elif isinstance(node, (tuple, list)):
            pending += reversed(node)


@cache
def _parts(kind: type[Any]) -> tuple[str, ...]:
    """Return the names of a node's fields that may hold nodes, last first."""
    return tuple(field.name for field in reversed(fields(kind)) if field.name not in ("span", "type"))


def depends_on_memory(value: object) -> bool:
    """Whether statements in front of a value could change what it computes, or the value what they compute."""
    return any(isinstance(node, (tree.Load, tree.Call, tree.CallIntrinsic)) for node in walk(value))


def reads(value: object, variables: Collection[tree.Variable]) -> bool:
    """Whether a value reads one of some variables."""
    return bool(variables) and any(isinstance(node, tree.Read) and node.variable in variables for node in walk(value))


def has_effects(value: object) -> bool:
    """Whether a value may do more than to compute."""
    return any(isinstance(node, (tree.Call, tree.CallIntrinsic)) for node in walk(value))


def lds_allocations(program: tree.Program) -> list[tree.AllocateArray]:
    """Return the static LDS arrays of all functions of a program."""
    found = []
    for function in (*program.functions, program.kernel):
        for node in walk(function.body):
            if isinstance(node, tree.AllocateArray) and not node.dynamic and _is_in_lds(node):
                found.append(node)
    return found


def _is_in_lds(allocation: tree.AllocateArray) -> bool:
    return isinstance(allocation.type, Array) and allocation.type.address_space is AddressSpace.LDS


def written_parameters(program: tree.Program) -> frozenset[str]:
    """Return the names of the kernel's array parameters that the program may write."""
    written: dict[tree.Function, frozenset[int]] = {}
    for function in (*program.functions, program.kernel):
        written[function] = _written_by(function, written)
    parameters = program.kernel.parameters
    return frozenset(parameters[i].name for i in written[program.kernel])


def _written_by(function: tree.Function, callees: dict[tree.Function, frozenset[int]]) -> frozenset[int]:
    """Follow arrays from parameters through variables, until nothing new is found."""
    roots: Roots = {variable: frozenset({i}) for i, variable in enumerate(function.parameters)}
    nodes = list(walk(function.body))
    while True:
        before = dict(roots)
        for node in nodes:
            if isinstance(node, tree.Assign):
                roots[node.variable] = roots.get(node.variable, frozenset()) | _roots(node.value, roots)
        if roots == before:
            break
    written: set[int] = set()
    for node in nodes:
        if isinstance(node, (tree.Store, tree.AddressOf)):
            written |= _roots(node.array, roots)
        elif isinstance(node, tree.Call):
            for i in callees[node.function]:
                written |= _roots(node.arguments[i], roots)
    return frozenset(i for i in written if isinstance(function.parameters[i].type, Array))


def _roots(expression: tree.Expression, roots: Roots) -> frozenset[int]:
    """Return the parameters whose memory the value may be: a superset is sound."""
    if isinstance(expression.type, (Scalar, Vector)):
        return frozenset()
    if isinstance(expression, tree.Read):
        return roots.get(expression.variable, frozenset())
    found: frozenset[int] = frozenset()
    for field in fields(expression):
        value = getattr(expression, field.name)
        for part in value if isinstance(value, tuple) else (value,):
            if isinstance(part, tree.Expression):
                found |= _roots(part, roots)
    return found
