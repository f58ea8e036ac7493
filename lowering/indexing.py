"""Subscripts with their constants last, so that LLVM merges neighbouring accesses.

before: `m * (a + 1) + b`
after:  `m * a + b` and the constant `m`, which is added last
"""

from __future__ import annotations

from amdjit.tree import nodes as tree
from amdjit.types import Scalar

__all__ = ["split_constant"]

# Sums of more terms keep their order, since moving the constant could make their partial sums wrap.
_MAX_TERMS = 2


def split_constant(index: tree.Expression) -> tuple[tree.Expression, int]:
    """Split an index such as `m * (a + constant) + b` into `m * a + b` and a constant, 0 if there
    is none.

    Neighbouring accesses then differ only in the last addition. The index is in 0..maximum and the
    constant is positive, so the rest, the index minus the constant, is in the type's range. A sum
    of two terms does not wrap in between either. A product that lost a constant might wrap, which
    is harmless but rules out the no-wrap flag.
    """
    if (
        not isinstance(index.type, Scalar)
        or not index.type.is_signed
        or not _is(index, tree.BinaryOperator.ADD)
    ):
        return index, 0
    parts = _Parts()
    parts.collect(index)
    total = sum(parts.constants)
    if not 0 < len(parts.terms) <= _MAX_TERMS or not 0 < total <= index.type.maximum:
        return index, 0
    if len(parts.terms) == 1:
        return parts.terms[0], total
    left, right = parts.terms
    rest = tree.Binary(
        index.span, index.type, tree.BinaryOperator.ADD, left, right, no_wrap=not parts.has_reduced
    )
    return rest, total


class _Parts:
    """The terms and constants of a sum. has_reduced: whether a constant was moved out of a
    product."""

    def __init__(self) -> None:
        self.terms: list[tree.Expression] = []
        self.constants: list[int] = []
        self.has_reduced = False

    def collect(self, node: tree.Expression) -> None:
        """Collect the terms and constants of a sum."""
        if isinstance(node, tree.Constant):
            self.constants.append(int(node.value))
        elif isinstance(node, tree.Binary) and _is(node, tree.BinaryOperator.ADD):
            self.collect(node.left)
            self.collect(node.right)
        elif isinstance(node, tree.Binary) and _is(node, tree.BinaryOperator.MULTIPLY):
            self._collect_product(node)
        else:
            self.terms.append(node)

    def _collect_product(self, node: tree.Binary) -> None:
        factor, other = (
            (node.left, node.right)
            if isinstance(node.left, tree.Constant)
            else (node.right, node.left)
        )
        inner = _Parts()
        if isinstance(factor, tree.Constant) and _is(other, tree.BinaryOperator.ADD):
            inner.collect(other)
        if not isinstance(factor, tree.Constant) or not inner.constants or len(inner.terms) != 1:
            self.terms.append(node)
            return
        self.has_reduced = True
        self.constants.append(int(factor.value) * sum(inner.constants))
        self.terms.append(tree.Binary(node.span, node.type, node.operator, inner.terms[0], factor))


def _is(node: tree.Expression, operator: tree.BinaryOperator) -> bool:
    return isinstance(node, tree.Binary) and node.operator is operator and node.no_wrap
