"""The front end's entry: a Python function and its arguments' types become a typed program."""

from __future__ import annotations

import ast
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from amdjit.abi.reports import CallSite
from amdjit.declarations import DeviceFunction, Intrinsic
from amdjit.diagnostics import CompileError, codes, in_source_order, raise_all
from amdjit.diagnostics.performance import Finding
from amdjit.frontend.building.builder import FunctionBuilder, StatementHandler, describe
from amdjit.frontend.building.compilation import Limits
from amdjit.frontend.building.freeze import freeze
from amdjit.frontend.building.report_sites import ReportSites
from amdjit.frontend.calls.closures import LocalFunction, define, local_signature, refreshed, split
from amdjit.frontend.expression_typing import EXPRESSIONS
from amdjit.frontend.expressions.narrow_products import narrow_products
from amdjit.frontend.names.annotations import annotated_type, annotation_value, is_const
from amdjit.frontend.names.kernel_parameters import kernel_parameters, with_launched
from amdjit.frontend.names.parameters import (
    argument_key,
    arguments_of,
    beside_others,
    bind_arguments,
    bind_captured,
    bind_parameters,
    match_arguments,
    parameter_names,
    passed,
    run_time_parts,
)
from amdjit.frontend.source.bound_names import assigned_names
from amdjit.frontend.source.reading import FunctionSource, is_library, read_source
from amdjit.frontend.statements.loops import LOOPS
from amdjit.frontend.statements.matching import match
from amdjit.frontend.statements.returns import finish_returns, static_result
from amdjit.frontend.statements.simple import STATEMENTS
from amdjit.frontend.values.dependencies import OutsideRead
from amdjit.frontend.values.effects import written_parameters
from amdjit.frontend.values.kinds import CompileTime, FunctionValue, Value
from amdjit.frontend.values.structures import record_class
from amdjit.frontend.values.weakness import Origin, Weakness, used
from amdjit.language.launch_numbers import LaunchUse
from amdjit.tree import nodes as tree
from amdjit.tree.lds_arrays import has_own_lds_arrays, lds_arrays
from amdjit.tree.walk import called_functions
from amdjit.types import VOID, Array, Tuple, Type

_STATEMENTS: Mapping[type[ast.stmt], StatementHandler] = {
    **STATEMENTS,
    **LOOPS,
    ast.Match: match,
    ast.FunctionDef: define,
}


@dataclass(frozen=True, slots=True)
class TypedKernel:
    """What the front end gives: the program, what it read from outside the kernel, and the bitcode
    that it needs."""

    program: tree.Program
    reads: tuple[OutsideRead, ...]
    source: FunctionSource
    libraries: tuple[Path, ...] = ()
    launch_uses: tuple[LaunchUse | None, ...] = ()
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class _Instance:
    """A device function typed for some arguments; `value` is set where it just returns a
    compile-time value.

    uses: the launch's numbers that it takes behind its parameters.
    """

    function: tree.Function | None
    value: Value | None = None
    uses: tuple[LaunchUse, ...] = ()
    is_shared: bool = (
        True  # between calls; not where it has LDS arrays, of which each call has its own
    )


_Key = tuple[object, tuple[object, ...]]


