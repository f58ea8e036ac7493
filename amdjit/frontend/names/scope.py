"""Reading and binding names: locals, closures, globals and builtins."""

from __future__ import annotations

import ast
import builtins
import difflib
import math
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from amdjit.abi.reports import FaultSite, KnownArgument, Raised, Text
from amdjit.diagnostics import CompileError, codes
from amdjit.diagnostics.performance import CompileWarning, Finding
from amdjit.frontend.building.builder import Checkpoint, FunctionBuilder
from amdjit.frontend.building.remedies import outside_remedy
from amdjit.frontend.numbers.conversion import convert, materialise, negated
from amdjit.frontend.values.dependencies import Content, content_of
from amdjit.frontend.values.kinds import (
    Binding,
    CompileTime,
    NoCommonType,
    PartlyAssigned,
    Poisoned,
    TupleValue,
    Undefined,
    Value,
    typed_constant,
)
from amdjit.frontend.values.structures import element_of_dtype, structure_of
from amdjit.frontend.values.types_of_numba import of_numba
from amdjit.frontend.values.weak_numbers import wide_type
from amdjit.language import times
from amdjit.language.complex_types import COMPLEX64, COMPLEX128
from amdjit.tree import nodes as tree
from amdjit.tree.array_views import ConstantArray
from amdjit.types import (
    SCALARS,
    AddressSpace,
    Array,
    Layout,
    Scalar,
    Tuple,
    Type,
    boolean,
    from_dtype,
    i64,
)

__all__ = ["type_body"]


# The most iterations that a loop may be unrolled to: more would take minutes and gigabytes to
# compile.
MOST_ITEMS = 4096
# The same for all loops of a function together with the functions that become parts of it; and for
# the items of a tuple with those of the tuples in it.
MOST_ROUNDS = 1 << 15


def read_name(builder: FunctionBuilder, name: str, node: ast.AST) -> Value:
    """Return the value of a name: local, closure, global or builtin, in Python's order."""
    if name in builder.names:
        return _read_binding(builder, builder.names[name], name, node)
    if name in builder.local_names:
        _note_unassigned(builder, name)
        raise builder.error(
            codes.UNDEFINED_NAME, node, name=name, reason="is read before it is assigned"
        )
    function = builder.source.function
    for free, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        if free == name:
            try:
                value = cell.cell_contents
            except ValueError:
                break
            return value_outside(builder, cell, name, value, node)
    if name in function.__globals__:
        scope = function.__globals__
        return value_outside(builder, scope, name, scope[name], node)
    if hasattr(builtins, name):
        return value_of_object(builder, getattr(builtins, name), name, node)
    known = [*builder.local_names, *function.__code__.co_freevars, *function.__globals__]
    raise builder.error(codes.UNKNOWN_NAME, node, name=name, remedy=_remedy(name, known))


def value_outside(
    builder: FunctionBuilder, scope: Any, name: str, value: object, node: ast.AST
) -> Value:
    """Turn what a variable outside of the kernel has into a value in the kernel, which depends on
    that variable. scope: as that of a `Dependency`."""
    array = builder.session.outside_array(scope, name, value)
    if array is not None:
        return builder.launch_parameters.array(array, builder.span(node))
    builder.session.note_read(scope, name, value)
    return value_of_object(builder, value, name, node)


def _read_binding(builder: FunctionBuilder, binding: Binding, name: str, node: ast.AST) -> Value:
    if isinstance(binding, Undefined):
        raise undefined(builder, name, binding, node)
    if isinstance(binding, PartlyAssigned):
        return read_partly_assigned(builder, binding, name, node)
    if isinstance(binding, tree.Variable):
        return builder.read(binding, node)
    return builder.launch_parameters.read_here(binding, builder.span(node))


def undefined(
    builder: FunctionBuilder, name: str, binding: Undefined, node: ast.AST
) -> CompileError:
    """Return the error of a name without a value; it is empty if the cause was already reported."""
    if isinstance(binding, Poisoned):
        return CompileError()
    if isinstance(binding, NoCommonType):
        return binding.error
    _note_unassigned(builder, name)
    return builder.error(codes.UNDEFINED_NAME, node, name=name, reason=binding.reason)


def _note_unassigned(builder: FunctionBuilder, name: str) -> None:
    if builder.allows_partly_assigned:
        builder.unassigned.setdefault(name, None)


_SCALARS = frozenset(scalar.name for scalar in SCALARS)


