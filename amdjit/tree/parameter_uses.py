"""The array parameters of a kernel that its program may read, those that it may write to, and
those that not only atomic operations access."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import NamedTuple

from amdjit.declarations import Emit, Lowering
from amdjit.tree import nodes as tree
from amdjit.tree.walk import walk
from amdjit.types import Array, Scalar, Vector

__all__ = ["Uses", "parameter_uses"]

Roots = dict[tree.Variable, frozenset[int]]


class Uses(NamedTuple):
    """Names of array parameters. Where an address is taken, both may happen. plain: those that
    other than atomic instructions may access."""

    read: frozenset[str]
    written: frozenset[str]
    plain: frozenset[str]


class _Places(NamedTuple):
    """The same by the places of a function's parameters."""

    read: frozenset[int]
    written: frozenset[int]
    plain: frozenset[int]


def parameter_uses(program: tree.Program) -> Uses:
    """Return the names of the kernel's array parameters that the program may read or write to."""
    found: dict[tree.Function, _Places] = {}
    for function in (*program.functions, program.kernel):
        found[function] = _used_by(function, found)
    parameters = program.kernel.parameters
    return Uses(*(frozenset(parameters[i].name for i in uses) for uses in found[program.kernel]))


def _used_by(function: tree.Function, callees: dict[tree.Function, _Places]) -> _Places:
    """Follow arrays from parameters through variables until nothing new is found."""
    roots: Roots = {variable: frozenset({i}) for i, variable in enumerate(function.parameters)}
    kinds = (
        tree.Assign, tree.Load, tree.Store, tree.AddressOf, tree.Call, tree.CallIntrinsic
    )  # fmt: skip
    nodes = [node for node in walk(function.body) if isinstance(node, kinds)]
    # Scalars and vectors are not in memory, so they have no roots.
    assignments = [
        n
        for n in nodes
        if isinstance(n, tree.Assign) and not isinstance(n.value.type, (Scalar, Vector))
    ]
    while True:
        before = dict(roots)
        for made in assignments:
            roots[made.variable] = roots.get(made.variable, frozenset()) | _roots(made.value, roots)
        if roots == before:
            break
    found: tuple[set[int], ...] = (set(), set(), set())
    for array, uses in _accesses(nodes, callees):
        for places, is_used in zip(found, uses, strict=True):
            if is_used:
                places |= _roots(array, roots)
    return _Places(*(_arrays(function, places) for places in found))


def _accesses(
    nodes: Sequence[tree.Node], callees: dict[tree.Function, _Places]
) -> Iterator[tuple[tree.Expression, tuple[bool, ...]]]:
    """Yield the arrays that nodes access, each with the answers to `_Places`."""
    atomic = _atomic_addresses(nodes)
    for node in nodes:
        if isinstance(node, tree.Load):
            yield node.array, (True, False, True)
        elif isinstance(node, tree.Store):
            yield node.array, (False, True, True)
        elif isinstance(node, tree.AddressOf):
            yield node.array, (True, True, not atomic[node])
            atomic[node] -= bool(atomic[node])
        elif isinstance(node, tree.Call):
            used = callees[node.function]
            for i in used.read | used.written:
                yield node.arguments[i], tuple(i in places for places in used)


def _atomic_addresses(nodes: Sequence[tree.Node]) -> Counter[tree.Node]:
    """Count how often each address is the operand of an atomic instruction."""
    return Counter(
        operand
        for node in nodes
        if isinstance(node, tree.CallIntrinsic) and _is_atomic(node.intrinsic.lowering)
        for operand in node.arguments
        if isinstance(operand, tree.AddressOf)
    )


def _is_atomic(lowering: Lowering) -> bool:
    return isinstance(lowering, Emit) and lowering.is_atomic


def _arrays(function: tree.Function, places: set[int]) -> frozenset[int]:
    return frozenset(i for i in places if isinstance(function.parameters[i].type, Array))


def _roots(expression: tree.Expression, roots: Roots) -> frozenset[int]:
    """Return the parameters whose memory a value may refer to; a superset is sound."""
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
