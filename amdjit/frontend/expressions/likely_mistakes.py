"""Warnings about code that is likely to be a mistake: unsigned numbers that are used as if they
could be negative, bitwise operators between comparisons."""

from __future__ import annotations

import ast

from amdjit.diagnostics.performance import CompileWarning, Finding
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.building.remedies import precedence_remedy
from amdjit.frontend.values.kinds import CompileTime, Value
from amdjit.tree import nodes as tree
from amdjit.tree.nodes import BinaryOperator
from amdjit.tree.walk import walk
from amdjit.types import Scalar, ScalarKind

_MIRRORED: dict[type[ast.cmpop], type[ast.cmpop]] = {ast.Gt: ast.Lt, ast.LtE: ast.GtE}


def check_extreme(
    builder: FunctionBuilder, symbol: BinaryOperator, left: Value, right: Value, node: ast.AST
) -> None:
    """Warn about `max(0, n - 1)` with an unsigned `n - 1`."""
    for constant, value in ((left, right), (right, left)):
        if _is_zero(constant) and _may_have_wrapped(value):
            assert isinstance(value, tree.Expression)
            same = "itself" if symbol is BinaryOperator.MAXIMUM else "0"
            _warn(
                builder,
                value,
                node,
                f"`{symbol.value}` of 0 and an unsigned number is always {same}",
            )


def check_comparison(
    builder: FunctionBuilder, kind: type[ast.cmpop], left: Value, right: Value, node: ast.AST
) -> None:
    """Warn about `n - 1 < 0` and `n - 1 >= 0` with an unsigned `n - 1`."""
    if _is_zero(left):
        left, right, kind = right, left, _MIRRORED.get(kind, ast.Eq)
    if kind in (ast.Lt, ast.GtE) and _is_zero(right) and _may_have_wrapped(left):
        assert isinstance(left, tree.Expression)
        sign, answer = ("<", "false") if kind is ast.Lt else (">=", "true")
        _warn(builder, left, node, f"an unsigned number `{sign} 0` is always {answer}")


def check_absolute(builder: FunctionBuilder, value: tree.Expression, node: ast.AST) -> None:
    """Warn about `abs(u - v)` of unsigned numbers."""
    subtracts = any(
        isinstance(n, tree.Binary) and n.operator is BinaryOperator.SUBTRACT for n in walk(value)
    )
    if _is_unsigned(value) and subtracts:
        _warn(
            builder,
            value,
            node,
            "`abs` of an unsigned difference is the difference, which wraps around",
        )


def check_precedence(builder: FunctionBuilder, node: ast.Compare) -> None:
    """Warn about `x > 1 & x < 5`, which compares with `1 & x`; not about `x > (1 & x) < 5`."""
    for middle in node.comparators[:-1]:
        if not isinstance(middle, ast.BinOp) or not isinstance(middle.op, (ast.BitAnd, ast.BitOr)):
            continue
        span = builder.span(middle)
        if span.source.line(span.line)[: span.column].rstrip().endswith("("):
            continue
        symbol, remedy = precedence_remedy(node, middle)
        title = f"`{symbol}` binds tighter than the comparisons beside it"
        label = f"compared with `{ast.unparse(middle)}`"
        _add(
            builder,
            Finding(
                "precedence", span, title=title, label=label, help=remedy, category=CompileWarning
            ),
        )


def _is_zero(value: Value) -> bool:
    return isinstance(value, CompileTime) and type(value.value) in (int, float) and value.value == 0


def _is_unsigned(value: Value) -> bool:
    kind = value.type if isinstance(value, tree.Expression) else None
    return isinstance(kind, Scalar) and kind.kind is ScalarKind.UNSIGNED


def _may_have_wrapped(value: Value) -> bool:
    """Whether an unsigned value may have wrapped. A value read from memory has not: testing it is
    redundant, but clear."""
    return _is_unsigned(value) and not isinstance(value, (tree.Load, tree.Extent, tree.Convert))


def _warn(builder: FunctionBuilder, value: tree.Expression, node: ast.AST, title: str) -> None:
    wide = "i64" if isinstance(value.type, Scalar) and value.type.bits == 32 else "i32"
    remedy = (
        f"convert the operands before they are subtracted, `{wide}(n) - 1`, or compare them: "
        "`n > 1`"
    )
    label = (
        f"{value.type}: 0 - 1 is "
        f"{value.type.maximum if isinstance(value.type, Scalar) else ''} there"
    )
    span = builder.span(node)
    _add(
        builder,
        Finding("unsigned", span, title=title, label=label, help=remedy, category=CompileWarning),
    )


def _add(builder: FunctionBuilder, found: Finding) -> None:
    if not builder.source.is_library:
        builder.session.findings[found.name, found.span.file, found.span.line] = found