@dataclass
class _Session:
    """Types a kernel and, once for each combination of argument types, the functions it calls."""

    limits: Limits
    builtins: Mapping[Any, Intrinsic | DeviceFunction]
    functions: list[tree.Function] = field(default_factory=list)
    reads: dict[tuple[int, str], OutsideRead] = field(default_factory=dict)
    instances: dict[_Key, _Instance | CompileError] = field(default_factory=dict)
    sources: dict[types.FunctionType, FunctionSource] = field(default_factory=dict)
    active: list[object] = field(default_factory=list)
    reports: ReportSites = field(default_factory=ReportSites)
    libraries: dict[Path, None] = field(default_factory=dict)
    weakness: Weakness = field(default_factory=Weakness)
    requests: set[Origin] = field(default_factory=set)
    findings: dict[tuple[str, str, int], Finding] = field(default_factory=dict)

    def note_library(self, file: Path) -> None:
        """Remember that the code calls a function of this bitcode."""
        self.libraries[file] = None

    def note_read(self, scope: Any, name: str, value: object) -> None:
        """Remember that the code depends on this variable."""
        self.reads[(id(scope), name)] = OutsideRead(scope, name, value)

    def call(
        self,
        builder: FunctionBuilder,
        function: DeviceFunction,
        positional: tuple[Value, ...],
        keywords: dict[str, Value],
        node: ast.expr,
    ) -> Value:
        """Type the function for these arguments, and the call."""
        python = function.function
        if not isinstance(python, types.FunctionType):
            raise builder.error(codes.NOT_CALLABLE, node, what=describe(CompileTime(python)))
        if python in self.active:
            raise builder.error(codes.RECURSION, node, function=python.__name__)
        if not (python.__module__ or "").startswith("amdjit."):
            self.note_read(python, "__code__", python.__code__)
        arguments = bind_arguments(builder, python, positional, keywords, node)
        arguments = {name: refreshed(builder, value) for name, value in arguments.items()}
        if (
            any(map(self.weakness.number, arguments.values()))
            and function in self.builtins.values()
        ):
            arguments = beside_others(builder, arguments, node)
        keys = (
            argument_key(builder, value, node, is_library(python)) for value in arguments.values()
        )
        key: _Key = (python, tuple(keys))
        instance = self._instance(
            builder, key, node, lambda: self._instantiate(function, python, arguments)
        )
        return self._result(builder, instance, arguments, node)

    def call_local(
        self,
        builder: FunctionBuilder,
        function: Value,
        positional: tuple[Value, ...],
        keywords: dict[str, Value],
        node: ast.expr,
    ) -> Value:
        """Type a function made in the kernel for these arguments, and the call."""
        assert isinstance(function, FunctionValue)
        local = function.function
        assert isinstance(local, LocalFunction)
        if local.source.node in self.active:
            raise builder.error(codes.RECURSION, node, function=local.name)
        inner = new_builder(local.source, self, is_kernel=False)
        defaults, captured = split(function)
        if local.name in local.free - captured.keys():
            inner.names[local.name] = FunctionValue(local, (), ())
        signature = local_signature(inner, defaults)
        given = match_arguments(builder, local.name, signature, positional, keywords, node)
        arguments = {
            name: refreshed(builder, given[name] if name in given else defaults[name])
            for name in signature.parameters
        }
        whole = {**arguments, **captured}
        key: _Key = (
            local,
            tuple((n, argument_key(builder, value, node)) for n, value in whole.items()),
        )

        def make() -> _Instance:
            parameters = (*bind_parameters(inner, arguments), *bind_captured(inner, captured))
            return self._type_body(inner, local.source.node, parameters)

        return self._result(builder, self._instance(builder, key, node, make), whole, node)

    def _instance(
        self, builder: FunctionBuilder, key: _Key, node: ast.expr, make: Callable[[], _Instance]
    ) -> _Instance:
        """Type a function for these arguments: once, or once a call where it has LDS arrays."""
        found = self.instances.get(key)
        if found is None or (isinstance(found, _Instance) and not found.is_shared):
            try:
                found = self.instances[key] = make()
            except CompileError as failure:
                found = self.instances[key] = failure
        if isinstance(found, CompileError):
            raise _with_call(found, builder, node, is_library(key[0]))
        return found

    def _result(
        self,
        builder: FunctionBuilder,
        instance: _Instance,
        arguments: dict[str, Value],
        node: ast.expr,
    ) -> Value:
        if instance.function is None:
            assert instance.value is not None
            for argument in arguments.values():
                builder.discard(argument, node)
            number = self.weakness.number(instance.value)
            return (
                instance.value
                if number is None
                else builder.launched.weak(number, builder.span(node))
            )
        return self._call_instance(builder, instance.function, instance.uses, arguments, node)

    def _call_instance(
        self,
        builder: FunctionBuilder,
        function: tree.Function,
        uses: tuple[LaunchUse, ...],
        arguments: dict[str, Value],
        node: ast.expr,
    ) -> Value:
        flat = [part for value in arguments.values() for part in run_time_parts(builder, value)]
        flat += [builder.launched.read(use.number, use.type, use.span) for use in uses]
        pairs = zip(flat, function.parameters, strict=True)
        operands = tuple(passed(builder, value, parameter.type, node) for value, parameter in pairs)
        call = tree.Call(
            builder.span(node),
            function.result,
            function,
            operands,
            self._site(builder, function, node),
        )
        origins = self.weakness.results.get(function, ())
        if isinstance(function.result, (Array, Tuple)):
            held = builder.hold(call, function.name, node)
            self.weakness.returned(origins, held)
            return held
        if origins:
            self.weakness.expressions.add(call)
        return call

    def _site(self, builder: FunctionBuilder, function: tree.Function, node: ast.expr) -> int:
        if not function.reports:
            return 0
        builder.reports = max(builder.reports, function.reports + 1)
        source = builder.source
        text = source.text.line(node.lineno).strip()
        return self.reports.add_call(
            CallSite(source.node.name, source.text.file, node.lineno, text, source.is_library)
        )

    def _instantiate(
        self, function: DeviceFunction, python: types.FunctionType, arguments: dict[str, Value]
    ) -> _Instance:
        source = self.sources.get(python) or self.sources.setdefault(python, read_source(python))
        builder = new_builder(source, self, is_kernel=False)
        parameters = bind_parameters(builder, arguments)
        return self._type_body(builder, python, parameters, function.inline)

    def _type_body(
        self,
        builder: FunctionBuilder,
        identity: object,
        parameters: tuple[tree.Variable, ...],
        inline: bool = True,
    ) -> _Instance:
        self.active.append(identity)
        try:
            return self._finish(builder, inline, parameters)
        finally:
            self.active.pop()

    def _finish(
        self, builder: FunctionBuilder, inline: bool, parameters: tuple[tree.Variable, ...]
    ) -> _Instance:
        source, node = builder.source, builder.source.node
        builder.run(node.body)
        builder.raise_failures()
        static = None if node.returns else static_result(builder)
        if static is not None:
            return _Instance(None, static)
        result, origins = finish_returns(builder)
        name = f"{node.name}.{len(self.functions)}" if self.functions else node.name
        body = freeze(builder.statements)
        launched = used(builder.launched, body)
        typed = tree.Function(
            name, (*parameters, *(variable for _, variable in launched)), result, body, source.name_span, inline,
            transparent=inline and source.is_library, reports=builder.reports,
        )  # fmt: skip
        if any(origins):
            self.weakness.results[typed] = origins
        self.requests.update(builder.launched.requests)
        self.functions.append(typed)
        return _Instance(
            typed, uses=tuple(use for use, _ in launched), is_shared=not has_own_lds_arrays(typed)
        )


