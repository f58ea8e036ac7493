"""Iteration over the nodes of a tree, and over the functions that it calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from functools import cache
from typing import Any

from amdjit.tree import nodes as tree
from amdjit.types import AddressSpace, Array, Tuple, Type

__all__ = ["called_functions", "copies_of", "may_be_own_memory", "walk"]


# Annotations of fields that hold no nodes; called functions are excluded.
_WITHOUT_NODES = frozenset(
    {"Span", "Type", "Variable", "Intrinsic", "Function", "int", "str", "bool"}
)


def walk(node: object) -> Iterator[tree.Node]:
    """Yield a node and all nodes below it in order, without the bodies of called functions."""
    pending = [node]
    while pending:
        node = pending.pop()
        kind: Any = type(node)
        if kind is tuple or kind is list:
            pending += node[::-1]  # type: ignore[index]
            continue
        names = _parts(kind)
        if names is not None:
            yield node  # type: ignore[misc]
            if names:
                pending += [getattr(node, name) for name in names]


@cache
def _parts(kind: type[Any]) -> tuple[str, ...] | None:
    """Return the names of a node's fields that may hold nodes, last first; None for other types."""
    if not issubclass(kind, tree.Node):
        return None
    return tuple(field.name for field in reversed(fields(kind)) if field.type not in _WITHOUT_NODES)


def called_functions(function: tree.Function) -> tuple[tree.Function, ...]:
    """Return the functions that a function calls, directly or indirectly, callees first."""
    found: dict[int, tree.Function] = {}

    def visit(caller: tree.Function) -> None:
        for node in walk(caller.body):
            if isinstance(node, tree.Call) and id(node.function) not in found:
                visit(node.function)
                found[id(node.function)] = node.function

    visit(function)
    return tuple(found.values())


# Functions that must become parts of their callers, and how often they do.


def may_be_own_memory(result: Type) -> bool:
    """Whether a result may be a private array of the function: it ends with the function's stack
    frame, unless the function becomes a part of its caller."""
    if isinstance(result, Tuple):
        return any(map(may_be_own_memory, result.elements))
    return isinstance(result, Array) and result.address_space is AddressSpace.PRIVATE


def copies_of(function: tree.Function, known: Mapping[tree.Function, int]) -> int:
    """Return how many functions become parts of the caller with one call of this one. known: their
    numbers for the functions that it calls."""
    calls = (node.function for node in walk(function.body) if isinstance(node, tree.Call))
    return 1 + sum(known.get(callee, 0) for callee in calls)
