"""Functions that must become parts of their callers, and how often they do."""

from __future__ import annotations

from collections.abc import Mapping

from amdjit.tree import nodes as tree
from amdjit.tree.walk import walk
from amdjit.types import AddressSpace, Array, Tuple, Type

__all__ = ["copies_of", "may_be_own_memory"]


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