def type_kernel(
    function: types.FunctionType,
    arguments: tuple[Type | CompileTime, ...],
    limits: Limits,
    builtins: Mapping[Any, Intrinsic | DeviceFunction],
) -> TypedKernel:
    """Type a kernel for its arguments: a type each, or a compile-time value for a `Const`
    parameter.

    Where a variable that began as a literal meets a wider type after it was typed, all is typed
    again with it wider.
    """
    source = read_source(function)
    widened: frozenset[Origin] = frozenset()
    while True:
        session = _Session(limits, builtins, weakness=Weakness(widened))
        typed = _type_once(source, session, function, arguments)
        if session.requests <= widened:
            return typed
        widened |= session.requests


def _type_once(
    source: FunctionSource,
    session: _Session,
    function: types.FunctionType,
    arguments: tuple[Type | CompileTime, ...],
) -> TypedKernel:
    builder = new_builder(source, session, is_kernel=True)
    names = parameter_names(builder)
    parameters = kernel_parameters(builder, names, arguments)
    session.active.append(function)
    builder.run(source.node.body)
    raise_all(in_source_order(builder.failures))
    body = freeze(builder.statements)
    session.requests.update(builder.launched.requests)
    passed_on = with_launched(parameters, dict(used(builder.launched, body)))
    kernel = tree.Function(
        source.node.name,
        tuple(passed_on),
        VOID,
        body,
        source.name_span,
        False,
        reports=builder.reports,
    )
    functions = called_functions(kernel)
    program = tree.Program(kernel, functions)
    _check_lds(builder, program)
    written = written_parameters(program)
    program = tree.Program(kernel, functions, written, session.reports.table(kernel.reports))
    return TypedKernel(
        program, tuple(session.reads.values()), source, tuple(session.libraries), tuple(passed_on.values()),
        (*session.findings.values(), *narrow_products(program)),
    )  # fmt: skip


def kernel_annotations(
    function: types.FunctionType, limits: Limits, builtins: Mapping[Any, Intrinsic | DeviceFunction]
) -> tuple[Type | CompileTime | None, ...]:
    """Return each parameter's annotation: a type, `CompileTime(Const)`, or None where there is
    none."""
    source = read_source(function)
    builder = new_builder(source, _Session(limits, builtins), is_kernel=True)
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
    if argument.annotation is None:
        return None
    value = annotation_value(builder, argument.annotation)
    if is_const(value) or record_class(value) is not None:
        assert isinstance(value, CompileTime)
        return value
    return annotated_type(builder, value, argument.arg, argument.annotation)


def new_builder(source: FunctionSource, session: _Session, is_kernel: bool) -> FunctionBuilder:
    """Make the builder of one function."""
    return FunctionBuilder(
        source, session, EXPRESSIONS, _STATEMENTS, is_kernel, local_names=_local_names(source.node)
    )


@lru_cache(maxsize=64)
def _local_names(node: ast.FunctionDef) -> frozenset[str]:
    return assigned_names(node.body) | {argument.arg for argument in arguments_of(node)}


def _with_call(
    failure: CompileError, builder: FunctionBuilder, node: ast.expr, is_own: bool
) -> CompileError:
    """Add the call to the errors of a function. What amdjit's own functions refuse is an error of
    the call itself."""
    span = builder.span(node)
    site = (builder.source.node.name, span)
    from_here = tuple(
        replace(d, span=span)
        if is_own and d.kind is codes.REFUSED
        else replace(d, calls=(site, *d.calls))
        for d in failure.diagnostics
    )
    return type(failure)(*from_here)


def _check_lds(builder: FunctionBuilder, program: tree.Program) -> None:
    target = builder.session.limits.target
    arrays = lds_arrays(program)
    used = sum(array.nbytes for array in arrays)
    if used > target.lds_per_workgroup:
        largest = max(arrays, key=lambda array: array.nbytes)
        nbytes, limit = largest.type.size * largest.type.element.nbytes, target.lds_per_workgroup
        where = largest.allocation.span
        raise codes.error(
            codes.LDS_SIZE, where, used=used, target=target.name, limit=limit, largest=nbytes
        )
