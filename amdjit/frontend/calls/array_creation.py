"""NumPy's functions that make arrays: `np.zeros(3)`, `np.array([x, y])`, `np.full_like(a, 2)`.

What they make is a `local.array`: one for each lane, of a shape that is known when compiling. A
place in the program makes the same memory again each time it is reached, so its values are computed
before the array is written.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from amdjit.diagnostics import CompileError, codes
from amdjit.frontend.assignment.elements import store_at
from amdjit.frontend.assignment.parts import store_part
from amdjit.frontend.building.arguments import Arguments
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.building.descriptions import describe
from amdjit.frontend.calls.allocations import MADE_ANEW, allocated, element_type, shape_of
from amdjit.frontend.expressions.array_attributes import flat
from amdjit.frontend.expressions.subscripts import item_of
from amdjit.frontend.names.merging import join_types
from amdjit.frontend.numbers.conversion import is_complex, scalar_of_complex
from amdjit.frontend.values.kinds import (
    CompileTime,
    Method,
    TupleValue,
    Value,
    as_python,
    static_value,
)
from amdjit.language.complex_types import complex64, complex128
from amdjit.tree import nodes as tree
from amdjit.types import Array, Element, Scalar, Type, boolean, f32, f64, i64

# The most elements that are written one by one, which lets LLVM keep them in registers.
_MOST_SINGLE = 64
# The most elements that are listed, computed when compiling, or copied through registers.
_MOST_LISTED = 256


Handler = Callable[[FunctionBuilder, Arguments, ast.Call], Value]


def with_tuples(callee: Value, node: ast.Call) -> ast.Call:
    """Return a call of `np.array` with tuples in place of lists, which kernels do not have."""
    known = callee.value if isinstance(callee, CompileTime) else None
    if not node.args or known not in (np.array, np.asarray):
        return node
    first = _as_tuples(node.args[0])
    made = ast.Call(node.func, [first, *node.args[1:]], node.keywords)
    return ast.copy_location(made, node)


def _as_tuples(node: ast.expr) -> ast.expr:
    if not isinstance(node, (ast.List, ast.Tuple)):
        return node
    made = ast.Tuple([_as_tuples(item) for item in node.elts], ast.Load())
    return ast.copy_location(made, node)


def _filled(name: str, value: int | None) -> Handler:
    """Return the handler of `np.zeros(shape, dtype)` and its relatives. Without a dtype elements
    are of the type that floats of the language have."""

    def handler(builder: FunctionBuilder, arguments: Arguments, node: ast.Call) -> Value:
        names = ("shape", "dtype")
        shape, dtype = arguments.exactly(builder, node, f"np.{name}", names, optional=1)
        element = _dtype_or(builder, dtype, builder.rules.floating, node)
        extents = shape_of(builder, shape, arguments.place(0, "shape", node))
        return _new(builder, element, extents, value, node)

    return handler


def _like(name: str, value: int | None) -> Handler:
    """Return the handler of `np.zeros_like(a, dtype)` and its relatives."""

    def handler(builder: FunctionBuilder, arguments: Arguments, node: ast.Call) -> Value:
        names = ("prototype", "dtype")
        array, dtype = arguments.exactly(builder, node, f"np.{name}", names, optional=1)
        kind = _known_shape(builder, array, f"np.{name}", node)
        assert kind.shape is not None
        element = _dtype_or(builder, dtype, kind.element, node)
        return _new(builder, element, kind.shape, value, node)

    return handler


def _full(builder: FunctionBuilder, arguments: Arguments, node: ast.Call) -> Value:
    names = ("shape", "fill_value", "dtype")
    shape, value, dtype = arguments.exactly(builder, node, "np.full", names, optional=1)
    extents = shape_of(builder, shape, arguments.place(0, "shape", node))
    element = _dtype_or(builder, dtype, None, node) or _common(builder, (value,), node)
    return _new(builder, element, extents, value, node)


def _full_like(builder: FunctionBuilder, arguments: Arguments, node: ast.Call) -> Value:
    names = ("a", "fill_value", "dtype")
    array, value, dtype = arguments.exactly(builder, node, "np.full_like", names, optional=1)
    kind = _known_shape(builder, array, "np.full_like", node)
    assert kind.shape is not None
    return _new(builder, _dtype_or(builder, dtype, kind.element, node), kind.shape, value, node)


def _array(builder: FunctionBuilder, arguments: Arguments, node: ast.Call) -> Value:
    """`np.array([x, y])`, `np.array(a)`: of items, and a copy of an array."""
    items, dtype = arguments.exactly(builder, node, "np.array", ("object", "dtype"), optional=1)
    if isinstance(items, tree.Expression) and isinstance(items.type, Array):
        return _copied(builder, items, _dtype_or(builder, dtype, items.type.element, node), node)
    shape = _shape_of_items(builder, items, node)
    if not shape or 0 in shape:
        raise builder.error(
            codes.BAD_SHAPE, node, found="() (one number)" if not shape else str(shape)
        )
    leaves = _leaves(items, len(shape))
    element = _dtype_or(builder, dtype, None, node) or _common(builder, leaves, node)
    return _listed(builder, element, shape, leaves, node)


def _shape_of_items(builder: FunctionBuilder, value: Value, node: ast.Call) -> tuple[int, ...]:
    if not isinstance(value, TupleValue) or value.structure is not None:
        return ()
    inner = {_shape_of_items(builder, item, node) for item in value.items}
    if len(inner) > 1:
        message = "the rows of np.array(...) differ in length"
        raise builder.error(codes.CONSTANT_FAILS, node, message=message)
    return (len(value.items), *(inner.pop() if inner else ()))


def _leaves(value: Value, depth: int) -> tuple[Value, ...]:
    if depth == 0:
        return (value,)
    assert isinstance(value, TupleValue)
    return tuple(leaf for item in value.items for leaf in _leaves(item, depth - 1))


def _common(builder: FunctionBuilder, values: tuple[Value, ...], node: ast.Call) -> Element:
    """Return the type that holds all values; Python's own numbers have that of the language."""
    if any(map(is_complex, values)):
        wide = any(
            is_complex(value) and scalar_of_complex(builder, value) == f64 for value in values
        )
        return complex128 if wide else complex64
    joined: Type | None = join_types(builder, "np.array(...)", list(values), node)
    if not isinstance(joined, Scalar):
        found = describe(next(iter(values)))
        raise builder.error(codes.ANNOTATION, node, name="dtype", found=found)
    return joined


