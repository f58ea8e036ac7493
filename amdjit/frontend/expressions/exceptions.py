"""The exceptions that `raise` names: their class and their arguments, which reach the host."""

from __future__ import annotations

import ast
import inspect
import types
from collections.abc import Callable, Iterator
from typing import Any

from amdjit.abi.reports import (
    ExceptionArgument,
    FaultSite,
    Field,
    Group,
    KnownArgument,
    Raised,
    Text,
)
from amdjit.diagnostics import CompileError, codes
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.expressions.conditional import names_if, tested
from amdjit.frontend.expressions.faults import fault, reported
from amdjit.frontend.expressions.formatted_text import (
    Piece,
    Place,
    checked_text,
    evaluated_pieces,
    show_pieces,
)
from amdjit.frontend.numbers.conversion import is_complex, negated
from amdjit.frontend.values.kinds import CompileTime, TupleValue, Value, static_value
from amdjit.late_methods import dataclass
from amdjit.tree import nodes as tree
from amdjit.types import Scalar, Vector


@dataclass(frozen=True, slots=True)
class RaisedClass:
    """What a `raise` names. keywords: the names of the last nodes. known: the arguments of an
    exception that the kernel finds made."""

    kind: type[BaseException]
    nodes: tuple[ast.expr, ...] = ()
    keywords: tuple[str, ...] = ()
    known: tuple[object, ...] = ()


def exception_of(builder: FunctionBuilder, node: ast.Raise) -> RaisedClass:
    """Return what `raise` names: a class, a call of a class, or an exception from outside."""
    call = node.exc if isinstance(node.exc, ast.Call) else None
    callee = node.exc if call is None else call.func
    value = None if callee is None else builder.evaluate(callee)
    found = value.value if isinstance(value, CompileTime) else None
    cause = None if node.cause is None else static_value(builder.evaluate(node.cause))
    if node.cause is not None and (cause is None or cause.value is not None):
        raise _refused(builder, node, "leave `from` away, or write `from None`")
    if isinstance(found, Exception) and call is None:
        return RaisedClass(type(found), known=found.args)
    if not isinstance(found, type) or not issubclass(found, BaseException):
        raise _refused(builder, node, 'write `raise ValueError("message", value)`')
    if not issubclass(found, Exception):
        raise _refused(builder, node, f"{found.__name__} would end the host: raise an Exception")
    positional = call.args if call is not None else []
    named = call.keywords if call is not None else []
    keywords = tuple(keyword.arg or "" for keyword in named)
    if "" in keywords or any(isinstance(argument, ast.Starred) for argument in positional):
        raise _refused(builder, node, "list the arguments one by one")
    nodes = (*positional, *(keyword.value for keyword in named))
    exception = RaisedClass(found, nodes, keywords)
    _check_constructor(builder, exception, node)
    return exception


def _refused(builder: FunctionBuilder, node: ast.Raise, remedy: str) -> CompileError:
    return builder.error(
        codes.UNSUPPORTED_EXPRESSION, node, expression="this form of `raise`", remedy=remedy
    )


def _check_constructor(builder: FunctionBuilder, exception: RaisedClass, node: ast.Raise) -> None:
    """Refuse arguments that the class does not take: the host would fail to make the exception."""
    own = [getattr(exception.kind, name) for name in ("__init__", "__new__")]
    if not any(isinstance(function, types.FunctionType) for function in own):
        if exception.keywords:
            raise _refused(builder, node, f"{exception.kind.__name__} takes no keyword arguments")
        return
    places = len(exception.nodes) - len(exception.keywords)
    try:
        inspect.signature(exception.kind).bind(
            *[None] * places, **dict.fromkeys(exception.keywords)
        )
    except TypeError as problem:
        name = exception.kind.__name__
        raise _refused(builder, node, f"{name} cannot be made so: {problem}") from None


def raised_fault(builder: FunctionBuilder, node: ast.Raise, exception: RaisedClass) -> tree.Fault:
    """Make the fault of a `raise`. Its text is what Python shows: class and arguments."""
    nodes = list(exception.nodes)
    parts, shown, arguments = _arguments(builder, nodes)
    known = tuple(map(KnownArgument, exception.known))
    if known:
        parts.append(str(exception.known[0] if len(known) == 1 else exception.known))
    places = len(nodes) - len(exception.keywords)
    raised = Raised(
        exception.kind,
        (*arguments[:places], *known),
        tuple(zip(exception.keywords, arguments[places:], strict=True)),
    )
    name = exception.kind.__name__
    text = checked_text(builder, [f"{name}: " if parts else name, *parts], nodes)
    site = FaultSite("raise", text, builder.source.text.file, node.lineno, raised=raised)
    return reported(builder, node, site, tuple(shown))


