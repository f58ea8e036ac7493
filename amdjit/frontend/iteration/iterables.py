"""What loops iterate over: a range or sequence at run time, or items of compile-time length."""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable, Mapping
from typing import cast

from amdjit.declarations import Form, SpecialForm
from amdjit.diagnostics import codes
from amdjit.frontend.building.arguments import constant_integer
from amdjit.frontend.building.builder import FunctionBuilder, Made
from amdjit.frontend.building.descriptions import describe
from amdjit.frontend.building.remedies import integer_remedy
from amdjit.frontend.iteration.sequences import (
    Bounds,
    Sequence,
    array_sequence,
    backwards,
    bounds_of,
    flat_sequence,
    numbered,
    range_sequence,
    zipped,
)
from amdjit.frontend.names.scope import MOST_ITEMS, check_iterations
from amdjit.frontend.source.bound_names import changed_names
from amdjit.frontend.values.kinds import CompileTime, Method, TupleValue, Value, as_python
from amdjit.tree import nodes as tree
from amdjit.types import Array, Scalar

Iterable = tuple[Value, ...] | Bounds | Sequence

_REMEDY = (
    "loop over an array, `range(...)`, `static_range(...)` or a tuple, also through `zip`, "
    "`enumerate` and `reversed`"
)
_BESIDE_A_TUPLE = (
    "loop over the tuple and index the array, `for k, item in enumerate(items): "
    "a[k]`, or pass the tuple as an array"
)


def iterable_of(builder: FunctionBuilder, node: ast.For) -> tuple[Iterable, int]:
    """Return the range, the items or the sequence that a loop iterates over, and how many
    iterations to unroll."""
    call = node.iter
    if isinstance(call, ast.Call):
        callee = builder.evaluate(call.func)
        if isinstance(callee, CompileTime) and _is_form(callee.value, Form.UNROLL):
            return _unrolled(builder, call)
    return items_of(builder, call), 0


def _is_form(value: object, form: Form) -> bool:
    return isinstance(value, SpecialForm) and value.form is form


def items_of(builder: FunctionBuilder, node: ast.expr) -> Iterable:
    """Type what a loop or a comprehension iterates over."""
    if isinstance(node, ast.Call):
        callee = builder.evaluate(node.func)
        known = callee.value if isinstance(callee, CompileTime) else None
        if _is_form(known, Form.STATIC_RANGE):
            return _static_items(builder, node)
        if isinstance(known, Hashable) and known in _ITERABLES:
            return _ITERABLES[known](builder, node)
    value = builder.evaluate(node)
    if isinstance(value, TupleValue):
        return value.items
    if isinstance(value, tree.Expression) and isinstance(value.type, Array):
        return array_sequence(builder, value, node)
    if isinstance(value, Method) and value.name == "flat":
        return flat_sequence(builder, value.receiver, node)
    raise builder.error(codes.LOOP_OVER, node, what=describe(value), remedy=_REMEDY)


def evaluated(
    builder: FunctionBuilder, items: tuple[Value, ...], place: ast.expr, loop: ast.AST
) -> tuple[Value, ...]:
    """Evaluate, before the first iteration of a loop or comprehension, the items that its
    iterations may change."""
    bindings = map(builder.names.get, changed_names([loop]))
    changed = {binding for binding in bindings if isinstance(binding, tree.Variable)}
    return tuple(builder.evaluate_now(item, place, changed) for item in items)


def static_items(items: Iterable) -> tuple[Value, ...] | None:
    """Return the items if their number is known when compiling and not too large to unroll."""
    if isinstance(items, Bounds):
        rounds = _rounds(items)
        return (
            tuple(CompileTime(i) for i in rounds)
            if rounds is not None and not rounds[MOST_ITEMS:]
            else None
        )
    return items if isinstance(items, tuple) else None


def _rounds(bounds: Bounds) -> range | None:
    known = [as_python(value) for value in bounds.values]
    values = [value.value for value in known if isinstance(value, CompileTime)]
    whole = [int(value) for value in values if isinstance(value, int)]
    return range(*whole) if len(whole) == 3 else None


def _sequence(builder: FunctionBuilder, items: Iterable, node: ast.expr) -> Sequence:
    if isinstance(items, Bounds):
        return range_sequence(builder, items, node)
    if isinstance(items, tuple):
        what = "a tuple together with something whose length is known only at run time"
        raise builder.error(codes.LOOP_OVER, node, what=what, remedy=_BESIDE_A_TUPLE)
    return items


def _in_order(builder: FunctionBuilder, nodes: list[ast.expr]) -> list[Iterable]:
    """Type iterables that Python evaluates one after the other."""
    found: list[Iterable] = []
    for node in nodes:
        found, items = _after(builder, found, lambda inner: items_of(builder, inner), node)
        found.append(items)
    return found


def _after(
    builder: FunctionBuilder,
    earlier: list[Iterable],
    make: Callable[[ast.expr], Made],
    node: ast.expr,
) -> tuple[list[Iterable], Made]:
    """Apply `make` to a node that Python evaluates after some iterables. Sequences are held
    already."""
    parts = [
        () if isinstance(e, Sequence) else tuple(e.values) if isinstance(e, Bounds) else e
        for e in earlier
    ]
    evaluated, made = builder.after([TupleValue(part) for part in parts], make, node)
    items = [value.items for value in evaluated if isinstance(value, TupleValue)]
    return [_with_items(*pair) for pair in zip(earlier, items, strict=True)], made


