"""What a function returns: one value known when compiling, or values of one type."""

from __future__ import annotations

from amdjit.diagnostics import codes
from amdjit.frontend.annotations import annotated_type, annotation_value
from amdjit.frontend.builder import FunctionBuilder, describe
from amdjit.frontend.closures import is_static
from amdjit.frontend.exits import ReturnSite
from amdjit.frontend.scope import join_types
from amdjit.frontend.statements import return_value
from amdjit.frontend.structures import record_class
from amdjit.frontend.values import CompileTime, Value, static_value
from amdjit.frontend.weakness import Origin, origin_of, wide_type
from amdjit.tree import nodes as tree
from amdjit.types import VOID, Type


def static_result(builder: FunctionBuilder) -> Value | None:
    """A body of one `return` of a compile-time value is that value."""
    only_return = len(builder.returns) == 1 and builder.statements == [builder.returns[0].placeholder]
    value = builder.returns[0].value if only_return else None
    if builder.weakness.number(value) is not None:
        return value
    return value if value is not None and (static_value(value) is not None or is_static(value)) else None


def finish_returns(builder: FunctionBuilder) -> tuple[Type, Origin | None]:
    """Type the results, and return their type, and an origin where they are weak."""
    valued = [site for site in builder.returns if site.value is not None]
    if not valued:
        return VOID, None
    node = builder.source.node
    result = _result_type(builder, valued)
    origin = None
    values = [site.value for site in valued]
    if node.returns is None and all(isinstance(v, CompileTime) or builder.weakness.is_weak(v) for v in values):
        origin = origin_of(builder.source.name_span, "return")
        result = wide_type(result) if origin in builder.weakness.widened else result
    if not builder.terminated or len(valued) < len(builder.returns):
        raise builder.error(codes.MISSING_RETURN, node.body[-1], function=node.name, type=result)
    for site in valued:
        _place_return(builder, site, result)
    return result, origin


def _result_type(builder: FunctionBuilder, valued: list[ReturnSite]) -> Type:
    """Return the annotated result type, or the one that all returned values have in common."""
    node = builder.source.node
    if node.returns is not None and record_class(annotation_value(builder, node.returns)) is None:
        name = f"{node.name}(...)"
        return annotated_type(builder, annotation_value(builder, node.returns), name, node.returns)
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
