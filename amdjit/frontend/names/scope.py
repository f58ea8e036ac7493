"""Names: where a name's value comes from, and one value for a name where two ways of control flow
meet."""

from __future__ import annotations

import ast
import builtins
import difflib
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from amdjit.diagnostics import CompileError, ErrorKind, codes
from amdjit.frontend.building.builder import FunctionBuilder, describe
from amdjit.frontend.building.conversion import convert, materialise, sample_of
from amdjit.frontend.values.exits import Exit
from amdjit.frontend.values.kinds import (
    POISONED,
    Binding,
    CompileTime,
    FunctionValue,
    Method,
    Poisoned,
    TupleValue,
    Undefined,
    Value,
)
from amdjit.frontend.values.promotion import common_type, literal_type
from amdjit.frontend.values.structures import structure_of
from amdjit.frontend.values.weakness import origin_of, wide_type
from amdjit.language.complex_types import COMPLEX64, COMPLEX128
from amdjit.tree import nodes as tree
from amdjit.types import SCALARS, Array, Layout, Scalar, Tuple, Type, Vector, f64, from_dtype

# Rounds that a loop may be unrolled to: more would take minutes and gigabytes to compile.
MOST_ITEMS = 4096


def read_name(builder: FunctionBuilder, name: str, node: ast.AST) -> Value:
    """Return the value of a name: local, closure, global or builtin, in Python's order."""
    if name in builder.names:
        return _read_binding(builder, builder.names[name], name, node)
    if name in builder.local_names:
        raise builder.error(
            codes.UNDEFINED_NAME, node, name=name, reason="is read before it is assigned"
        )
    return outside_value(builder, _outside(builder, name, node), name, node)


def _read_binding(builder: FunctionBuilder, binding: Binding, name: str, node: ast.AST) -> Value:
    if isinstance(binding, Undefined):
        raise undefined(builder, name, binding, node)
    if isinstance(binding, tree.Variable):
        read = builder.weakness.read(tree.Read(builder.span(node), binding.type, binding))
        return builder.unpack(read) if isinstance(binding.type, Tuple) else read
    number = builder.weakness.number(binding)
    return binding if number is None else builder.launched.weak(number, builder.span(node))


def undefined(
    builder: FunctionBuilder, name: str, binding: Undefined, node: ast.AST
) -> CompileError:
    """Return the error of a name without a value; it says nothing where the cause was an error that
    is known."""
    if isinstance(binding, Poisoned):
        return CompileError()
    return builder.error(codes.UNDEFINED_NAME, node, name=name, reason=binding.reason)


def _outside(builder: FunctionBuilder, name: str, node: ast.AST) -> object:
    function = builder.source.function
    for free, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        if free == name:
            try:
                value = cell.cell_contents
            except ValueError:
                break
            builder.session.note_read(cell, name, value)
            return value
    if name in function.__globals__:
        value = function.__globals__[name]
        builder.session.note_read(function.__globals__, name, value)
        return value
    if hasattr(builtins, name):
        return getattr(builtins, name)
    known = [*builder.local_names, *function.__code__.co_freevars, *function.__globals__]
    raise builder.error(codes.UNKNOWN_NAME, node, name=name, remedy=_remedy(name, known))


_SCALARS = frozenset(scalar.name for scalar in SCALARS)


def _remedy(name: str, known: list[str]) -> str:
    element, _, length = name.partition("x")
    if element in _SCALARS and length.isdigit():
        # Only the usual lengths have names of their own.
        return (
            f"write `amdjit.vector(amdjit.{element}, {length})`, for example as a constant of "
            "the module"
        )
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.75)
    return (
        f"did you mean `{close[0]}`?"
        if close
        else "assign it before it is used, or import it in the module"
    )


def outside_value(builder: FunctionBuilder, value: object, name: str, node: ast.AST) -> Value:
    """Turn a Python object from outside the kernel into a value of it."""
    if isinstance(value, np.generic):
        return _numpy_scalar(builder, value, name, node)
    if isinstance(value, range):
        check_rounds(builder, value, node)
    if isinstance(value, (tuple, range)):
        items = (outside_value(builder, item, name, node) for item in value)
        return TupleValue(tuple(items), structure_of(type(value)))
    if isinstance(value, (np.ndarray, list, dict, set, bytearray)):
        kind = "NumPy array" if isinstance(value, np.ndarray) else type(value).__name__
        raise builder.error(codes.UNSUPPORTED_GLOBAL, node, name=name, what=f"a {kind}")
    structure = structure_of(type(value))
    if structure is not None:
        items = (
            outside_value(builder, getattr(value, part), f"{name}.{part}", node)
            for part in structure.fields
        )
        return TupleValue(tuple(items), structure)
    return CompileTime(value)