def _dtype_or(builder: FunctionBuilder, dtype: Value, default: Any, node: ast.Call) -> Any:
    """Return the type that `dtype` names; Python's `int` and `float` are NumPy's, of 64 bits."""
    known = dtype.value if isinstance(dtype, CompileTime) else None
    if dtype == CompileTime(None):
        return default
    if known is int or known is float:
        return i64 if known is int else f64
    return element_type(builder, dtype, node)


def _known_shape(builder: FunctionBuilder, array: Value, name: str, node: ast.Call) -> Array:
    kind = array.type if isinstance(array, tree.Expression) else None
    if not isinstance(kind, Array) or not kind.ndim:
        raise builder.error(codes.NOT_INDEXABLE, node, type=describe(array))
    if kind.shape is None:
        remedy = "make a local array of a constant shape, and assign: `own[:] = a[:4]`"
        problem = f"`{name}` of an array whose shape is known only at run time"
        raise builder.error(codes.REFUSED, node, problem=problem, remedy=remedy)
    return kind


def _new(
    builder: FunctionBuilder,
    element: Element,
    shape: tuple[int, ...],
    value: Value | int | None,
    node: ast.Call,
) -> Value:
    """Make an array whose elements are all the value."""
    filling = CompileTime(value) if isinstance(value, int) else value
    held = None if filling is None else builder.hold(filling, "value", node)
    made = allocated(builder, element, shape, node, name=MADE_ANEW)
    assert isinstance(made.type, Array)
    if held is None:
        return made
    if made.type.size > _MOST_SINGLE:
        _check_numbers(builder, element, node)
        store_part(builder, made, held, node, node)
        return made
    return _written(builder, made, shape, (held,) * made.type.size, node)


def _check_numbers(builder: FunctionBuilder, element: Element, node: ast.Call) -> None:
    if not isinstance(element, Scalar):
        raise _too_many(builder, _MOST_SINGLE, f"elements of {element}", node)


def _too_many(builder: FunctionBuilder, limit: int, what: str, node: ast.Call) -> CompileError:
    problem = f"more than {limit} {what} cannot be written at once"
    remedy = "make the array with `np.empty` or `local.array`, and fill it in a loop"
    return builder.error(codes.REFUSED, node, problem=problem, remedy=remedy)


def listed(
    builder: FunctionBuilder, shape: tuple[int, ...], leaves: tuple[Value, ...], node: ast.Call
) -> tree.Expression:
    """Make an array of values that have been computed, in C order."""
    return _listed(builder, _common(builder, leaves, node), shape, leaves, node)


