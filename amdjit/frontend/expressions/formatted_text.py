"""Text in kernels: f-strings and the lines of `print`, with fields for run-time values."""

from __future__ import annotations

import ast

from amdjit.abi.reports import MAX_VALUE_WORDS, Field, Text, format_value
from amdjit.declarations import Coordinates
from amdjit.diagnostics import CompileError, codes
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.building.descriptions import describe
from amdjit.frontend.expressions.folding import check_width
from amdjit.frontend.values.kinds import CompileTime, TupleValue, Value, static_value
from amdjit.late_methods import dataclass
from amdjit.tree import nodes as tree
from amdjit.types import Scalar, Vector, f64, i32, i64

_CONVERSIONS = {-1: "", ord("s"): "s", ord("r"): "r", ord("a"): "a"}


@dataclass(frozen=True, slots=True)
class Place:
    """A value in a text: its node and its format."""

    node: ast.expr
    spec: str = ""
    conversion: str = ""


# Of an expression's text: text, or a place with its value.
Piece = str | tuple[Place, Value]


def text_of(
    builder: FunctionBuilder, nodes: list[ast.expr], separator: str = "", end: str = ""
) -> tuple[Text, tuple[tree.Expression, ...]]:
    """Return the text of expressions, joined as `print` does, and the values of its fields.

    F-strings are taken apart; every value is evaluated once, in Python's order.
    """
    parts: list[str | Field] = []
    shown: list[tree.Expression] = []
    for position, pieces in enumerate(evaluated_pieces(builder, nodes)):
        parts += [separator] if position else []
        show_pieces(builder, pieces, parts, shown)
    return checked_text(builder, [*parts, end], nodes), tuple(shown)


def evaluated_pieces(builder: FunctionBuilder, nodes: list[ast.expr]) -> list[list[Piece]]:
    """Return for each expression its text and its values, which are evaluated in Python's order."""
    pieces = [_pieces(builder, node) for node in nodes]
    places = [piece for group in pieces for piece in group if isinstance(piece, Place)]
    values = iter(builder.evaluate_all([place.node for place in places]))
    return [
        [
            piece if isinstance(piece, str) else (piece, _axes(builder, next(values), piece.node))
            for piece in group
        ]
        for group in pieces
    ]


def _axes(builder: FunctionBuilder, value: Value, node: ast.expr) -> Value:
    """Return the three numbers of `threadIdx` and its like, and other values as they are."""
    if not (isinstance(value, CompileTime) and isinstance(value.value, Coordinates)):
        return value
    return TupleValue(
        tuple(
            builder.evaluate(ast.copy_location(ast.Attribute(node, axis, ast.Load()), node))
            for axis in "xyz"
        )
    )


def show_pieces(
    builder: FunctionBuilder,
    pieces: list[Piece],
    parts: list[str | Field],
    shown: list[tree.Expression],
) -> None:
    """Append the text of one expression to `parts`, and the values of its fields to `shown`."""
    for piece in pieces:
        if isinstance(piece, str):
            parts.append(piece)
        else:
            place, value = piece
            _show(builder, value, place, parts, shown)


def checked_text(builder: FunctionBuilder, parts: list[str | Field], nodes: list[ast.expr]) -> Text:
    """Return the text of these parts if its values fit a record."""
    text = Text(_joined(parts))
    if text.words > MAX_VALUE_WORDS:
        what = f"a text with {text.words} words of values"
        remedy = (
            f"show at most {MAX_VALUE_WORDS} words of 32 bits in one statement, and the rest in "
            "others"
        )
        raise builder.error(codes.NO_OPERATION, nodes[0], what=what, remedy=remedy)
    return text


def constant_text(builder: FunctionBuilder, node: ast.JoinedStr) -> CompileTime:
    """Return the value of an f-string outside `print`, `assert` and `raise`; all its values must be
    known."""
    text, values = text_of(builder, [node])
    if values:
        raise builder.error(
            codes.NOT_CONSTANT, node, what="an f-string outside `print`, `assert` and `raise`"
        )
    return CompileTime(text.fill(()))


