"""Names where control flow meets: one binding and one type for the values of all paths."""

from __future__ import annotations

import ast
from dataclasses import replace

from amdjit.diagnostics import CompileError, ErrorKind, codes
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.building.control_flow import Exit
from amdjit.frontend.building.descriptions import describe
from amdjit.frontend.building.remedies import join_remedy
from amdjit.frontend.names.scope import _read_binding
from amdjit.frontend.numbers.conversion import (
    assign_in_each_width,
    complex_type,
    materialise,
)
from amdjit.frontend.numbers.operands import sample_of
from amdjit.frontend.values.kinds import (
    POISONED,
    Binding,
    CompileTime,
    FunctionValue,
    Method,
    NoCommonType,
    TupleValue,
    Undefined,
    Value,
    chosen_function,
    is_chosen_member,
    is_function,
    of_member,
)
from amdjit.frontend.values.promotion import literal_fits
from amdjit.language.complex_types import COMPLEX64, COMPLEX128
from amdjit.tree import nodes as tree
from amdjit.types import (
    Array,
    Layout,
    Scalar,
    Tuple,
    Type,
    Vector,
    boolean,
    f64,
    i32,
    i64,
    u32,
    u64,
)


def merge(builder: FunctionBuilder, exits: list[Exit], node: ast.AST) -> dict[str, Binding]:
    """Give every name one binding where control flow meets; conversions are added at the end of
    each path."""
    if not exits:
        return {}
    if len(exits) == 1:
        return exits[0].names
    # A long function has thousands of names at each `if`, and nearly all have the same binding on
    # all paths.
    merged = dict(exits[0].names)
    differing: dict[str, None] = {}
    for way in exits[1:]:
        differing.update(
            [(name, None) for name, binding in way.names.items() if merged.get(name) is not binding]
        )
        differing.update(dict.fromkeys(sorted(merged.keys() - way.names.keys())))
    for name in differing:
        merged[name] = merged_name(builder, name, exits, node)
    return merged


def merged_name(
    builder: FunctionBuilder, name: str, exits: list[Exit], node: ast.AST, in_new: bool = False
) -> Binding:
    """Give one name one binding where control flow meets. in_new: in a variable that nothing else
    uses."""
    bindings = [way.names.get(name) for way in exits]
    first = bindings[0]
    if first is not None and all(_same(first, other) for other in bindings[1:]):
        return first
    if any(binding is POISONED for binding in bindings):
        return POISONED
    if any(binding is None for binding in bindings):
        return Undefined("is assigned on only one path")
    for binding in bindings:
        if isinstance(binding, Undefined):
            return binding
    values = [_read_binding(builder, b, name, node) for b in bindings if b is not None]
    try:
        target = join_types(builder, f"`{name}`", values, node)
    except CompileError as failure:
        return no_common_type(failure)
    if target is None:
        return _chosen_object(builder, name, exits, values, node)
    shared = [] if in_new else bindings
    variable = _variable_of(builder, name, bindings=shared, values=values, target=target, node=node)
    for way, binding, value in zip(exits, bindings, values, strict=True):
        if binding is not variable:
            _assign_at(builder, way, variable, value)
    return variable


def _chosen_object(
    builder: FunctionBuilder, name: str, exits: list[Exit], values: list[Value], node: ast.AST
) -> Binding:
    """Return what a name without a run-time form is after several paths: of functions a variable
    says which, others have no single value."""
    if not all(map(is_function, values)):
        return Undefined("has different compile-time values on the paths that meet here")
    span = builder.span(node)
    number = builder.hidden_variable(f"{name}_chosen", i32)
    for position, way in enumerate(exits):
        constant = tree.Constant(span, i32, position)
        way.add([tree.Assign(builder.span(way.node), number, constant)])
    result = values[-1]
    for position, value in reversed(list(enumerate(values[:-1]))):
        is_this = tree.Compare(
            span,
            boolean,
            tree.Comparison.EQUAL,
            tree.Read(span, i32, number),
            tree.Constant(span, i32, position),
        )
        result = chosen_function(is_this, value, result)
    return result


def no_common_type(failure: CompileError) -> NoCommonType:
    """Return the binding of a name whose values could not be joined."""
    return NoCommonType("has values of unlike types", failure)


def _variable_of(
    builder: FunctionBuilder,
    name: str,
    bindings: list[Binding | None],
    values: list[Value],
    target: Type,
    node: ast.AST,
) -> tree.Variable:
    """Return the variable of a name where paths meet: weak if its values are."""
    weak, origin = builder.weak, builder.origin(node, name)
    is_weak = weak.are_weak(values, target)
    if is_weak and origin in weak.widened:
        variable = builder.variable(name, target)
        weak.add_twin(variable, origin, builder.hidden_variable)
        return variable
    shared = (binding for binding in bindings if weak.keeps_width(binding, target))
    variable = next(shared, None) or builder.variable(name, target)
    if is_weak:
        weak.variables.setdefault(variable, origin)
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


