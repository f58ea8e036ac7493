"""Typing a kernel together with the functions that it calls.

A function is typed once for each combination of argument types: an instance. Calls with the same
types share it.
"""

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
from amdjit.diagnostics import CompileError, codes
from amdjit.diagnostics.performance import Finding
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.building.descriptions import describe
from amdjit.frontend.building.freeze import freeze
from amdjit.frontend.building.report_sites import ReportSites
from amdjit.frontend.calls.closures import LocalFunction, local_signature, refreshed, split
from amdjit.frontend.expression_typing import EXPRESSIONS
from amdjit.frontend.names.dependencies import Dependency
from amdjit.frontend.names.parameters import (
    argument_key,
    arguments_of,
    bind_arguments,
    bind_captured,
    bind_parameters,
    match_arguments,
    passed,
    run_time_parts,
    typed_like_others,
)
from amdjit.frontend.source.bound_names import assigned_names
from amdjit.frontend.source.reading import FunctionSource, is_library, read_source
from amdjit.frontend.statement_typing import STATEMENTS
from amdjit.frontend.statements.returns import finish_returns, static_result
from amdjit.frontend.values.kinds import CompileTime, FunctionValue, Value
from amdjit.frontend.values.launch_parameters import used_parameters
from amdjit.frontend.values.weak_types import Origin, WeakTypes
from amdjit.language.compile_time import Compilation
from amdjit.language.launch_numbers import LaunchUse
from amdjit.tree import nodes as tree
from amdjit.tree.lds_arrays import has_own_lds_arrays
from amdjit.types import Array, Tuple


@dataclass(frozen=True, slots=True)
class _Instance:
    """A device function typed for some arguments; only `value` is set if it just returns a
    compile-time value.

    uses: the launch's numbers that it takes after its parameters. is_shared: whether all calls with
    the same arguments use it; a function with LDS arrays is typed once for each call, since each
    call has its own arrays.
    """

    function: tree.Function | None
    value: Value | None = None
    uses: tuple[LaunchUse, ...] = ()
    is_shared: bool = True


_Key = tuple[object, tuple[object, ...]]


@dataclass
class TypingSession:
    """Types a kernel and, once for each combination of argument types, the functions that it
    calls."""

    compilation: Compilation
    builtins: Mapping[Any, Intrinsic | DeviceFunction]
    functions: list[tree.Function] = field(default_factory=list)
    reads: dict[tuple[int, str], Dependency] = field(default_factory=dict)
    instances: dict[_Key, _Instance | CompileError] = field(default_factory=dict)
    sources: dict[types.FunctionType, FunctionSource] = field(default_factory=dict)
    active: list[object] = field(default_factory=list)
    reports: ReportSites = field(default_factory=ReportSites)
    libraries: dict[Path, None] = field(default_factory=dict)
    weak_types: WeakTypes = field(default_factory=WeakTypes)
    requests: set[Origin] = field(default_factory=set)
    findings: dict[tuple[str, str, int], Finding] = field(default_factory=dict)

    def note_library(self, file: Path) -> None:
        """Remember that the code calls a function of this bitcode."""
        self.libraries[file] = None

    def note_read(self, scope: Any, name: str, value: object) -> None:
        """Remember that the code depends on this variable."""
        self.reads[(id(scope), name)] = Dependency(scope, name, value)

    def call(
        self,
        builder: FunctionBuilder,
        function: DeviceFunction,
        positional: tuple[Value, ...],
        keywords: dict[str, Value],
        node: ast.expr,
    ) -> Value:
        """Type the function for these arguments and return the value of the call."""
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
            any(map(self.weak_types.number, arguments.values()))
            and function in self.builtins.values()
        ):
            arguments = typed_like_others(builder, arguments, node)
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
        """Type a function made in the kernel for these arguments and return the value of the
        call."""
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
        """Type a function for these arguments: once, or once per call if it has LDS arrays."""
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
            number = self.weak_types.number(instance.value)
            return (
                instance.value
                if number is None
                else builder.launch_parameters.weak(number, builder.span(node))
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
        flat += [builder.launch_parameters.read(use.number, use.type, use.span) for use in uses]
        pairs = zip(flat, function.parameters, strict=True)
        operands = tuple(passed(builder, value, parameter.type, node) for value, parameter in pairs)
        call = tree.Call(
            builder.span(node),
            function.result,
            function,
            operands,
            self._site(builder, function, node),
        )
        origins = self.weak_types.results.get(function, ())
        if isinstance(function.result, (Array, Tuple)):
            held = builder.hold(call, function.name, node)
            self.weak_types.returned(origins, held)
            return held
        if origins:
            self.weak_types.expressions.add(call)
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
        launched = used_parameters(builder.launch_parameters, body)
        typed = tree.Function(
            name,
            (*parameters, *(variable for _, variable in launched)),
            result,
            body,
            source.name_span,
            inline,
            transparent=inline and source.is_library,
            reports=builder.reports,
        )
        if any(origins):
            self.weak_types.results[typed] = origins
        self.requests.update(builder.launch_parameters.requests)
        self.functions.append(typed)
        return _Instance(
            typed, uses=tuple(use for use, _ in launched), is_shared=not has_own_lds_arrays(typed)
        )


def new_builder(source: FunctionSource, session: TypingSession, is_kernel: bool) -> FunctionBuilder:
    """Make the builder of one function."""
    return FunctionBuilder(
        source, session, EXPRESSIONS, STATEMENTS, is_kernel, local_names=_local_names(source.node)
    )


@lru_cache(maxsize=64)
def _local_names(node: ast.FunctionDef) -> frozenset[str]:
    return assigned_names(node.body) | {argument.arg for argument in arguments_of(node)}


def _with_call(
    failure: CompileError, builder: FunctionBuilder, node: ast.expr, is_own: bool
) -> CompileError:
    """Add the call to the errors of a function. Errors raised by amdjit's own functions are
    reported at the call."""
    span = builder.span(node)
    site = (builder.source.node.name, span)
    from_here = tuple(
        replace(d, span=span)
        if is_own and d.kind is codes.REFUSED
        else replace(d, calls=(site, *d.calls))
        for d in failure.diagnostics
    )
    return type(failure)(*from_here)