def check_rounds(builder: FunctionBuilder, rounds: range, node: ast.AST) -> None:
    """Refuse to go over more items when compiling than that can take. (`len` ends at
    sys.maxsize.)"""
    if rounds[MOST_ITEMS:]:
        count = -(-(rounds.stop - rounds.start) // rounds.step)
        raise builder.error(codes.STATIC_LOOP_LENGTH, node, rounds=count, limit=MOST_ITEMS)


def _numpy_scalar(builder: FunctionBuilder, value: np.generic, name: str, node: ast.AST) -> Value:
    if isinstance(value, np.complexfloating):
        target = COMPLEX64 if isinstance(value, np.complex64) else COMPLEX128
        return builder.unpack(convert(builder, CompileTime(complex(value)), target, node))
    scalar = from_dtype(value.dtype)
    if scalar is None:
        raise builder.error(
            codes.UNSUPPORTED_GLOBAL, node, name=name, what=f"a NumPy {value.dtype}"
        )
    return tree.Constant(builder.span(node), scalar, value.item())


def bind(builder: FunctionBuilder, name: str, value: Value, node: ast.AST) -> None:
    """Assign a value to a name. A run-time value goes to the name's variable, a new one if the type
    changes."""
    if builder.weakness.number(value) is not None:
        builder.names[name] = value
    elif isinstance(value, tree.Expression):
        builder.names[name] = _into_variable(builder, name, value, node)
    elif isinstance(value, TupleValue):
        builder.names[name] = builder.hold(value, name, node)
    else:
        builder.names[name] = value


def _into_variable(
    builder: FunctionBuilder, name: str, value: tree.Expression, node: ast.AST
) -> tree.Variable:
    current = builder.names.get(name)
    weakness, origin = builder.weakness, origin_of(builder.span(node), name)
    is_weak = weakness.is_weak(value)
    if is_weak and origin in weakness.widened:
        value = convert(builder, value, wide_type(value.type), node)
    # A weak value in a variable that is not could not be made wider any more.
    if (
        isinstance(current, tree.Variable)
        and current.type == value.type
        and (not weakness.is_weak(value) or weakness.variables.get(current) is not None)
    ):
        variable = current
    else:
        variable = builder.variable(name, value.type)
        if is_weak:
            weakness.variables[variable] = origin
    builder.emit(tree.Assign(builder.span(node), variable, value))
    return variable


def carry(
    builder: FunctionBuilder, name: str, value: tree.Expression, type: Type, node: ast.AST
) -> tree.Variable:
    """Put what a name has before a loop into a variable of a type: weak where it began as a number
    without a width."""
    origin = origin_of(builder.span(node), name)
    parts = (
        value.elements
        if isinstance(value, tree.MakeTuple) and value.type == COMPLEX64
        else (value,)
    )
    is_weak = all(builder.weakness.is_weak(part) for part in parts)
    if is_weak and origin in builder.weakness.widened:
        type = COMPLEX128 if isinstance(type, Tuple) else wide_type(type)
    variable = builder.variable(name, type)
    if is_weak:
        builder.weakness.variables[variable] = origin
    whole: Value = TupleValue(parts, COMPLEX64.structure) if len(parts) == 2 else value
    builder.emit(tree.Assign(builder.span(node), variable, convert(builder, whole, type, node)))
    builder.names[name] = variable
    return variable


def merge(builder: FunctionBuilder, exits: list[Exit], node: ast.AST) -> dict[str, Binding]:
    """Give every name one binding behind a meeting of control flow; conversions go to the end of
    each way."""
    if not exits:
        return {}
    if len(exits) == 1:
        return exits[0].names
    # A long function has thousands of names at each `if`, and nearly all have one binding on all
    # ways.
    merged = dict(exits[0].names)
    differing: dict[str, None] = {}
    for way in exits[1:]:
        differing.update(
            [(name, None) for name, binding in way.names.items() if merged.get(name) is not binding]
        )
        differing.update(dict.fromkeys(sorted(merged.keys() - way.names.keys())))
    for name in differing:
        merged[name] = _merge_name(builder, name, exits, node)
    return merged


def _merge_name(builder: FunctionBuilder, name: str, exits: list[Exit], node: ast.AST) -> Binding:
    bindings = [way.names.get(name) for way in exits]
    first = bindings[0]
    if first is not None and all(_same(first, other) for other in bindings[1:]):
        return first
    if any(binding is POISONED for binding in bindings):
        return POISONED
    if any(binding is None for binding in bindings):
        return Undefined("is assigned on one way only")
    for binding in bindings:
        if isinstance(binding, Undefined):
            return binding
    values = [_read_binding(builder, b, name, node) for b in bindings if b is not None]
    target = join_types(builder, f"`{name}`", values, node)
    if target is None:
        return Undefined("has different compile-time values on the ways that meet here")
    variable = _variable_of(builder, name, bindings, values, target, node)
    for way, binding, value in zip(exits, bindings, values, strict=True):
        if binding is not variable:
            _assign_at(builder, way, variable, value)
    return variable


def _variable_of(
    builder: FunctionBuilder, name: str, bindings: list[Binding | None], values: list[Value], target: Type,
    node: ast.AST,
) -> tree.Variable:  # fmt: skip
    """Return the variable of a name where ways meet: weak where all its values are."""
    weakness, origin = builder.weakness, origin_of(builder.span(node), name)
    is_weak = all(isinstance(value, CompileTime) or weakness.is_weak(value) for value in values)
    if is_weak and origin in weakness.widened:
        target = wide_type(target)
    variable = _shared_variable(builder, name, bindings, target)
    if is_weak:
        weakness.variables.setdefault(variable, origin)
    return variable


def _same(left: Binding, right: Binding | None) -> bool:
    if left is right:
        return True
    if isinstance(left, CompileTime) and isinstance(right, CompileTime):
        return left == right
    if isinstance(left, TupleValue) and isinstance(right, TupleValue):
        pairs = zip(left.items, right.items, strict=False)
        is_alike = left.structure == right.structure and len(left.items) == len(right.items)
        return is_alike and all(_same(a, b) for a, b in pairs)
    if isinstance(left, tree.Read) and isinstance(right, tree.Read):
        return left.variable is right.variable
    return False


def _shared_variable(
    builder: FunctionBuilder, name: str, bindings: Iterable[Binding | None], target: Type
) -> tree.Variable:
    for binding in bindings:
        if isinstance(binding, tree.Variable) and binding.type == target:
            return binding
    return builder.variable(name, target)


def _assign_at(builder: FunctionBuilder, way: Exit, variable: tree.Variable, value: Value) -> None:
    """Add a conversion where a way ends, in front of its break, continue or end."""
    with builder.collect() as added:
        converted = convert(builder, value, variable.type, way.node)
        builder.emit(tree.Assign(builder.span(way.node), variable, converted))
    way.add(added)


def join_types(
    builder: FunctionBuilder,
    name: str,
    values: list[Value],
    node: ast.AST,
    kind: ErrorKind = codes.JOIN_TYPES,
) -> Type | None:
    """Return the type that holds all the values, None if they are compile-time objects with no
    run-time form.

    name: what has these values, for the error of that kind if no type holds them.
    """
    numbers = [value for value in values if builder.weakness.number(value) is not None]
    typed = [
        value.type
        for value in values
        if isinstance(value, tree.Expression) and value not in numbers
    ]
    weak = [value for value in values if not isinstance(value, tree.Expression) or value in numbers]
    if any(
        isinstance(v, (FunctionValue, Method)) or (isinstance(v, CompileTime) and not v.is_number)
        for v in weak
    ):
        return None
    if not typed or any(isinstance(value, TupleValue) for value in weak):
        typed += [materialise(builder, value, node).type for value in weak]
        weak = []
    result = typed[0]
    for other in typed[1:]:
        joined = _join(result, other)
        if joined is None:
            raise builder.error(kind, node, name=name, left=result, right=other)
        result = joined
    for value in weak:
        with_literal = _join_literal(result, sample_of(builder, value))
        if with_literal is None:
            raise builder.error(kind, node, name=name, left=result, right=describe(value))
        result = with_literal
    return result


_COMPLEX = (COMPLEX64, COMPLEX128)


def _join(left: Type, right: Type) -> Type | None:
    if left == right:
        return left
    if left in _COMPLEX or right in _COMPLEX:
        others = [type for type in (left, right) if type not in _COMPLEX]
        if not all(isinstance(type, Scalar) and not type.storage_only for type in others):
            return None
        return COMPLEX128 if COMPLEX128 in (left, right) or f64 in others else COMPLEX64
    if isinstance(left, Tuple) and isinstance(right, Tuple):
        if left.structure != right.structure or len(left.elements) != len(right.elements):
            return None
        items = [_join(a, b) for a, b in zip(left.elements, right.elements, strict=True)]
        return (
            None
            if None in items
            else Tuple(tuple(item for item in items if item is not None), left.structure)
        )
    if isinstance(left, Array) and isinstance(right, Array):
        return _join_arrays(left, right)
    return None if isinstance(left, Array) or isinstance(right, Array) else common_type(left, right)


def _join_arrays(left: Array, right: Array) -> Array | None:
    """Arrays that differ in what is known of how they lie have in common that they have strides."""
    layout = Layout.STRIDED if Layout.STRIDED in (left.layout, right.layout) else Layout.ROWS
    joined = replace(left, layout=layout, alignment=0)
    return joined if joined == replace(right, layout=layout, alignment=0) else None


def _join_literal(result: Type, value: bool | int | float | complex | None) -> Type | None:
    if isinstance(value, complex):
        return _join(result, COMPLEX64)
    assert value is not None
    if result in _COMPLEX:
        return result
    scalar = literal_type(value, result)
    if isinstance(result, Scalar):
        return scalar
    return result if isinstance(result, Vector) and scalar == result.element else None
