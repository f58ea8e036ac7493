"""Subscripts in the order that LLVM merges neighbouring accesses in: constants last."""

from __future__ import annotations

from amdjit.tree import nodes as tree
from amdjit.types import Scalar

__all__ = ["split_constant"]

# Sums of more terms keep their order: the constant's place says nothing of their partial sums.
_MAX_TERMS = 2


def split_constant(index: tree.Expression) -> tuple[tree.Expression, int]:
    """Split an index such as `(a + constant) + b` into `a + b` and the constant, 0 where none can be split off.

    Neighbouring accesses then differ in the last addition only. Nothing wraps in the new order either, as the constant
    is positive: the index is in 0..maximum, so a + b, which is the index less the constant, is in the type's range.
    """
    if not isinstance(index.type, Scalar) or not index.type.is_signed or not _is_sum(index):
        return index, 0
    constants: list[int] = []
    terms: list[tree.Expression] = []
    _collect(index, terms, constants)
    total = sum(constants)
    if not 0 < len(terms) <= _MAX_TERMS or not 0 < total <= index.type.maximum:
        return index, 0
    if len(terms) == 1:
        return terms[0], total
    rest = tree.Binary(index.span, index.type, tree.BinaryOperator.ADD, terms[0], terms[1], no_wrap=True)
    return rest, total


def _is_sum(node: tree.Expression) -> bool:
    return isinstance(node, tree.Binary) and node.operator is tree.BinaryOperator.ADD and node.no_wrap


def _collect(node: tree.Expression, terms: list[tree.Expression], constants: list[int]) -> None:
    if isinstance(node, tree.Constant):
        constants.append(int(node.value))
    elif isinstance(node, tree.Binary) and _is_sum(node):
        _collect(node.left, terms, constants)
        _collect(node.right, terms, constants)
    else:
        terms.append(node)
