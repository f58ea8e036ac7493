"""The front end's entry: a Python function and its arguments' types become a typed program."""

from __future__ import annotations

import ast
import math
import time
import types
from collections.abc import Callable, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

from amdjit.declarations import DeviceFunction, Intrinsic
from amdjit.diagnostics import CompileError, codes, in_source_order, raise_all
from amdjit.diagnostics.errors import InternalError
from amdjit.diagnostics.performance import Finding
from amdjit.frontend.building.builder import FunctionBuilder, OutOfTimeError, freeze
from amdjit.frontend.divergent_locks import divergent_locks
from amdjit.frontend.names.annotations import annotated_type, is_const, written_annotation
from amdjit.frontend.names.parameters import arguments_of, parameter_names
from amdjit.frontend.names.scope import type_body, value_of_object
from amdjit.frontend.numbers.width_warnings import narrow_products
from amdjit.frontend.session import TypingSession, new_builder, no_type
from amdjit.frontend.source.reading import FunctionSource, read_source
from amdjit.frontend.values.dependencies import Dependency, OutsideArray
from amdjit.frontend.values.kinds import (
    Binding,
    CompileTime,
    PartlyAssigned,
    TupleValue,
    Undefined,
    Value,
)
from amdjit.frontend.values.structures import record_class
from amdjit.frontend.values.weak_numbers import Origin, WeakNumbers
from amdjit.language.compile_time import Compilation
from amdjit.language.launch_numbers import LaunchNumber, LaunchUse, PythonNumber
from amdjit.late_methods import dataclass
from amdjit.tree import nodes as tree
from amdjit.tree.lds_arrays import lds_arrays
from amdjit.tree.parameter_uses import parameter_uses
from amdjit.tree.walk import called_functions
from amdjit.types import VOID, Known, Tuple, Type


@dataclass(frozen=True, slots=True)
class TypedKernel:
    """The result of the front end: the program, what it read from outside the kernel, and the
    bitcode that it needs."""

    program: tree.Program
    reads: tuple[Dependency, ...]
    source: FunctionSource
    libraries: tuple[Path, ...] = ()
    launch_uses: tuple[LaunchUse | OutsideArray | None, ...] = ()
    findings: tuple[Finding, ...] = ()
    weak: WeakNumbers = field(default_factory=WeakNumbers)


def type_kernel(
    function: types.FunctionType,
    arguments: tuple[Type | CompileTime, ...],
    compilation: Compilation,
    builtins: Mapping[Any, Intrinsic | DeviceFunction],
    type_of: Callable[[object], Type | None] = no_type,
    time_limit: float = math.inf,
    leaves_out_calls: bool = False,
) -> TypedKernel:
    """Type a kernel for its arguments: one type each, or a compile-time value for a `Const`
    parameter.

    type_of: returns the type of an object outside of the kernel that is an array of a device, and
    None for other objects. time_limit: seconds that this may take. leaves_out_calls: whether
    refused statements that give no name a value, such as `breakpoint()`, count as absent.

    A variable that began as a literal may meet a wider type after it was typed. The whole program
    is then typed again with a wider variable.
    """
    source = read_source(function)
    widened: frozenset[Origin] = frozenset()
    deadline = time.monotonic() + time_limit
    while True:
        weak = WeakNumbers(widened)
        session = TypingSession(
            compilation,
            builtins,
            type_of,
            weak=weak,
            deadline=deadline,
            leaves_out_calls=leaves_out_calls,
        )
        try:
            typed = _type_once(source, session, function, arguments)
        except OutOfTimeError as late:
            raise codes.error(codes.TOO_SLOW, late.span, limit=f"{time_limit:g}") from None
        if session.requests <= widened:
            return typed
        widened |= session.requests


def _type_once(
    source: FunctionSource,
    session: TypingSession,
    function: types.FunctionType,
    arguments: tuple[Type | CompileTime, ...],
) -> TypedKernel:
    builder = new_builder(source, session, is_kernel=True)
    names = parameter_names(builder)
    parameters = kernel_parameters(builder, names, arguments)
    session.active.append(function)
    type_body(builder)
    raise_all(in_source_order(builder.failures))
    if builder.refused:
        raise InternalError(f"{source.node.name}: a statement was refused without an error")
    body = freeze(builder.statements)
    session.requests.update(builder.launch_parameters.requests)
    passed_on = with_launch_parameters(parameters, dict(builder.launch_parameters.used(body)))
    kernel = tree.Function(
        source.node.name,
        tuple(passed_on),
        result=VOID,
        body=body,
        span=source.name_span,
        inline=False,
        reports=builder.reports,
    )
    functions = called_functions(kernel)
    program = tree.Program(kernel, functions)
    _check_lds(builder, program)
    uses = parameter_uses(program)
    reports = session.reports.table(kernel.reports)
    program = tree.Program(kernel, functions, uses.written, reports, uses.read)
    return TypedKernel(
        program,
        tuple(session.reads.values()),
        source=source,
        libraries=tuple(session.libraries),
        launch_uses=tuple(passed_on.values()),
        findings=(*session.findings.values(), *narrow_products(program), *divergent_locks(program)),
        weak=session.weak,
    )