def _with_items(iterable: Iterable, items: tuple[Value, ...]) -> Iterable:
    if isinstance(iterable, Bounds):
        start, stop, step = items
        return Bounds(start, stop, step, iterable.fixed)
    return iterable if isinstance(iterable, Sequence) else items


def _enumerate(builder: FunctionBuilder, call: ast.Call) -> Iterable:
    given = [
        *call.args[1:],
        *(keyword.value for keyword in call.keywords if keyword.arg == "start"),
    ]
    if not call.args or len(given) > 1 or len(given) < len(call.args[1:]) + len(call.keywords):
        raise builder.error(
            codes.ARGUMENT_COUNT,
            call,
            function="enumerate",
            expected="an iterable and a start",
            given="other arguments were given",
            signature="enumerate(items, start=0)",
        )
    (items,) = _in_order(builder, call.args[:1])
    first: Value = CompileTime(0)
    if given:
        (items,), first = _after(builder, [items], builder.evaluate, given[0])
    known = static_items(items)
    if known is not None and isinstance(first, CompileTime):
        start = constant_integer(builder, first, call, "the start of `enumerate`")
        return tuple(TupleValue((CompileTime(i), item)) for i, item in enumerate(known, start))
    type = first.type if isinstance(first, tree.Expression) else None
    is_integer = isinstance(type, Scalar) and type.is_integer
    if not is_integer and not (isinstance(first, CompileTime) and isinstance(first.value, int)):
        raise builder.error(
            codes.INDEX_TYPE,
            given[0],
            type=describe(first),
            remedy=integer_remedy(first, given[0]),
        )
    sequence = _sequence(builder, items, call.args[0])
    return numbered(builder, sequence, builder.hold(first, "start", call), call)


def _zip(builder: FunctionBuilder, call: ast.Call) -> Iterable:
    columns = _in_order(builder, call.args)
    strict = _strict(builder, call)
    known = [static_items(column) for column in columns]
    if not any(items is None for items in known):
        rows = [items for items in known if items is not None]
        if strict and len({len(row) for row in rows}) > 1:
            raise builder.error(
                codes.CONSTANT_FAILS, call, message="the arguments of zip() differ in length"
            )
        return tuple(TupleValue(row) for row in zip(*rows, strict=False))
    if strict:
        remedy = "leave out `strict`: lengths that are known only at run time are not compared"
        place = call.keywords[0].value
        raise builder.error(
            codes.UNSUPPORTED_EXPRESSION, place, expression="`strict=True` here", remedy=remedy
        )
    sequences = [_sequence(builder, *pair) for pair in zip(columns, call.args, strict=True)]
    return zipped(builder, sequences, call)


def _strict(builder: FunctionBuilder, call: ast.Call) -> bool:
    strict = False
    for keyword in call.keywords:
        value = builder.evaluate(keyword.value)
        if keyword.arg != "strict" or not isinstance(value, CompileTime):
            raise builder.error(
                codes.UNSUPPORTED_EXPRESSION,
                keyword.value,
                expression="this",
                remedy="`strict=True`",
            )
        strict = bool(value.value)
    return strict


def _reversed(builder: FunctionBuilder, call: ast.Call) -> Iterable:
    if len(call.args) != 1 or call.keywords:
        raise builder.error(
            codes.ARGUMENT_COUNT,
            call,
            function="reversed",
            expected="1 argument in a kernel",
            given=f"{len(call.args)} were given",
            signature="reversed(items)",
        )
    items = items_of(builder, call.args[0])
    known = static_items(items)
    if known is not None:
        return known[::-1]
    return backwards(builder, _sequence(builder, items, call.args[0]), call)


_ITERABLES: Mapping[Hashable, Callable[[FunctionBuilder, ast.Call], Iterable]] = {
    enumerate: _enumerate,
    range: bounds_of,
    reversed: _reversed,
    zip: _zip,
}


def _unrolled(builder: FunctionBuilder, call: ast.Call) -> tuple[Bounds, int]:
    """Type `unroll(range(...))`, which unrolls all iterations, or `unroll(range(...), 4)`, four at
    a time."""
    inner = call.args[0] if call.args else call
    is_range = isinstance(inner, ast.Call) and builder.evaluate(inner.func) == CompileTime(range)
    if not is_range or len(call.args) > 2:
        raise builder.error(
            codes.LOOP_OVER,
            call,
            what="`unroll(...)` of something other than `range(...)`",
            remedy=_REMEDY,
        )
    factor = builder.evaluate(call.args[1]) if len(call.args) == 2 else CompileTime(-1)
    factor = as_python(factor)
    if not isinstance(factor, CompileTime) or not isinstance(factor.value, int):
        raise builder.error(codes.NOT_CONSTANT, call, what="the number of unrolled iterations")
    return bounds_of(builder, cast(ast.Call, inner)), int(factor.value)


def _static_items(builder: FunctionBuilder, call: ast.Call) -> tuple[Value, ...]:
    rounds = _rounds(bounds_of(builder, call))
    if rounds is None:
        place = call.args[0] if len(call.args) == 1 else call
        raise builder.error(codes.NOT_CONSTANT, place, what="a bound of `static_range`")
    check_iterations(builder, rounds, call)
    return tuple(CompileTime(i) for i in rounds)


def has_iterations(bounds: list[Value]) -> bool:
    """Whether constant bounds guarantee at least one iteration."""
    whole = [as_python(bound) for bound in bounds]
    known = [
        bound.value
        for bound in whole
        if isinstance(bound, CompileTime) and isinstance(bound.value, int)
    ]
    return len(known) == len(bounds) and bool(range(*known))