def _pieces(builder: FunctionBuilder, node: ast.expr) -> list[str | Place]:
    if not isinstance(node, ast.JoinedStr):
        return [Place(node)]
    pieces: list[str | Place] = []
    for part in node.values:
        if isinstance(part, ast.FormattedValue):
            spec = "" if part.format_spec is None else _specification(builder, part.format_spec)
            pieces.append(Place(part.value, spec, _CONVERSIONS[part.conversion]))
        elif isinstance(part, ast.Constant):
            pieces.append(str(part.value))
    return pieces


def _specification(builder: FunctionBuilder, node: ast.expr) -> str:
    assert isinstance(node, ast.JoinedStr)
    text, values = text_of(builder, [node])
    if values:
        raise builder.error(codes.NOT_CONSTANT, node, what="the format of an f-string's value")
    specification = text.fill(())
    check_width(builder, specification, node)
    return specification


def _show(
    builder: FunctionBuilder,
    value: Value,
    place: Place,
    parts: list[str | Field],
    shown: list[tree.Expression],
) -> None:
    known = static_value(value)
    value = _with_all_digits(builder, value, place)
    if known is not None:
        parts.append(_format(builder, known.value, place))
    elif isinstance(value, tree.Expression) and isinstance(value.type, Scalar):
        field = Field(value.type, place.spec, place.conversion)
        try:
            field.text([0] * field.words)
        except ValueError as problem:
            raise _wrong_format(builder, place, problem) from problem
        parts.append(field)
        shown.append(value)
    else:
        _show_items(builder, _items(builder, value, place), place, parts, shown)


def _with_all_digits(builder: FunctionBuilder, value: Value, place: Place) -> Value:
    number = builder.weak.number(value)
    if number is None or number.kind is bool:
        return value
    return builder.launch_parameters.read(
        number, f64 if number.kind is float else i64, builder.span(place.node)
    )


def _show_items(
    builder: FunctionBuilder,
    items: tuple[Value, ...],
    place: Place,
    parts: list[str | Field],
    shown: list[tree.Expression],
) -> None:
    if place.spec:
        raise builder.error(
            codes.CONSTANT_FAILS,
            place.node,
            message=f"the format {place.spec!r} is for one value, not for several",
        )
    parts.append("(")
    for position, item in enumerate(items):
        parts += [", "] if position else []
        _show(builder, item, Place(place.node, "", "r"), parts, shown)
    parts.append(",)" if len(items) == 1 else ")")


def _items(builder: FunctionBuilder, value: Value, place: Place) -> tuple[Value, ...]:
    if isinstance(value, TupleValue):
        return value.items
    if isinstance(value, tree.Expression) and isinstance(value.type, Vector):
        element, span = value.type.element, builder.span(place.node)
        held = builder.hold(value, "value", place.node)
        assert isinstance(held, tree.Expression)
        indices = (tree.Constant(span, i32, index) for index in range(value.type.length))
        return tuple(tree.ExtractElement(span, element, held, index) for index in indices)
    raise builder.error(
        codes.ARGUMENT_TYPE,
        place.node,
        parameter="value",
        function="print",
        expected="a number, a vector or a tuple of them",
        found=describe(value),
        remedy="show numbers: `a[i]`, `a.shape`",
    )


def _format(builder: FunctionBuilder, value: object, place: Place) -> str:
    try:
        if isinstance(value, str) or not hasattr(value, "__float__"):
            shown = repr(value) if place.conversion == "r" else str(value)
            return format(shown, place.spec)
        return format_value(value, place.spec, place.conversion)
    except (ValueError, TypeError) as problem:
        raise _wrong_format(builder, place, problem) from problem


def _wrong_format(builder: FunctionBuilder, place: Place, problem: Exception) -> CompileError:
    return builder.error(codes.CONSTANT_FAILS, place.node, message=problem)


def _joined(parts: list[str | Field]) -> tuple[str | Field, ...]:
    """Join adjacent strings."""
    joined: list[str | Field] = []
    for part in parts:
        if isinstance(part, str) and joined and isinstance(joined[-1], str):
            joined[-1] += part
        elif part != "":
            joined.append(part)
    return tuple(joined)
