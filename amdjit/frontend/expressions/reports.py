"""What a kernel tells the host: `assert`, `raise`, `print`, and indices outside of their arrays."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Mapping, Sequence

from amdjit.abi.reports import FaultSite, Field, Text
from amdjit.diagnostics import codes
from amdjit.frontend.building.builder import FunctionBuilder, describe
from amdjit.frontend.expressions.conditional import tested
from amdjit.frontend.expressions.operators import compare, negated
from amdjit.frontend.expressions.texts import text_of
from amdjit.frontend.values.kinds import CompileTime, Value
from amdjit.tree import nodes as tree
from amdjit.types import Array, Scalar, boolean


def assert_statement(builder: FunctionBuilder, node: ast.Assert) -> None:
    """`assert condition, "message"`: nothing at all with `asserts=False`, as in Python with -O."""
    if not builder.session.limits.asserts:
        return
    failed = negated(builder, tested(builder, node.test), node.test)
    if isinstance(failed, CompileTime):
        if failed.value:
            builder.emit(_fault(builder, node, "assert", [node.msg] if node.msg else []))
            builder.terminated = True
        return
    assert isinstance(failed, tree.Expression)
    with builder.block() as statements:
        builder.emit(_fault(builder, node, "assert", [node.msg] if node.msg else []))
    builder.emit(tree.If(builder.span(node), failed, statements, []))


def raise_statement(builder: FunctionBuilder, node: ast.Raise) -> None:
    """`raise ValueError("message")`.

    With `asserts=False` it is left out as well. Only in a function that returns a value no other
    value could take its place: there it still ends the wave, in silence.
    """
    name, arguments = _exception(builder, node)
    if builder.session.limits.asserts:
        builder.emit(
            _fault(builder, node, "raise", arguments, prefix=f"{name}: " if arguments else name)
        )
    elif _returns_a_value(builder.source.node):
        builder.emit(tree.Fault(builder.span(node), -1))
    else:
        return
    builder.terminated = True


def _exception(builder: FunctionBuilder, node: ast.Raise) -> tuple[str, list[ast.expr]]:
    """Return the exception's name and the nodes of its message."""
    call = node.exc
    callee = call.func if isinstance(call, ast.Call) else call
    value = None if callee is None else builder.evaluate(callee)
    kind = value.value if isinstance(value, CompileTime) else None
    arguments = call.args if isinstance(call, ast.Call) else []
    keywords = call.keywords if isinstance(call, ast.Call) else []
    is_exception = isinstance(kind, type) and issubclass(kind, BaseException)
    if not is_exception or node.cause is not None or keywords or len(arguments) > 1:
        raise builder.error(
            codes.UNSUPPORTED_EXPRESSION,
            node,
            expression="this form of `raise`",
            remedy='write `raise ValueError("message")`, with any exception and one message at '
            "most",
        )
    assert isinstance(kind, type)
    return kind.__name__, list(arguments)


def _returns_a_value(function: ast.FunctionDef) -> bool:
    return any(
        isinstance(node, ast.Return) and node.value is not None for node in ast.walk(function)
    )


def _fault(
    builder: FunctionBuilder,
    node: ast.stmt | ast.expr,
    kind: str,
    message: list[ast.expr],
    prefix: str = "",
) -> tree.Fault:
    text, values = text_of(builder, message)
    builder.reports = max(builder.reports, 1)
    site = FaultSite(
        kind, Text((prefix, *text.parts)) if prefix else text, builder.source.text.file, node.lineno
    )
    return tree.Fault(builder.span(node), builder.session.reports.add_fault(site), values)


def check(builder: FunctionBuilder, failed: tree.Expression, message: str, node: ast.expr) -> None:
    """Report what Python would raise by itself where a condition holds; nothing at all with
    `asserts=False`."""
    if builder.session.limits.asserts:
        fault = _fault(builder, node, "raise", [], message)
        builder.emit(tree.If(builder.span(node), failed, [fault], []))


def is_print(value: Value) -> bool:
    """Whether a callee is Python's `print`."""
    return isinstance(value, CompileTime) and value.value is builtins.print


def print_call(builder: FunctionBuilder, node: ast.Call) -> CompileTime:
    """`print(...)`, also with `sep` and `end`."""
    texts = {"sep": " ", "end": "\n"}
    for keyword in node.keywords:
        texts[keyword.arg or ""] = _keyword_text(builder, keyword, texts.get(keyword.arg or ""))
    starred = next((argument for argument in node.args if isinstance(argument, ast.Starred)), None)
    if starred is not None:
        raise builder.error(
            codes.UNSUPPORTED_EXPRESSION,
            starred,
            expression="`*` in `print`",
            remedy="print the tuple itself",
        )
    text, values = text_of(builder, node.args, texts["sep"], texts["end"])
    builder.reports = max(builder.reports, 1)
    builder.emit(tree.Print(builder.span(node), builder.session.reports.add_print(text), values))
    return CompileTime(None)