def _assign_at(builder: FunctionBuilder, way: Exit, variable: tree.Variable, value: Value) -> None:
    """Add a conversion at the end of a path, before its break or continue."""
    with builder.collect() as added:
        assign_in_each_width(builder, variable, value, way.node)
    way.add(added)


def join_types(
    builder: FunctionBuilder,
    name: str,
    values: list[Value],
    node: ast.AST,
    kind: ErrorKind = codes.JOIN_TYPES,
) -> Type | None:
    """Return the type that holds all the values, None if they are compile-time objects without a
    run-time form.

    name: what has these values, for the error of kind `kind` that is raised if no type holds them.
    """
    values = _chosen_members(values)
    numbers = [value for value in values if builder.weak.number(value) is not None]
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
    # A float holds any integers, also those that have no integer type in common.
    typed.sort(key=lambda type: not (isinstance(type, Scalar) and type.is_float))
    result = typed[0]
    for other in typed[1:]:
        joined = _join(builder, result, other)
        if joined is None:
            raise _unlike(builder, kind, name=name, left=result, right=other, node=node)
        result = joined
    for value in weak:
        with_literal = _join_literal(builder, result, sample_of(builder, value))
        if with_literal is None:
            raise _unlike(builder, kind, name=name, left=result, right=describe(value), node=node)
        result = with_literal
    return result


def _chosen_members(values: list[Value]) -> list[Value]:
    """Return members of one enum as those that are chosen at run time; other values as they are."""
    members = [of_member(value) for value in values]
    kinds = {
        member.structure if is_chosen_member(member) and isinstance(member, TupleValue) else None
        for member in members
    }
    return values if None in kinds or len(kinds) > 1 else members


def _unlike(
    builder: FunctionBuilder, kind: ErrorKind, name: str, left: Type, right: object, node: ast.AST
) -> CompileError:
    remedy = join_remedy(name, left, right)
    return builder.error(kind, node, name=name, left=left, right=right, remedy=remedy)


def unsigned_of_weak(builder: FunctionBuilder, carried: tree.Variable, value: Value) -> Type | None:
    """Return the unsigned type that a variable which has held only literals and the launch's
    integers may take, as these do."""
    type = value.type if isinstance(value, tree.Expression) else None
    given = builder.given.get(carried, [])
    is_weak = bool(given) and carried in builder.weak.variables and carried.type in (i32, i64)
    if not is_weak or type not in (u32, u64) or not isinstance(type, Scalar):
        return None
    return type if all(_fits(builder, item, type) for item in given) else None


def _fits(builder: FunctionBuilder, item: tree.Expression, type: Scalar) -> bool:
    if isinstance(item, tree.Read):
        # A number of the launch, which checks that it fits.
        uses = builder.launch_parameters.uses.items()
        return any(item.variable is held and use.number.kind is int for use, held in uses)
    return isinstance(item, tree.Constant) and literal_fits(item.value, type)


_COMPLEX = (COMPLEX64, COMPLEX128)


def _join(builder: FunctionBuilder, left: Type, right: Type) -> Type | None:
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
        items = [_join(builder, a, b) for a, b in zip(left.elements, right.elements, strict=True)]
        return (
            None
            if None in items
            else Tuple(tuple(item for item in items if item is not None), left.structure)
        )
    if isinstance(left, Array) and isinstance(right, Array):
        return _join_arrays(left, right)
    return (
        None
        if isinstance(left, Array) or isinstance(right, Array)
        else builder.rules.common_type(left, right)
    )


def _join_arrays(left: Array, right: Array) -> Array | None:
    """Arrays whose known layouts differ have in common that they have strides."""
    layout = Layout.STRIDED if Layout.STRIDED in (left.layout, right.layout) else Layout.ROWS
    joined = replace(left, layout=layout, alignment=0)
    return joined if joined == replace(right, layout=layout, alignment=0) else None


def _join_literal(
    builder: FunctionBuilder, result: Type, value: bool | int | float | complex | None
) -> Type | None:
    if isinstance(value, complex):
        return _join(builder, result, complex_type(builder.rules.floating))
    assert value is not None
    if result in _COMPLEX:
        return result
    scalar = builder.rules.literal_type(value, result)
    if isinstance(result, Scalar):
        return scalar
    return result if isinstance(result, Vector) and scalar == result.element else None
