"""Subscripts in the order that LLVM merges neighbouring accesses in: constants last."""

from __future__ import annotations

from amdjit.tree import nodes as tree
from amdjit.types import Scalar

__all__ = ["constant_last"]


def constant_last(index: tree.Expression) -> tree.Expression:
    """Write an index `(a + constant) + b` as `(a + b) + constant`, so that only the constant differs among neighbours.

    Nothing wraps in the new order either, where the constant is positive: the index is in 0..maximum, so a + b, which
    is the index less the constant, is in the type's range. Sums of more terms keep their order, as that is not known
    of their partial sums.
    """
    if not isinstance(index.type, Scalar) or not index.type.is_signed or not _is_sum(index):
        return index
    constants: list[int] = []
    terms: list[tree.Expression] = []
    _collect(index, terms, constants)
    total = sum(constants)
    if len(terms) != 2 or not 0 < total <= index.type.maximum:
        return index
    rest = _sum(index, terms[0], terms[1])
    return _sum(index, rest, tree.Constant(index.span, index.type, total))


def _is_sum(node: tree.Expression) -> bool:
    return isinstance(node, tree.Binary) and node.operator is tree.BinaryOperator.ADD and node.no_wrap


def _sum(index: tree.Expression, left: tree.Expression, right: tree.Expression) -> tree.Expression:
    return tree.Binary(index.span, index.type, tree.BinaryOperator.ADD, left, right, no_wrap=True)


def _collect(node: tree.Expression, terms: list[tree.Expression], constants: list[int]) -> None:
    if isinstance(node, tree.Constant):
        constants.append(int(node.value))
    elif isinstance(node, tree.Binary) and _is_sum(node):
        _collect(node.left, terms, constants)
        _collect(node.right, terms, constants)
    else:
        terms.append(node)
