"""Elements of arrays of fixed-width text: the characters in memory, padded with zeros.

An element of type `S8` is an array of eight u8, one of type `U4` an array of four u32.
"""

from __future__ import annotations

import ast

from amdjit.diagnostics import codes
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.numbers.conversion import negated
from amdjit.frontend.values.kinds import CompileTime, TupleValue, Value
from amdjit.frontend.values.structures import TEXT
from amdjit.tree import nodes as tree
from amdjit.tree.array_views import ConstantArray
from amdjit.tree.nodes import BinaryOperator, Comparison
from amdjit.types import AddressSpace, Array, Layout, Record, Scalar, boolean, i32, u8, u32

__all__ = ["characters_for", "compare_text", "constant_bytes", "is_text"]


def is_text(record: Record) -> bool:
    """Whether an element is fixed-width text."""
    return [part.name for part in record.fields] == [TEXT]


def constant_bytes(builder: FunctionBuilder, text: bytes, node: ast.AST) -> ConstantArray:
    """Return a constant as an array, whose items are read at run time."""
    type = Array(u8, 1, Layout.CONTIGUOUS, AddressSpace.CONSTANT, (len(text),))
    return ConstantArray(builder.span(node), type, "bytes", text)


def characters_for(
    builder: FunctionBuilder, value: Value, kind: Scalar, width: int, node: ast.AST
) -> Value:
    """Return a constant text as the characters of a place that holds `width` of them; other values
    as they are."""
    text = value.value if isinstance(value, CompileTime) else None
    if kind not in (u8, u32) or not isinstance(text, (str, bytes)):
        return value
    numbers = _characters(text, kind)
    if numbers is None or len(numbers) > width:
        problem = "is not ASCII" if numbers is None else f"has {len(numbers)} characters"
        remedy = "store it in an array of `U`, which holds any characters"
        if numbers is not None:
            remedy = f"at most {width} {'bytes' if kind is u8 else 'characters'} fit"
        problem = f"the text {text!r} {problem}"
        raise builder.error(codes.REFUSED, node, problem=problem, remedy=remedy)
    return TupleValue(tuple(CompileTime(n) for n in (*numbers, *[0] * (width - len(numbers)))))


def _characters(text: str | bytes, kind: Scalar) -> list[int] | None:
    """Return the numbers of the characters, without zeros at the end, as NumPy converts text; None
    if the type cannot hold them."""
    if isinstance(text, str) and (kind is u8 and not text.isascii()):
        return None
    if isinstance(text, bytes) and (kind is u32 and not text.isascii()):
        return None
    numbers = list(text) if isinstance(text, bytes) else [ord(character) for character in text]
    while numbers and not numbers[-1]:
        numbers.pop()
    return numbers


def compare_text(
    builder: FunctionBuilder, kind: type[ast.cmpop], left: Value, right: Value, node: ast.AST
) -> Value | None:
    """Type `==` and `!=` of an element and a constant text; None for other operands."""
    if isinstance(left, CompileTime):
        left, right = right, left
    text = right.value if isinstance(right, CompileTime) else None
    if kind not in (ast.Eq, ast.NotEq) or not isinstance(text, (str, bytes)):
        return None
    type = left.type if isinstance(left, tree.Expression) else None
    if not isinstance(type, Array) or type.shape is None or type.ndim != 1:
        return None
    element = type.element
    if not isinstance(element, Scalar) or element not in (u8, u32):
        return None
    numbers = _characters(text, element)
    if numbers is None or len(numbers) > type.shape[0]:
        return CompileTime(kind is ast.NotEq)
    held = builder.hold(left, "text", node)
    assert isinstance(held, tree.Expression)
    equal = _all_equal(
        builder, held, element, [*numbers, *[0] * (type.shape[0] - len(numbers))], node
    )
    return equal if kind is ast.Eq else negated(builder, equal, node)


def _all_equal(
    builder: FunctionBuilder,
    array: tree.Expression,
    element: Scalar,
    numbers: list[int],
    node: ast.AST,
) -> tree.Expression:
    span = builder.span(node)
    result: tree.Expression = tree.Constant(span, boolean, True)
    for position, number in enumerate(numbers):
        loaded = tree.Load(span, element, array, (tree.Constant(span, i32, position),))
        same = tree.Compare(
            span, boolean, Comparison.EQUAL, loaded, tree.Constant(span, element, number)
        )
        result = tree.Binary(span, boolean, BinaryOperator.AND, result, same) if position else same
    return result
