"""NumPy's ufuncs of whole arrays, `np.add(x, y, out)`: each lane that executes the call computes
every element, in a loop. With Numba's typing also of single numbers, in the types of NumPy's loops.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from amdjit.diagnostics import CompileError, codes
from amdjit.frontend.assignment.parts import check_overlap, over_axes
from amdjit.frontend.assignment.record_fields import store_element
from amdjit.frontend.building.arguments import Arguments
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.building.descriptions import count, describe
from amdjit.frontend.calls.array_creation import listed
from amdjit.frontend.calls.array_methods import is_array
from amdjit.frontend.expressions.broadcasting import Broadcast, Indices
from amdjit.frontend.expressions.fields import complex_item, element_view, is_records
from amdjit.frontend.expressions.index_checks import index_check
from amdjit.frontend.numbers.conversion import (
    assign_to,
    complex_type,
    convert,
    is_complex,
    scalar_of_complex,
)
from amdjit.frontend.values.kinds import CompileTime, TupleValue, Value
from amdjit.language.overloads import OfKind
from amdjit.late_methods import dataclass
from amdjit.tree import nodes as tree
from amdjit.types import Array, Record, Scalar, Tuple, Type, f32, f64, from_dtype

__all__ = ["call_ufunc", "loop_of"]


# Types the call of a function of numbers.
Compute = Callable[[FunctionBuilder, object, Arguments, ast.Call], Value | None]

# The most elements of a result without an output array: they are computed one by one.
_MOST_ELEMENTS = 64


@dataclass(frozen=True, slots=True)
class _Call:
    """A call: what computes one element, and in which loop; None with amdjit's own typing."""

    ufunc: np.ufunc
    inputs: tuple[Value, ...]
    """Held, so that they may be used for every element."""
    outputs: tuple[tree.Expression, ...]
    loop: Loop | None
    compute: Compute
    node: ast.Call


def call_ufunc(
    builder: FunctionBuilder,
    ufunc: np.ufunc,
    arguments: Arguments,
    compute: Compute,
    node: ast.Call,
) -> Value:
    """Type the call. compute: types the call of a function of numbers."""
    given, outputs = _operands(builder, ufunc, arguments, node)
    inputs = tuple(
        value if value in outputs else builder.hold(value, "operand", node) for value in given
    )
    loop = _loop(builder, ufunc, inputs, outputs, node)
    call = _Call(ufunc, inputs, outputs=outputs, loop=loop, compute=compute, node=node)
    if outputs:
        return _fill(builder, call)
    if any(map(is_array, inputs)):
        return _made_anew(builder, call)
    return _results(builder, call, inputs)


def _operands(
    builder: FunctionBuilder, ufunc: np.ufunc, arguments: Arguments, node: ast.Call
) -> tuple[tuple[Value, ...], tuple[tree.Expression, ...]]:
    """Return the inputs, and the arrays for the results: all or none."""
    name = f"np.{ufunc.__name__}"
    if arguments.keywords.keys() - {"out"}:
        other = min(arguments.keywords.keys() - {"out"})
        remedy = f"leave out `{other}=`; give the results' array as `out`"
        raise _refused(builder, f"`{name}` has no argument `{other}` in kernels", remedy, node)
    given = arguments.positional
    inputs, rest = given[: ufunc.nin], given[ufunc.nin :]
    if "out" in arguments.keywords and not rest:
        out = arguments.keywords["out"]
        rest = out.items if isinstance(out, TupleValue) else (out,)
    if len(inputs) < ufunc.nin or len(rest) not in (0, ufunc.nout):
        names = (*"xyz"[: ufunc.nin], *_output_names(ufunc))
        arguments.exactly(builder, node, name, names, optional=ufunc.nout)
        problem = f"`{name}` has {count(ufunc.nout, 'result')}, each of which needs an array"
        raise _refused(builder, problem, f"write `{name}({', '.join(names)})`", node)
    outputs = []
    for each in rest:
        if not isinstance(each, tree.Expression) or not isinstance(each.type, Array):
            problem = f"`{name}` writes to an array, not to {describe(each)}"
            raise _refused(builder, problem, "pass an array or a part of one: `a[i:i + 1]`", node)
        held = builder.hold(each, "out", node)
        assert isinstance(held, tree.Expression)
        outputs.append(held)
    return _same_as_outputs(inputs, tuple(outputs), arguments, node), tuple(outputs)