def _arguments(
    builder: FunctionBuilder, nodes: list[ast.expr]
) -> tuple[list[str | Field], list[tree.Expression], list[ExceptionArgument]]:
    """Return the text of an exception's arguments, the values in it, and the arguments."""
    parts: list[str | Field] = []
    shown: list[tree.Expression] = []
    arguments: list[ExceptionArgument] = []
    is_single = len(nodes) == 1
    for node, pieces in zip(nodes, evaluated_pieces(builder, nodes), strict=True):
        is_text = isinstance(node, ast.JoinedStr)
        own: list[str | Field] = []
        start = len(shown)
        show_pieces(builder, pieces if is_single or is_text else _with_repr(pieces), own, shown)
        arguments.append(Text(tuple(own)) if is_text else _argument(pieces[0], shown[start:]))
        if is_text and not is_single:
            own = ["'", *own, "'"]
        parts += [", ", *own] if parts else own
    return parts if is_single or not nodes else ["(", *parts, ")"], shown, arguments


def _with_repr(pieces: list[Piece]) -> list[Piece]:
    return [
        piece if isinstance(piece, str) else (Place(piece[0].node, "", "r"), piece[1])
        for piece in pieces
    ]


def _argument(piece: Piece, shown: list[tree.Expression]) -> ExceptionArgument:
    """Return how the host makes an argument from the words of its values, which are `shown`."""
    assert not isinstance(piece, str)
    return _made(piece[1], iter(shown))


def _made(value: Value, shown: Iterator[tree.Expression]) -> ExceptionArgument:
    known = static_value(value)
    if known is not None:
        return KnownArgument(known.value)
    if isinstance(value, TupleValue):
        return Group(_maker(value), tuple(_made(item, shown) for item in value.items))
    if isinstance(value, tree.Expression) and isinstance(value.type, Vector):
        return Group(_tuple, tuple(_field(next(shown)) for _ in range(value.type.length)))
    return _field(next(shown))


def _field(value: tree.Expression) -> Field:
    assert isinstance(value.type, Scalar)
    return Field(value.type)


def _maker(value: TupleValue) -> Callable[..., Any]:
    if is_complex(value):
        return complex
    python = None if value.structure is None else value.structure.python
    return _tuple if python is None else python


def _tuple(*items: object) -> tuple[object, ...]:
    return items


# `assert` and `raise`, which a kernel reports to the host.


def assert_statement(builder: FunctionBuilder, node: ast.Assert) -> None:
    """`assert condition, "message"`; it emits nothing with `asserts=False`, like Python's -O."""
    if not builder.compilation.asserts:
        return
    condition = tested(builder, node.test)
    failed = negated(builder, condition, node.test)
    if isinstance(failed, CompileTime):
        if failed.value:
            builder.emit(fault(builder, node, "assert", [node.msg] if node.msg else []))
            builder.terminated = True
        return
    assert isinstance(failed, tree.Expression)
    with builder.block() as statements:
        builder.emit(fault(builder, node, "assert", [node.msg] if node.msg else []))
    builder.emit(tree.If(builder.span(node), failed, statements, []))
    builder.names = names_if(builder, condition, True)


def raise_statement(builder: FunctionBuilder, node: ast.Raise) -> None:
    """`raise ValueError("message", value)`.

    With `asserts=False` it is left out too, except in functions that return a value: there is no
    other value to return, so it still ends the wave, silently.
    """
    raised = exception_of(builder, node)
    if builder.compilation.asserts:
        builder.emit(raised_fault(builder, node, raised))
    elif _returns_a_value(builder.source.node):
        builder.emit(tree.Fault(builder.span(node), -1))
    else:
        return
    builder.terminated = True


def _returns_a_value(function: ast.FunctionDef) -> bool:
    return any(
        isinstance(node, ast.Return) and node.value is not None for node in ast.walk(function)
    )