def _listed(
    builder: FunctionBuilder,
    element: Element,
    shape: tuple[int, ...],
    leaves: tuple[Value, ...],
    node: ast.Call,
) -> tree.Expression:
    if len(leaves) > _MOST_LISTED:
        raise _too_many(builder, _MOST_LISTED, "listed elements", node)
    held = tuple(builder.hold(leaf, "item", node) for leaf in leaves)
    made = allocated(builder, element, shape, node, name=MADE_ANEW)
    return _written(builder, made, shape, held, node)


def _written(
    builder: FunctionBuilder,
    made: tree.Expression,
    shape: tuple[int, ...],
    values: tuple[Value, ...],
    node: ast.Call,
) -> tree.Expression:
    place = ast.copy_location(ast.Subscript(node, node, ast.Store()), node)
    for indices, value in zip(itertools.product(*map(range, shape)), values, strict=True):
        index = TupleValue(tuple(CompileTime(i) for i in indices))
        store_at(builder, place, container=made, index=index, value=value, place=node)
    return made


def _copied(
    builder: FunctionBuilder, array: tree.Expression, element: Element, node: ast.Call
) -> tree.Expression:
    """Copy an array through registers: its memory may be that of the new one."""
    kind = _known_shape(builder, array, "copy", node)
    assert kind.shape is not None
    if kind.size > _MOST_LISTED:
        raise _too_many(builder, _MOST_LISTED, "copied elements", node)
    source = builder.hold(array, "array", node)
    places = itertools.product(*map(range, kind.shape))
    leaves = (
        item_of(builder, source, TupleValue(tuple(map(CompileTime, place))), node)
        for place in places
    )
    return _listed(builder, element, kind.shape, tuple(leaves), node)


def _copy(builder: FunctionBuilder, arguments: Arguments, node: ast.Call) -> Value:
    (array,) = arguments.exactly(builder, node, "np.copy", ("a",))
    kind = _known_shape(builder, array, "np.copy", node)
    assert isinstance(array, tree.Expression)
    return _copied(builder, array, kind.element, node)


def _on_host(function: Callable[..., Any]) -> Handler:
    """Return the handler of a function of constants, such as `np.arange(4)`."""

    def handler(builder: FunctionBuilder, arguments: Arguments, node: ast.Call) -> Value:
        dtype = arguments.keywords.get("dtype", CompileTime(None))
        given = [static_value(as_python(value)) for value in arguments.positional]
        if any(value is None for value in given) or arguments.keywords.keys() - {"dtype"}:
            what = f"every argument of `np.{function.__name__}`"
            raise builder.error(codes.NOT_CONSTANT, node, what=what)
        try:
            values = function(*(value.value for value in given if value is not None))
        except Exception as problem:
            raise builder.error(codes.CONSTANT_FAILS, node, message=problem) from problem
        if not values.size or values.dtype.kind not in "bif":
            raise builder.error(codes.BAD_SHAPE, node, found=str(values.shape))
        rules = builder.rules
        default = {"b": boolean, "i": rules.integer, "f": rules.floating}[values.dtype.kind]
        leaves = tuple(CompileTime(value) for value in values.reshape(-1).tolist())
        return _listed(
            builder, _dtype_or(builder, dtype, default, node), values.shape, leaves, node
        )

    return handler


def made_from(
    builder: FunctionBuilder, method: Method, arguments: Arguments, node: ast.Call
) -> Value | None:
    """Type `a.copy()`, `a.flatten()`, `a.astype(f32)` and `a.fill(0)`; None for other methods."""
    array, name = method.receiver, method.name
    assert isinstance(array, tree.Expression)
    if name == "fill":
        (value,) = arguments.exactly(builder, node, "fill", ("value",))
        store_part(builder, array, value, node, node)
        return CompileTime(None)
    if name == "astype":
        (dtype,) = arguments.exactly(builder, node, "astype", ("dtype",))
        return _copied(builder, array, _dtype_or(builder, dtype, f32, node), node)
    if name not in ("copy", "flatten"):
        return None
    arguments.exactly(builder, node, name, ())
    made = _copied(builder, array, _known_shape(builder, array, name, node).element, node)
    return made if name == "copy" else flat(builder, made, node)


CREATIONS: Mapping[Any, Handler] = {
    np.arange: _on_host(np.arange),
    np.array: _array,
    np.asarray: _array,
    np.copy: _copy,
    np.empty: _filled("empty", None),
    np.empty_like: _like("empty_like", None),
    np.eye: _on_host(np.eye),
    np.full: _full,
    np.full_like: _full_like,
    np.identity: _on_host(np.identity),
    np.linspace: _on_host(np.linspace),
    np.ones: _filled("ones", 1),
    np.ones_like: _like("ones_like", 1),
    np.zeros: _filled("zeros", 0),
    np.zeros_like: _like("zeros_like", 0),
}