def _same_as_outputs(
    inputs: tuple[Value, ...],
    outputs: tuple[tree.Expression, ...],
    arguments: Arguments,
    node: ast.Call,
) -> tuple[Value, ...]:
    """Replace an input by the output if both are written the same way: `np.add(x[1:], y,
    x[1:])`."""
    places = [arguments.place(len(inputs) + i, "out", node) for i in range(len(outputs))]
    texts = {ast.dump(at): out for at, out in zip(places, outputs, strict=True) if _is_plain(at)}
    return tuple(
        texts.get(ast.dump(arguments.place(i, "", node)), value) for i, value in enumerate(inputs)
    )


def _is_plain(node: ast.expr) -> bool:
    """Whether evaluating an expression twice gives the same array."""
    return all(isinstance(part, _PLAIN) for part in ast.walk(node))


_PLAIN = (
    ast.Name, ast.Attribute, ast.Subscript, ast.Slice, ast.Tuple, ast.Constant, ast.BinOp,
    ast.UnaryOp, ast.operator, ast.unaryop, ast.expr_context,
)  # fmt: skip


def _output_names(ufunc: np.ufunc) -> tuple[str, ...]:
    return ("out",) if ufunc.nout == 1 else tuple(f"out{i}" for i in range(ufunc.nout))


def _refused(builder: FunctionBuilder, problem: str, remedy: str, node: ast.AST) -> CompileError:
    return builder.error(codes.REFUSED, node, problem=problem, remedy=remedy)


def _loop(
    builder: FunctionBuilder,
    ufunc: np.ufunc,
    inputs: tuple[Value, ...],
    outputs: tuple[tree.Expression, ...],
    node: ast.Call,
) -> Loop | None:
    """Return the types that Numba computes in; None with amdjit's typing, and for types that NumPy
    lacks."""
    if builder.rules.has_weak_literals:
        return None
    taken = [dtype_of(builder, value) for value in inputs]
    made = [dtype_of(builder, value) for value in outputs]
    known = [dtype for dtype in (*taken, *made) if dtype is not None]
    if len(known) < len(taken) + len(made):
        return None
    loop = loop_of(ufunc, known[: len(taken)], known[len(taken) :])
    if loop is None:
        types = ", ".join(map(str, known[: len(taken)]))
        target = f" with results of {', '.join(map(str, known[len(taken) :]))}" if made else ""
        problem = f"`np.{ufunc.__name__}` takes no {types}{target}"
        remedy = "convert the operands, or give an array of a type that the results convert to"
        raise _refused(builder, problem, remedy, node)
    return loop


def _results(builder: FunctionBuilder, call: _Call, items: tuple[Value, ...]) -> Value:
    """Type the function of numbers."""
    loop, node = call.loop, call.node
    if loop is None:
        return _of_numbers(builder, call, call.ufunc, items)
    typed = [
        as_loop_type(builder, item, dtype, node)
        for item, dtype in zip(items, loop.inputs, strict=True)
    ]
    if call.ufunc is np.power and isinstance(items[1], CompileTime):
        typed[1] = items[1]  # products, for a small whole exponent
    own = OfKind(call.ufunc, "integer")
    is_own = loop.kind == "integer" and own in builder.session.builtins
    made = _of_numbers(builder, call, own if is_own else call.ufunc, tuple(typed))
    if call.ufunc.nout == 1:
        return as_loop_type(builder, made, loop.outputs[0], node)
    assert isinstance(made, TupleValue)
    parts = zip(made.items, loop.outputs, strict=True)
    return TupleValue(tuple(as_loop_type(builder, part, dtype, node) for part, dtype in parts))


def _of_numbers(
    builder: FunctionBuilder, call: _Call, function: object, items: tuple[Value, ...]
) -> Value:
    made = call.compute(builder, function, Arguments(items, {}), call.node)
    assert made is not None
    return made


def _fill(builder: FunctionBuilder, call: _Call) -> Value:
    """Emit the loop over the elements of the outputs."""
    first, node = call.outputs[0], call.node
    assert isinstance(first.type, Array)
    for value in (*call.inputs, *call.outputs[1:]):
        for output in call.outputs:
            if output is not value:
                check_overlap(builder, output, value, node)
    for output in call.outputs[1:]:
        check_same_shape(builder, first, output, node)
    places = [own_indices(builder, first, value, node) for value in call.inputs]

    def one(indices: Indices) -> None:
        items = tuple(
            builder.hold(element(builder, value, place(indices), node), "element", node)
            for value, place in zip(call.inputs, places, strict=True)
        )
        made = _results(builder, call, items)
        parts = made.items if len(call.outputs) > 1 and isinstance(made, TupleValue) else (made,)
        held = [builder.hold(part, "result", node) for part in parts]
        for output, part in zip(call.outputs, held, strict=True):
            _store(builder, output, indices, part, call)

    over_axes(builder, first, kind=first.type, indices=(), store=one, node=node)
    return first if len(call.outputs) == 1 else TupleValue(call.outputs)


