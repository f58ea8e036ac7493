"""Warnings about widths: what is computed in at most 32 bits and then converted to 64, and what is
computed in 64 because two signs differ."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from amdjit.declarations import DeviceFunction, Intrinsic
from amdjit.diagnostics.performance import CompileWarning, Finding
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.values.promotion import common_scalar
from amdjit.frontend.values.weak_numbers import wide_type
from amdjit.tree import nodes as tree
from amdjit.tree.nodes import BinaryOperator
from amdjit.tree.walk import walk
from amdjit.types import Scalar, Type, i64, u64

_GROWING = {BinaryOperator.MULTIPLY: "product", BinaryOperator.SHIFT_LEFT: "shift"}


def narrow_products(program: tree.Program) -> Iterator[Finding]:
    """Find implicit conversions of results that may have wrapped around to a type that would have
    held them.

    Indices are left out, since they have their own rules for wrapping (docs/types.md).
    """
    lines = set()
    for function in (program.kernel, *program.functions):
        for node in () if function.transparent else walk(function.body):
            for operand in _operands(node):
                found = _finding(node, operand)
                if found is not None and (place := (found.span.file, found.span.line)) not in lines:
                    lines.add(place)
                    yield found


def _operands(node: tree.Node) -> tuple[object, ...]:
    if isinstance(node, (tree.Assign, tree.Store)):
        return (node.value,)
    if isinstance(node, (tree.Binary, tree.Compare)):
        return node.left, node.right
    return node.arguments if isinstance(node, (tree.Call, tree.CallIntrinsic)) else ()


def _finding(consumer: tree.Node, operand: object) -> Finding | None:
    if not isinstance(operand, tree.Convert):
        return None
    made = operand.operand
    if _is_cut_shift(made, operand.type):
        assert isinstance(made, tree.Convert)
        return _found(made.operand, made.type, operand.type)
    if operand.type not in (i64, u64):
        return None
    if not isinstance(made, tree.Binary) or made.operator not in _GROWING or not _is_narrow(made):
        return None
    if operand.span not in (made.span, consumer.span):
        return None  # an explicit conversion, `i64(a * b)`, has its own span
    return _found(made, made.type, operand.type)


def _is_cut_shift(made: tree.Node, to: Type) -> bool:
    """Whether the bits of `x << n`, with a count that is wider than x, are cut to x's type and then
    converted to a wider one."""
    return (
        isinstance(made, tree.Convert)
        and isinstance(made.operand, tree.Binary)
        and made.operand.operator is BinaryOperator.SHIFT_LEFT
        and made.span == made.operand.span
        and isinstance(made.type, Scalar)
        and isinstance(to, Scalar)
        and to.is_integer
        and to.bits > made.type.bits
    )


def _found(made: tree.Node, narrow: Type, to: Type) -> Finding:
    assert isinstance(made, tree.Binary)
    what = _GROWING[made.operator]
    return Finding(
        "narrow",
        made.span,
        title=f"this {what} is computed in {narrow} and then converted to {to}",
        label=f"wraps around beyond {narrow}",
        help=f"convert an operand, `{to}(a) {made.operator.value} b`, or write `{to}(a "
        f"{made.operator.value} b)` "
        "if this is intended",
        category=CompileWarning,
    )


def _is_narrow(made: tree.Binary) -> bool:
    return isinstance(made.type, Scalar) and made.type.is_integer and made.type.bits <= 32


def note_widening(
    builder: FunctionBuilder, left: tree.Expression, right: tree.Expression, node: ast.AST
) -> None:
    """Warn that two numbers of at most 32 bits are computed in 64 bits, because their signs
    differ."""
    types = left.type, right.type
    is_weak = builder.weak.is_weak(left) or builder.weak.is_weak(right)
    if builder.source.is_library or is_weak:
        return
    narrow = [type for type in types if isinstance(type, Scalar) and type.is_integer]
    if len(narrow) < 2 or max(type.bits for type in narrow) > 32:
        return
    if common_scalar(narrow[0], narrow[1]) is not i64:
        return
    span = builder.span(node)
    unsigned = next(type for type in narrow if not type.is_signed)
    found = Finding(
        "mixed",
        span,
        f"{narrow[0]} and {narrow[1]} are computed in i64, because their signs differ",
        "takes two registers and more instructions",
        f"convert one operand: `{unsigned}(...)`, or `i32(...)`",
    )
    builder.session.findings[found.name, span.file, span.line] = found


def note_narrow_call(
    builder: FunctionBuilder, callee: Intrinsic | DeviceFunction, type: Scalar, node: ast.expr
) -> None:
    name = callee.name if isinstance(callee, Intrinsic) else callee.function.__name__
    span, wide = builder.span(node), wide_type(type)
    found = Finding(
        "narrow",
        span,
        title=f"`{name}` is computed in {type} and then converted to {wide}",
        label=f"has no form for {wide}",
        help=f"write `{type}(...)` around the argument or the result if this is intended",
        category=CompileWarning,
    )
    builder.session.findings.setdefault((found.name, span.file, span.line), found)