def _remedy(name: str, known: list[str]) -> str:
    element, _, length = name.partition("x")
    if element in _SCALARS and length.isdigit():
        # Only the usual lengths have names.
        return (
            f"write `amdjit.vector(amdjit.{element}, {length})`, for example as a constant of "
            "the module"
        )
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.75)
    if close:
        return f"did you mean `{close[0]}`?"
    if hasattr(math, name):
        return f"import it, `from math import {name}`, or write `math.{name}`"
    amdjit = sys.modules["amdjit"]
    if name in amdjit.__all__:
        return f"import it, `from amdjit import {name}`, or write `amdjit.{name}`"
    return "assign it before it is used, or import it in the module"


def value_of_object(builder: FunctionBuilder, value: object, name: str, node: ast.AST) -> Value:
    """Turn a Python object from outside the kernel into a value in the kernel."""
    if isinstance(value, np.generic):
        return _numpy_scalar(builder, value, name, node)
    if isinstance(value, range):
        check_iterations(builder, value, node)
    if isinstance(value, (tuple, range)):
        items = (value_of_object(builder, item, name, node) for item in value)
        return TupleValue(tuple(items), structure_of(type(value)))
    if isinstance(value, np.ndarray):
        return constant_array(builder, value, name, node)
    array = builder.session.outside_array(None, name, value)
    if array is not None:
        return builder.launch_parameters.array(array, builder.span(node))
    if _is_foreign_array(value):
        remedy = f"make it an array of amdjit outside: `{name} = amdjit.asarray({name})`"
        what = f"a {type(value).__name__}"
        raise builder.error(codes.UNSUPPORTED_GLOBAL, node, name=name, what=what, remedy=remedy)
    if isinstance(value, (list, dict, set, bytearray)):
        raise _not_readable(builder, name, f"a {type(value).__name__}", node)
    structure = structure_of(type(value))
    if structure is not None:
        items = (
            value_of_object(builder, getattr(value, part), f"{name}.{part}", node)
            for part in structure.fields
        )
        return TupleValue(tuple(items), structure)
    return CompileTime(of_numba(value))


def _not_readable(builder: FunctionBuilder, name: str, what: str, node: ast.AST) -> CompileError:
    remedy = outside_remedy(name, what)
    return builder.error(codes.UNSUPPORTED_GLOBAL, node, name=name, what=what, remedy=remedy)


def _is_foreign_array(value: object) -> bool:
    """Whether a value is another library's array; classes of arrays may be read."""
    attributes = ("__cuda_array_interface__", "__dlpack__")
    return not isinstance(value, type) and any(hasattr(value, name) for name in attributes)