def _store(
    builder: FunctionBuilder,
    output: tree.Expression,
    indices: Indices,
    value: Value,
    call: _Call,
) -> None:
    """Store a result. Loops are chosen by the outputs' types, so that all results convert."""
    node = call.node
    if is_records(output):
        store_element(builder, output, indices=indices, value=value, node=node, place=node)
        return
    assert isinstance(output.type, Array)
    to_type = assign_to if call.loop is None else convert
    item = to_type(builder, value, output.type.element, node)
    check = index_check(builder, output, indices, _named(node))
    builder.emit(tree.Store(builder.span(node), output, indices, item, check=check))


def _named(node: ast.Call) -> ast.expr:
    """Return a node whose faults name the whole call's array."""
    return ast.copy_location(ast.Subscript(node, node), node)


def _made_anew(builder: FunctionBuilder, call: _Call) -> Value:
    """Compute a few elements one by one, then store them to a new local array."""
    name, node = f"np.{call.ufunc.__name__}", call.node
    shape = result_shape(builder, call.inputs, node)
    size = 0 if shape is None else int(np.prod(shape))
    if shape is None or call.ufunc.nout > 1 or not shape or size > _MOST_ELEMENTS:
        names = ", ".join(_output_names(call.ufunc))
        problem = f"`{name}` of an array without an array for its results"
        arguments = ", ".join(map(ast.unparse, node.args))
        remedy = f"pass one: `{name}({arguments}, {names})`"
        raise _refused(builder, problem, remedy, node)
    leaves = []
    places = [_constant_place(builder, shape, value, node) for value in call.inputs]
    for indices in itertools.product(*map(range, shape)):
        items = tuple(
            element(builder, value, place(indices), node)
            for value, place in zip(call.inputs, places, strict=True)
        )
        leaves.append(builder.hold(_results(builder, call, items), "result", node))
    return listed(builder, shape, tuple(leaves), node)


def _constant_place(
    builder: FunctionBuilder, shape: tuple[int, ...], value: Value, node: ast.Call
) -> Callable[[tuple[int, ...]], Indices]:
    return partial(_constant_indices, builder, value, node, len(shape))


def _constant_indices(
    builder: FunctionBuilder, value: Value, node: ast.Call, ndim: int, indices: tuple[int, ...]
) -> Indices:
    """Return the constant indices of an input's element; axes of one element are repeated."""
    if not isinstance(value, tree.Expression) or not isinstance(value.type, Array):
        return ()
    kind = value.type
    assert kind.shape is not None
    own = zip(indices[ndim - kind.ndim :], kind.shape, strict=True)
    return tuple(
        convert(builder, CompileTime(0 if extent == 1 else index), kind.index_type, node)
        for index, extent in own
    )


# Which types a NumPy ufunc computes in: that of the first of its loops that takes the operands.
#
# The loops are NumPy's (`np.add.types`), the choice is Numba's: NumPy's, but without the loops of
# f16, and beside a float or complex number an integer does not make the loop wider.


_Dtype = np.dtype[np.generic]
# f16, long double, objects, dates and durations.
_LEFT_OUT = frozenset("egGOmM")


@dataclass(frozen=True, slots=True)
class Loop:
    """The types of a ufunc's operands and results."""

    inputs: tuple[_Dtype, ...]
    outputs: tuple[_Dtype, ...]

    @property
    def kind(self) -> str:
        """The kind of numbers that it computes with, as `OfKind` names it; "" for floats."""
        kinds = {dtype.kind for dtype in self.inputs}
        return "complex" if "c" in kinds else "integer" if kinds <= set("biu") else ""


def dtype_of(builder: FunctionBuilder, value: Value) -> _Dtype | None:
    """Return the NumPy type of a number or of an array's elements; None for other values, and for
    types that NumPy lacks."""
    if isinstance(value, TupleValue):
        wide = is_complex(value) and scalar_of_complex(builder, value) == f64
        return np.dtype(np.complex128 if wide else np.complex64) if is_complex(value) else None
    if isinstance(value, CompileTime):
        if isinstance(value.value, complex):
            return np.dtype(np.complex128 if builder.rules.floating == f64 else np.complex64)
        known = builder.rules.default_type(value.value) if value.is_number else None  # type: ignore[arg-type]
        return None if known is None else known.dtype
    type = value.type if isinstance(value, tree.Expression) else None
    return _of_type(type.element if isinstance(type, Array) else type)