def _keyword_text(builder: FunctionBuilder, keyword: ast.keyword, default: str | None) -> str:
    if default is None:
        raise builder.error(
            codes.UNSUPPORTED_EXPRESSION,
            keyword.value,
            expression=f"`{keyword.arg}=` of `print`" if keyword.arg else "`**`",
            remedy="a kernel prints to sys.stdout, and takes `sep` and `end`",
        )
    value = builder.evaluate(keyword.value)
    if isinstance(value, CompileTime) and value.value is None:
        return default
    if not isinstance(value, CompileTime) or not isinstance(value.value, str):
        raise builder.error(
            codes.ARGUMENT_TYPE, keyword.value, parameter=keyword.arg, function="print", expected="a string",
            found=describe(value), remedy="write a string that is known when compiling",
        )  # fmt: skip
    return value.value


def index_check(
    builder: FunctionBuilder,
    array: tree.Expression,
    indices: Sequence[tree.Expression],
    node: ast.expr,
    width: int = 1,
) -> int:
    """Return what an access carries as `check`: a fault's number plus 1, 0 where no check is wanted
    or needed."""
    kind = array.type
    assert isinstance(kind, Array)
    if not builder.session.limits.bounds_check or _is_inside(kind, indices, width):
        return 0
    return (
        _index_site(builder, kind, indices, node, f" of {width} elements" if width > 1 else "") + 1
    )


def _index_site(
    builder: FunctionBuilder,
    kind: Array,
    indices: Sequence[tree.Expression],
    node: ast.expr,
    what: str,
) -> int:
    """Return the number of the fault of an index. what: what it is an index of."""
    builder.reports = max(builder.reports, 1)
    name = _array_name(node)
    index = [Field(index.type) for index in indices if isinstance(index.type, Scalar)]
    shape = [Field(kind.index_type)] * kind.ndim
    shown = _listed(index) if len(index) > 1 else index
    text = ("index ", *shown, f"{what} is outside of `{name}`, whose shape is ", *_listed(shape))
    source = builder.source
    site = FaultSite(
        "index",
        Text(tuple(text)),
        source.text.file,
        node.lineno,
        name,
        source.is_library,
        len(index),
    )
    return builder.session.reports.add_fault(site)


def checked_axes(
    builder: FunctionBuilder,
    array: tree.Expression,
    dropped: Mapping[int, tree.Expression],
    node: ast.expr,
) -> dict[int, tree.Expression]:
    """Test the indices of the axes that a view drops; slices need no test, since what is beyond an
    end is cut off."""
    kind = array.type
    assert isinstance(kind, Array)
    if not builder.session.limits.bounds_check or not dropped:
        return dict(dropped)
    held = {axis: builder.hold(index, "index", node) for axis, index in dropped.items()}
    indices = {axis: index for axis, index in held.items() if isinstance(index, tree.Expression)}
    span = builder.span(node)
    outside: tree.Expression | None = None
    for axis, index in indices.items():
        extent = tree.Extent(span, kind.index_type, array, axis)
        for fails in (
            _compare(builder, ast.Lt, index, 0, node),
            _compare(builder, ast.GtE, index, extent, node),
        ):
            outside = (
                fails if outside is None else tree.Logical(span, boolean, False, outside, fails)
            )
    assert outside is not None
    axes = f" of axis {next(iter(indices))}" if len(indices) == 1 else f" of axes {tuple(indices)}"
    number = _index_site(builder, kind, list(indices.values()), node, axes)
    extents = tuple(tree.Extent(span, kind.index_type, array, axis) for axis in range(kind.ndim))
    builder.emit(
        tree.If(span, outside, [tree.Fault(span, number, (*indices.values(), *extents))], [])
    )
    return indices


def _compare(
    builder: FunctionBuilder,
    kind: type[ast.cmpop],
    index: tree.Expression,
    bound: tree.Expression | int,
    node: ast.expr,
) -> tree.Expression:
    result = compare(
        builder,
        kind,
        index,
        bound if isinstance(bound, tree.Expression) else CompileTime(bound),
        node,
    )
    assert isinstance(result, tree.Expression)
    return result


def _is_inside(kind: Array, indices: Sequence[tree.Expression], width: int) -> bool:
    if kind.shape is None:
        return False
    widths = [*([1] * (kind.ndim - 1)), width]
    return all(
        isinstance(index, tree.Constant) and 0 <= index.value <= extent - wide
        for index, extent, wide in zip(indices, kind.shape, widths, strict=True)
    )


def _array_name(node: ast.expr) -> str:
    """Return how the source calls the array of a subscript or of a call such as `a.load(i, 4)`."""
    if isinstance(node, ast.Subscript):
        return ast.unparse(node.value)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return ast.unparse(node.args[0] if node.func.attr == "address_of" else node.func.value)
    return ast.unparse(node.args[0]) if isinstance(node, ast.Call) and node.args else "the array"


def _listed(fields: Sequence[Field]) -> list[str | Field]:
    parts: list[str | Field] = ["("]
    for position, field in enumerate(fields):
        parts += [", ", field] if position else [field]
    return [*parts, ",)" if len(fields) == 1 else ")"]