def check_iterations(builder: FunctionBuilder, rounds: range, node: ast.AST) -> None:
    """Refuse to unroll more iterations than a compilation can take. (`len` fails above
    sys.maxsize.)"""
    if rounds[MOST_ITEMS:]:
        count = -(-(rounds.stop - rounds.start) // rounds.step)
        raise too_many_rounds(builder, count, node)


def count_rounds(builder: FunctionBuilder, node: ast.AST, number: int = 1) -> None:
    """Count iterations that are typed one by one. Loops within loops multiply them, and so do calls
    of functions with such loops."""
    builder.check_time(node)
    builder.rounds += number
    if builder.rounds > MOST_ROUNDS:
        builder.rounds = 0  # statements after this one have their own errors
        raise too_many_rounds(builder, f"more than {MOST_ROUNDS}", node)


def too_many_rounds(builder: FunctionBuilder, count: object, node: ast.AST) -> CompileError:
    """Return the error of a loop with too many iterations to be typed one by one."""
    return builder.error(
        codes.STATIC_LOOP_LENGTH, node, iterations=count, limit=MOST_ITEMS, total=MOST_ROUNDS
    )


def checked_size(builder: FunctionBuilder, value: TupleValue, node: ast.AST) -> TupleValue:
    """Return a tuple that is not too large to be compiled."""
    if value.size > MOST_ROUNDS:
        problem = f"this tuple has {value.size} items, those of inner tuples included"
        remedy = f"use an array: tuples have at most {MOST_ROUNDS} items"
        raise builder.error(codes.REFUSED, node, problem=problem, remedy=remedy)
    return value


def _numpy_scalar(builder: FunctionBuilder, value: np.generic, name: str, node: ast.AST) -> Value:
    if isinstance(value, np.complexfloating):
        target = COMPLEX64 if isinstance(value, np.complex64) else COMPLEX128
        return builder.unpack(convert(builder, CompileTime(complex(value)), target, node))
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return _time(builder, value, name, node)
    scalar = from_dtype(value.dtype)
    if scalar is None:
        raise _not_readable(builder, name, f"a NumPy {value.dtype}", node)
    return tree.Constant(builder.span(node), scalar, value.item())


def _time(
    builder: FunctionBuilder, value: np.datetime64 | np.timedelta64, name: str, node: ast.AST
) -> Value:
    unit = times.time_unit(value.dtype)
    if unit is None:
        what = f"a {value.dtype} without a unit"
        remedy = "give it the unit of the arrays, such as `np.datetime64(x, 'D')`"
        raise builder.error(codes.UNSUPPORTED_GLOBAL, node, name=name, what=what, remedy=remedy)
    ticks = tree.Constant(builder.span(node), i64, int(value.view(np.int64)))
    return TupleValue((ticks, CompileTime(unit)), times.time_structure(value.dtype))


def bind(builder: FunctionBuilder, name: str, value: Value, node: ast.AST) -> None:
    """Assign a value to a name. A run-time value goes to the name's variable, or a new one if the
    type changes."""
    current = builder.names.get(name)
    if isinstance(current, PartlyAssigned):
        assign_partly_assigned(builder, current, name, value, node)
    elif builder.weak.number(value) is not None:
        builder.names[name] = value
    elif (known := typed_constant(value)) is not None and not builder.weak.is_weak(value):
        builder.names[name] = known
    elif isinstance(value, tree.Expression):
        builder.names[name] = builder.assign(name, value, node, builder.variable, current)
    elif isinstance(value, TupleValue):
        builder.names[name] = builder.hold(value, name, node)
    else:
        builder.names[name] = value


def carry(
    builder: FunctionBuilder, name: str, value: tree.Expression, type: Type, node: ast.AST
) -> tree.Variable:
    """Put the value of a name before a loop into a variable of a type: weak if it began as a number
    without a width."""
    origin = builder.origin(node, name)
    parts = (
        value.elements
        if isinstance(value, tree.MakeTuple) and value.type == COMPLEX64
        else (value,)
    )
    is_weak = all(builder.weak.is_weak(part) for part in parts)
    if is_weak and origin in builder.weak.widened:
        type = COMPLEX128 if isinstance(type, Tuple) else wide_type(type)
    variable = builder.variable(name, type)
    if is_weak:
        builder.weak.variables[variable] = origin
    whole: Value = TupleValue(parts, COMPLEX64.structure) if len(parts) == 2 else value
    builder.emit(tree.Assign(builder.span(node), variable, convert(builder, whole, type, node)))
    builder.names[name] = variable
    return variable


# NumPy arrays from outside the kernel: their content becomes part of the code.

# Each launch compares the content with what was compiled in, and the code object holds it. Tables
# that kernels read through scalar loads are far smaller: the scalar cache has 16 KiB (RDNA4 ISA,
# "Scalar Memory Operations").
MOST_CONSTANT_BYTES = 64 * 1024


def constant_array(
    builder: FunctionBuilder, array: NDArray[Any], name: str, node: ast.AST
) -> tree.Expression:
    """Return a NumPy array from outside as an array in constant memory."""
    element = element_of_dtype(array.dtype)
    if element is None or isinstance(array, np.ma.MaskedArray):
        kind = "masked array" if isinstance(array, np.ma.MaskedArray) else "NumPy array"
        what = f"a {kind} of {array.dtype}"
        raise _refused(
            builder, node, name, what, f"convert it outside: `{name}.astype(np.float32)`"
        )
    if array.nbytes > MOST_CONSTANT_BYTES:
        raise _refused(
            builder,
            node,
            name,
            f"a NumPy array of {array.nbytes:,} bytes",
            f"pass it as an argument, or keep it on the device, `{name} = amdjit.to_device({name})`"
            f"; arrays of up to {MOST_CONSTANT_BYTES:,} bytes become constants",
        )
    content = content_of(array)
    builder.session.note_read(array, name, content, Content)
    type = Array(
        element, array.ndim, Layout.CONTIGUOUS, AddressSpace.CONSTANT, tuple(map(int, array.shape))
    )
    return ConstantArray(builder.span(node), type, name, content.elements)


def _refused(
    builder: FunctionBuilder, node: ast.AST, name: str, what: str, remedy: str
) -> CompileError:
    return builder.error(codes.UNSUPPORTED_GLOBAL, node, name=name, what=what, remedy=remedy)


# Names that only some paths assign, in functions with Numba's typing.
#
# Whether such a name has a value is known only when the kernel runs. Programs read these names and
# ignore the value (a lane that is beyond its data hands its sum to a reduction that leaves it out),
# so the value is zero; with `division_check=True`, which is `debug=True` of Numba's, reading it is
# an UnboundLocalError, as in Python.
#
# A function that reads such names is typed again, with each of them in one variable for the whole
# function; where reads are checked, beside another variable that says whether it has been assigned.


class _TypeAgainError(Exception):
    """A partly assigned name needs a wider type, or no variable can hold it."""


def type_body(builder: FunctionBuilder) -> None:
    """Type the statements of a function, and again as long as that finds further partly assigned
    names or wider types for them."""
    before = builder.checkpoint() if builder.allows_partly_assigned else None
    while True:
        known = builder.unassigned.keys()
        found = len(known)
        try:
            builder.run(builder.source.node.body)
        except _TypeAgainError:
            pass
        else:
            if not builder.refused or len(known) == found:
                return
        assert before is not None
        _begin_again(builder, before)


def _begin_again(builder: FunctionBuilder, before: Checkpoint) -> None:
    builder.rewind(before)
    del builder.failures[before.failures :]
    builder.refused = 0
    span = builder.source.name_span
    for name, kind in builder.unassigned.items():
        if name in builder.never_partly_assigned:
            continue
        if kind is None:
            builder.names[name] = PartlyAssigned(None, None)
            continue
        variable, assigned = builder.variable(name, kind), None
        builder.emit(tree.Assign(span, variable, _zero(builder, kind)))
        if builder.compilation.division_check:
            assigned = builder.hidden_variable("assigned", boolean)
            builder.emit(tree.Assign(span, assigned, tree.Constant(span, boolean, False)))
        builder.names[name] = PartlyAssigned(variable, assigned)


def _zero(builder: FunctionBuilder, kind: Type) -> tree.Expression:
    return convert(builder, CompileTime(0), kind, builder.source.node)


def read_partly_assigned(
    builder: FunctionBuilder, binding: PartlyAssigned, name: str, node: ast.AST
) -> Value:
    """Read a partly assigned name, with `division_check` after a check that it has been
    assigned."""
    if binding.variable is None:
        reason = "is read before it is assigned"
        raise builder.error(codes.UNDEFINED_NAME, node, name=name, reason=reason)
    span = builder.span(node)
    if binding.assigned is not None:
        missing = negated(builder, tree.Read(span, boolean, binding.assigned), node)
        assert isinstance(missing, tree.Expression)
        builder.emit(tree.If(span, missing, [_unbound(builder, name, node)], []))
    else:
        _warn(builder, name, node)
    return tree.Read(span, binding.variable.type, binding.variable)


def _warn(builder: FunctionBuilder, name: str, node: ast.AST) -> None:
    if builder.source.is_library:
        return
    found = Finding(
        "unassigned",
        builder.span(node),
        title=f"`{name}` may be read before it is assigned",
        label="is 0 then",
        help=f"assign it on every path, `{name} = 0` at first, or check with `debug=True`",
        category=CompileWarning,
    )
    builder.session.findings.setdefault((found.name, found.span.file, found.span.line), found)


def _unbound(builder: FunctionBuilder, name: str, node: ast.AST) -> tree.Fault:
    """Make the fault of a name without a value, in Python's words."""
    message = f"cannot access local variable '{name}' where it is not associated with a value"
    span = builder.span(node)
    site = FaultSite(
        "raise",
        Text((f"{UnboundLocalError.__name__}: {message}",)),
        builder.source.text.file,
        span.line,
        raised=Raised(UnboundLocalError, (KnownArgument(message),)),
    )
    builder.reports = max(builder.reports, 1)
    return tree.Fault(span, builder.session.reports.add_fault(site), ())


def assign_partly_assigned(
    builder: FunctionBuilder, binding: PartlyAssigned, name: str, value: Value, node: ast.AST
) -> None:
    """Assign to a partly assigned name."""
    if not _is_scalar(value):
        builder.never_partly_assigned.add(name)
        raise _TypeAgainError
    given = materialise(builder, value, node).type
    if binding.variable is None:
        raise _typed_again(builder, name, given)
    span, variable = builder.span(node), binding.variable
    kind = builder.rules.common_type(variable.type, given)
    if kind != variable.type:
        raise _typed_again(builder, name, kind)
    builder.emit(tree.Assign(span, variable, convert(builder, value, variable.type, node)))
    if binding.assigned is not None:
        builder.emit(tree.Assign(span, binding.assigned, tree.Constant(span, boolean, True)))


def _is_scalar(value: Value) -> bool:
    if isinstance(value, CompileTime):
        return value.is_number and not isinstance(value.value, complex)
    return isinstance(value, tree.Expression) and isinstance(value.type, Scalar)


def _typed_again(builder: FunctionBuilder, name: str, kind: Type | None) -> _TypeAgainError:
    if isinstance(kind, Scalar):
        builder.unassigned[name] = kind
    else:
        builder.never_partly_assigned.add(name)
    return _TypeAgainError()