def _of_type(type: Type | None) -> _Dtype | None:
    if isinstance(type, Record) and type.title.startswith("complex"):
        return np.dtype(type.title)
    if not isinstance(type, Scalar) or type.dtype.kind not in "biuf":
        return None
    return type.dtype


def loop_of(ufunc: np.ufunc, inputs: Sequence[_Dtype], outputs: Sequence[_Dtype]) -> Loop | None:
    """Return the first loop that the operands convert to, and whose results convert to the
    outputs, if there are any."""
    kinds = {dtype.kind for dtype in inputs}
    is_mixed = bool(kinds & set("iu") and kinds & set("fc"))
    if ufunc is np.divide and kinds <= set("biu"):
        inputs = [np.dtype(np.float64)] * len(inputs)  # NumPy's exception, even for i8
    for text in ufunc.types:
        taken, made = text.split("->")
        if _LEFT_OUT & set(text):
            continue
        loop = Loop(tuple(map(np.dtype, taken)), tuple(map(np.dtype, made)))
        if all(
            _converts(given, wanted, is_mixed, "safe")
            for given, wanted in zip(inputs, loop.inputs, strict=True)
        ) and all(
            _converts(given, wanted, is_mixed, "same_kind")
            for given, wanted in zip(loop.outputs, outputs, strict=False)
        ):
            return loop
    return None


def _converts(given: _Dtype, wanted: _Dtype, is_mixed: bool, casting: str) -> bool:
    if is_mixed and given.kind in "iu" and wanted.kind in "fc":
        return True
    return np.can_cast(given, wanted, casting)  # type: ignore[arg-type]


def as_loop_type(builder: FunctionBuilder, value: Value, dtype: _Dtype, node: ast.AST) -> Value:
    """Convert a number to the type of a loop; complex numbers get both parts."""
    scalar = from_dtype(dtype)
    if scalar is not None:
        return convert(builder, value, scalar, node)
    target = complex_type(f32 if dtype.itemsize == 8 else f64)
    made = builder.hold(convert(builder, value, target, node), "complex", node)
    assert not isinstance(made, tree.Expression) or not isinstance(made.type, Tuple)
    return made


# How the elements of a ufunc's operands meet: NumPy's broadcasting.

_Place = Callable[[Indices], Indices]


def element(builder: FunctionBuilder, value: Value, indices: Indices, node: ast.expr) -> Value:
    """Return a number as it is, or the element of an array."""
    if not isinstance(value, tree.Expression) or not isinstance(value.type, Array):
        return value
    if is_records(value):
        view = element_view(builder, value, indices, node)
        return complex_item(builder, view, node)
    whole = ast.copy_location(ast.Subscript(node, node), node)
    fault = index_check(builder, value, indices, whole)
    return tree.Load(builder.span(node), value.type.element, value, indices, check=fault)


def check_same_shape(
    builder: FunctionBuilder, output: tree.Expression, other: tree.Expression, node: ast.expr
) -> None:
    """Refuse two outputs of different shapes; where they are known only at run time, test them."""
    _meeting(builder, output, other, node).check_same_shape()


def own_indices(
    builder: FunctionBuilder, output: tree.Expression, value: Value, node: ast.expr
) -> _Place:
    """Return what gives an operand's indices from those of the output; emit tests that it fits."""
    if not isinstance(value, tree.Expression) or not isinstance(value.type, Array):
        return lambda indices: ()
    return _meeting(builder, output, value, node).own_indices()


def _meeting(
    builder: FunctionBuilder, output: tree.Expression, value: tree.Expression, node: ast.expr
) -> Broadcast:
    return Broadcast(builder, output, value, node, lambda: _misfit(builder, output, value, node))


def _misfit(builder: FunctionBuilder, output: Value, value: Value, node: ast.AST) -> CompileError:
    problem = f"{describe(value)} cannot be broadcast to the output, {describe(output)}"
    remedy = "make the extents equal, or give the operand one element along that axis"
    return builder.error(codes.REFUSED, node, problem=problem, remedy=remedy)


def result_shape(
    builder: FunctionBuilder, values: Sequence[Value], node: ast.AST
) -> tuple[int, ...] | None:
    """Return the shape of a result, None if an operand's is known only at run time."""
    arrays = [v for v in values if isinstance(v, tree.Expression) and isinstance(v.type, Array)]
    shapes = [value.type.shape for value in arrays if isinstance(value.type, Array)]
    known = [shape for shape in shapes if shape is not None]
    if len(known) < len(shapes):
        return None
    try:
        return np.broadcast_shapes(*known)
    except ValueError as problem:
        raise builder.error(codes.CONSTANT_FAILS, node, message=problem) from problem