def kernel_annotations(
    function: types.FunctionType,
    compilation: Compilation,
    builtins: Mapping[Any, Intrinsic | DeviceFunction],
) -> tuple[Type | CompileTime | None, ...]:
    """Return each parameter's annotation: a type, `CompileTime(Const)`, or None if it has none."""
    source = read_source(function)
    builder = new_builder(source, TypingSession(compilation, builtins), is_kernel=True)
    parameter_names(builder)
    result: list[Type | CompileTime | None] = []
    for argument in arguments_of(source.node):
        try:
            result.append(_annotation(builder, argument))
        except CompileError as failure:
            builder.refuse(failure)
    raise_all(in_source_order(builder.failures))
    return tuple(result)


def _annotation(builder: FunctionBuilder, argument: ast.arg) -> Type | CompileTime | None:
    try:
        return _annotated(builder, argument)
    except CompileError:
        if builder.rules.has_annotations:
            raise
        return None


def _annotated(builder: FunctionBuilder, argument: ast.arg) -> Type | CompileTime | None:
    value = written_annotation(builder, argument.annotation, of_kernel=True)
    if argument.annotation is None or value is None:
        return None
    if is_const(value) or record_class(value) is not None:
        assert isinstance(value, CompileTime)
        return value
    return annotated_type(builder, value, argument.arg, argument.annotation)


def _check_lds(builder: FunctionBuilder, program: tree.Program) -> None:
    target = builder.compilation.target
    arrays = lds_arrays(program)
    used = sum(array.nbytes for array in arrays)
    if used > target.lds_per_workgroup:
        largest = max(arrays, key=lambda array: array.nbytes)
        nbytes, limit = largest.type.size * largest.type.element.nbytes, target.lds_per_workgroup
        where = largest.allocation.span
        raise codes.error(
            codes.LDS_SIZE, where, used=used, target=target.name, limit=limit, largest=nbytes
        )


# A kernel's parameters: its arguments taken apart, and the numbers that the launch computes.


def kernel_parameters(
    builder: FunctionBuilder, names: list[str], arguments: tuple[Type | CompileTime, ...]
) -> tuple[tree.Variable | LaunchNumber, ...]:
    """Bind a kernel's parameters to the types or values of its arguments; return those that are
    passed at run time."""
    parameters: list[tree.Variable | LaunchNumber] = []
    for name, argument in zip(names, arguments, strict=True):
        if isinstance(argument, CompileTime):
            node = builder.source.node
            builder.names[name] = value_of_object(builder, argument.value, name, node)
            continue
        builder.names[name] = _parameter(builder, name, argument, parameters)
    return tuple(parameters)


def _parameter(
    builder: FunctionBuilder, name: str, type: Type, parameters: list[tree.Variable | LaunchNumber]
) -> Binding:
    """Make a kernel's parameter; every value of a tuple or record is a parameter of its own."""
    if isinstance(type, Known):
        return CompileTime(type.value)
    if isinstance(type, PythonNumber):
        number = LaunchNumber(name, type.kind)
        parameters.append(number)
        return builder.launch_parameters.read_weak(number, builder.source.name_span)
    if not isinstance(type, Tuple):
        variable = builder.variable(name, type)
        parameters.append(variable)
        return variable
    fields = (
        type.structure.fields if type.structure is not None else map(str, range(len(type.elements)))
    )
    items: list[Value] = []
    for part, element in zip(fields, type.elements, strict=True):
        item = _parameter(builder, f"{name}.{part}", element, parameters)
        assert not isinstance(item, (Undefined, PartlyAssigned))
        if isinstance(item, tree.Variable):
            item = tree.Read(builder.source.name_span, element, item)
        items.append(item)
    return TupleValue(tuple(items), type.structure)


def with_launch_parameters(
    parameters: tuple[tree.Variable | LaunchNumber, ...],
    used: dict[LaunchUse | OutsideArray, tree.Variable],
) -> dict[tree.Variable, LaunchUse | OutsideArray | None]:
    """Return the parameters with those that the launch computes, each at the place of the first
    argument that it depends on, and arrays from outside at the end."""
    passed_on: dict[tree.Variable, LaunchUse | OutsideArray | None] = {}
    for parameter in parameters:
        if isinstance(parameter, tree.Variable):
            passed_on[parameter] = None
            continue
        here = {
            variable: use
            for use, variable in used.items()
            if isinstance(use, LaunchUse) and parameter.text in use.number.parameters
        }
        passed_on |= {variable: use for variable, use in here.items() if variable not in passed_on}
    passed_on |= {variable: use for use, variable in used.items() if isinstance(use, OutsideArray)}
    return passed_on
