"""What a function returns: one compile-time value, or values of one type."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from amdjit.diagnostics import CompileError, codes
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.building.control_flow import ReturnSite
from amdjit.frontend.building.descriptions import describe
from amdjit.frontend.calls.closures import is_static
from amdjit.frontend.names.annotations import annotated_type, written_annotation
from amdjit.frontend.names.merging import join_types
from amdjit.frontend.numbers.conversion import assign_to, convert, is_complex, no_conversion
from amdjit.frontend.values.kinds import CompileTime, TupleValue, Value, static_value
from amdjit.frontend.values.structures import record_class
from amdjit.frontend.values.weak_numbers import Origin, wide_type
from amdjit.tree import nodes as tree
from amdjit.types import VOID, Tuple, Type, f32, f64, i32, i64


def static_result(builder: FunctionBuilder) -> Value | None:
    """Return the value of a body that consists of one `return` of a compile-time value, else
    None."""
    only_return = len(builder.returns) == 1 and builder.statements == [
        builder.returns[0].placeholder
    ]
    value = builder.returns[0].value if only_return else None
    if builder.weak.number(value) is not None:
        return value
    return (
        value
        if value is not None and (static_value(value) is not None or is_static(value))
        else None
    )


def finish_returns(builder: FunctionBuilder) -> tuple[Type, tuple[Origin | None, ...]]:
    """Place the returned values; return their type and, if they are weak, their origin, or one for
    each item."""
    valued = [site for site in builder.returns if site.value is not None]
    if not valued:
        return VOID, ()
    node = builder.source.node
    result = _result_type(builder, valued)
    values = [site.value for site in valued if site.value is not None]
    result, origins = (
        (result, ()) if node.returns is not None else _without_width(builder, values, result)
    )
    if not builder.terminated or len(valued) < len(builder.returns):
        raise builder.error(codes.MISSING_RETURN, node.body[-1], function=node.name, type=result)
    for site in valued:
        _place_return(builder, site, result)
    return result, origins


def result_in_spite_of_errors(builder: FunctionBuilder) -> tuple[Type | None, bool]:
    """Return the type of what a body with errors returns, and whether it is weak; no type if the
    errors may hide it."""
    written = {site.node for site in builder.returns}
    inner = (node for part in builder.source.node.body for node in _of_function(part))
    returns = [node for node in inner if isinstance(node, ast.Return)]
    if builder.abandoned or any(node not in written for node in returns):
        return None, False
    values = [site.value for site in builder.returns if site.value is not None]
    if values and all(static_value(value) is not None for value in values):
        return None, False  # it may be known when compiling, and decide what is typed
    try:
        result, origins = finish_returns(builder)
    except CompileError:
        return None, False
    return result, any(origin is not None for origin in origins)


def _of_function(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a statement, without those of inner functions."""
    yield node
    if not isinstance(node, (ast.FunctionDef, ast.Lambda)):
        for inner in ast.iter_child_nodes(node):
            yield from _of_function(inner)


def _without_width(
    builder: FunctionBuilder, values: list[Value], result: Type
) -> tuple[Type, tuple[Origin | None, ...]]:
    """Return the type of the results, wide if that was requested, and the origins of weak ones."""
    if not isinstance(result, Tuple):
        type, origin = _weak_result(builder, values, result, "return")
        return type, () if origin is None else (origin,)
    tuples = [
        value.items for value in values if isinstance(value, TupleValue) and not is_complex(value)
    ]
    if len(tuples) < len(values):
        return result, ()
    ways = zip(*tuples, strict=True)
    items = [
        _weak_result(builder, list(way), element, f"return.{i}")
        for i, (way, element) in enumerate(zip(ways, result.elements, strict=True))
    ]
    return replace(result, elements=tuple(type for type, _ in items)), tuple(
        origin for _, origin in items
    )


def _weak_result(
    builder: FunctionBuilder, values: list[Value], result: Type, name: str
) -> tuple[Type, Origin | None]:
    weak = builder.weak
    are_weak = all(isinstance(value, CompileTime) or weak.was_weak(value) for value in values)
    if not are_weak or result not in (i32, i64, f32, f64):
        return result, None
    origin = builder.origin(builder.source.node, name)
    is_wide = builder.returns_wide or origin in weak.widened
    return wide_type(result) if is_wide else result, origin


def _result_type(builder: FunctionBuilder, valued: list[ReturnSite]) -> Type:
    """Return the annotated result type, or the one that all returned values have in common."""
    node = builder.source.node
    written = written_annotation(builder, node.returns)
    if node.returns is not None and written is not None and record_class(written) is None:
        return annotated_type(builder, written, f"{node.name}(...)", node.returns)
    values = [site.value for site in valued if site.value is not None]
    result = join_types(builder, f"`{node.name}`", values, valued[-1].node, codes.RETURN_TYPES)
    if result is None:
        raise builder.error(
            codes.NO_OPERATION,
            valued[0].node,
            what=f"returning {describe(values[0])}",
            remedy="return numbers, vectors, arrays or tuples of them",
        )
    return result


def _place_return(builder: FunctionBuilder, site: ReturnSite, result: Type) -> None:
    assert site.value is not None
    place = getattr(site.node, "value", None) or site.node
    with builder.collect() as statements:
        value = return_value(builder, site.value, place, result)
        builder.emit(tree.Return(builder.span(site.node), value))
    site.replace(statements)


def leave_function(builder: FunctionBuilder, node: ast.Return) -> None:
    """`return`: the value is converted once all returns of the function are known."""
    value = None if node.value is None else builder.evaluate(node.value)
    if isinstance(value, CompileTime) and value.value is None:
        value = None
    if builder.is_kernel and value is not None:
        raise builder.error(codes.KERNEL_RETURNS, node, kernel=builder.source.node.name)
    placeholder = tree.Return(builder.span(node), None)
    builder.returns.append(ReturnSite(value, builder.statements, placeholder, node))
    builder.emit(placeholder)
    builder.terminated = True


def return_value(
    builder: FunctionBuilder, value: Value, node: ast.AST, type: Type
) -> tree.Expression:
    """Convert a returned value to the function's result type, tuples item by item."""
    if isinstance(type, Tuple) and isinstance(value, TupleValue) and not is_complex(value):
        pairs = zip(value.items, type.elements, strict=False)
        if value.structure != type.structure or len(value.items) != len(type.elements):
            raise no_conversion(builder, value, type, node)
        items = tuple(return_value(builder, item, node, element) for item, element in pairs)
        return tree.MakeTuple(builder.span(node), type, items)
    if builder.source.node.returns is not None:
        return assign_to(builder, value, type, node)
    return convert(builder, value, type, node)
