"""Building blocks for the rules of the verifier."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NoReturn

from amdjit.diagnostics.errors import InternalError
from amdjit.tree import nodes as tree
from amdjit.tree.printer import print_expression
from amdjit.types import Array, Layout, Type

__all__ = ["check", "check_view", "fail", "same"]


def fail(node: Any, message: str) -> NoReturn:
    """Raise InternalError for a node."""
    what = print_expression(node) if isinstance(node, tree.Expression) else type(node).__name__
    raise InternalError(f"{node.span}: {message} (in {what})")


def check(holds: bool, node: Any, message: str) -> None:
    """Raise InternalError if a rule does not hold."""
    if not holds:
        fail(node, message)


def same(node: Any, expected: Type, found: Type) -> None:
    """Raise InternalError if two types differ."""
    if expected != found:
        fail(node, f"{expected} expected, {found} found")


def check_view(node: tree.View, array: Array) -> None:
    """Check the type of a view of an array."""
    check(
        len(node.extents) == len(node.steps) == array.ndim,
        node,
        "not one extent and step for each axis",
    )
    if not isinstance(node.type, Array):
        fail(node, f"{node.type} is not an array")
    kept = [extent for extent in node.extents if extent is not None]
    for extent in kept:
        same(node, array.index_type, extent.type)
    steps = [step for step in node.steps if isinstance(step, tree.Expression)]
    for step in steps:
        same(node, array.index_type, step.type)
    check(not steps or node.type.layout is Layout.STRIDED, node, "steps at run time in rows")
    check(node.type.layout is not Layout.ANY, node, "a view without a layout")
    ordered = node.type.layout is Layout.STRIDED or array.layout is not Layout.STRIDED
    check(ordered, node, "a view in rows of an array without")
    expected = replace(
        array, ndim=len(kept), layout=node.type.layout, shape=node.type.shape, alignment=0
    )
    same(node, expected, node.type)
