"""Typing a kernel together with the functions that it calls.

A function is typed once for each combination of argument types: an instance. Calls with the same
types share it.
"""

from __future__ import annotations

import ast
import math
import types
from collections.abc import Callable, Mapping
from dataclasses import field
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from amdjit.abi.reports import CallSite
from amdjit.declarations import DeviceFunction, Intrinsic
from amdjit.diagnostics import CompileError, codes
from amdjit.diagnostics.performance import Finding
from amdjit.frontend.building.builder import FunctionBuilder, freeze
from amdjit.frontend.building.descriptions import describe
from amdjit.frontend.building.session import ReportSites
from amdjit.frontend.calls import recursion
from amdjit.frontend.calls.closures import LocalFunction, local_signature, refreshed, split
from amdjit.frontend.calls.recursion import Instance
from amdjit.frontend.calls.refused_functions import (
    Refused,
    RefusedError,
    errors_of,
    unknown_result,
    with_call,
)
from amdjit.frontend.expression_typing import EXPRESSIONS
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
from amdjit.frontend.names.scope import count_rounds, type_body
from amdjit.frontend.source.bound_names import assigned_names
from amdjit.frontend.source.reading import FunctionSource, is_library, read_source
from amdjit.frontend.statement_typing import STATEMENTS
from amdjit.frontend.statements.returns import (
    finish_returns,
    result_in_spite_of_errors,
    static_result,
)
from amdjit.frontend.values.dependencies import Dependency, OutsideArray
from amdjit.frontend.values.kinds import CompileTime, FunctionValue, Value
from amdjit.frontend.values.weak_numbers import Origin, WeakNumbers
from amdjit.language.compile_time import Compilation
from amdjit.language.launch_numbers import LaunchUse
from amdjit.late import late
from amdjit.late_methods import dataclass
from amdjit.tree import nodes as tree
from amdjit.tree.lds_arrays import has_own_lds_arrays
from amdjit.tree.walk import copies_of, may_be_own_memory
from amdjit.types import Array, Tuple, Type

if TYPE_CHECKING:
    from amdjit.frontend.names import declared_signatures
else:
    declared_signatures = late("amdjit.frontend.names.declared_signatures")


# What is called, its arguments, and the level of a recursion or that results have 64 bits.
_Key = tuple[object, tuple[object, ...]] | tuple[object, tuple[object, ...], int | str]


_WIDE = "wide"


def no_type(value: object) -> None:
    """Return None, since no object is a device array."""


@dataclass
class TypingSession:
    """Types a kernel and, once for each combination of argument types, what it calls."""

    compilation: Compilation
    """The options and the processor."""
    builtins: Mapping[Any, Intrinsic | DeviceFunction]
    """What Python's own functions stand for in kernels."""
    type_of: Callable[[object], Type | None] = no_type
    """The type of an array outside the kernel that launches pass, None for anything else."""
    functions: list[tree.Function] = field(default_factory=list)
    """The functions that have been typed, callees first."""
    reads: dict[tuple[int, str], Dependency] = field(default_factory=dict)
    """The variables outside the kernel that the code depends on, by scope and name."""
    instances: dict[_Key, Instance | Refused] = field(default_factory=dict)
    """The typed function for each combination of arguments."""
    explored: dict[types.FunctionType, CompileError] = field(default_factory=dict)
    """For functions that were typed with unknown arguments, the errors that do not depend on
    these."""
    sources: dict[types.FunctionType, FunctionSource] = field(default_factory=dict)
    """The source of each function, read once."""
    active: list[object] = field(default_factory=list)
    """The functions that are being typed, the innermost last."""
    reports: ReportSites = field(default_factory=ReportSites)
    """The failures that the kernel can report."""
    libraries: dict[Path, None] = field(default_factory=dict)
    """The bitcode files that calls need; a dict keeps their order."""
    weak: WeakNumbers = field(default_factory=WeakNumbers)
    """The values without a width."""
    requests: set[Origin] = field(default_factory=set)
    """The origins of weak values that have to be wide, for the next typing."""
    findings: dict[tuple[str, str, int], Finding] = field(default_factory=dict)
    """Warnings, by name, file and line."""
    copies: dict[tree.Function, int] = field(default_factory=dict)
    """For functions that return local arrays in a recursion, how many become parts of a caller."""
    deadline: float = math.inf
    """When typing has to stop, on the monotonic clock."""
    leaves_out_calls: bool = False
    """Whether refused statements that give no name a value, such as calls of a debugger, count as
    absent."""
    level: int = 0
    """How many calls of a recursion are active around the function that is being typed."""

    def note_library(self, file: Path) -> None:
        """Remember that the code calls a function of this bitcode."""
        self.libraries[file] = None

    def note_read(
        self, scope: Any, name: str, value: object, kind: type[Dependency] = Dependency
    ) -> None:
        """Remember that the code depends on this variable."""
        self.reads.setdefault((id(scope), name), kind(scope, name, value))

    def outside_array(self, scope: Any, name: str, array: object) -> OutsideArray | None:
        """Remember that launches must pass the array of this variable; None if it holds no device
        array. scope: None for an array that cannot be replaced by another one."""
        type = self.type_of(array)
        if type is None:
            return None
        key = (id(array), "") if scope is None else (id(scope), name)
        place = {name: array} if scope is None else scope
        found = self.reads.setdefault(key, OutsideArray(place, name, type, self.type_of))
        assert isinstance(found, OutsideArray)
        return found

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
            raise builder.error(
                codes.NOT_CALLABLE,
                node,
                what=describe(CompileTime(python)),
                remedy="make a device function of a Python function",
            )
        if not (python.__module__ or "").startswith("amdjit."):
            self.note_read(python, "__code__", python.__code__)
        arguments = bind_arguments(builder, python, positional, keywords, node)
        arguments = {name: refreshed(builder, value) for name, value in arguments.items()}
        if python in self.active:
            arguments = recursion.run_time_arguments(builder, python, arguments, node)
        declared = None
        if function.signatures:
            declared, arguments = declared_signatures.as_declared(
                builder, function, arguments, node
            )
        if any(map(self.weak.number, arguments.values())) and function in self.builtins.values():
            arguments = typed_like_others(builder, arguments, node)
        keys = (
            argument_key(builder, value, node, is_library(python)) for value in arguments.values()
        )
        key: _Key = (python, tuple(keys))

        def typed_at(level: int, returns_wide: bool = False) -> Instance | Refused:
            make = partial(self._instantiate, function, python, arguments, level, returns_wide)
            whole = (*key, level) if level else (*key, _WIDE) if returns_wide else key
            return self._instance(builder, whole, node, make)

        is_recursive = python in self.active or self.level > 0
        found = self._at_its_level(builder, python, node, typed_at)
        wide = None if is_recursive else partial(typed_at, 0, returns_wide=True)
        result = self._result(builder, found, arguments, node, wide)
        if declared is None:
            return result
        return declared_signatures.result_of(builder, declared, result, node)

    def _at_its_level(
        self,
        builder: FunctionBuilder,
        python: types.FunctionType,
        node: ast.expr,
        typed_at: Callable[[int], Instance | Refused],
    ) -> Instance | Refused:
        """Return the instance for a call from the function that is being typed, at the level of
        recursion that the call has."""
        if python not in self.active:  # within a recursion it may lead back there
            return typed_at(0 if is_library(python) else self.level)
        instance = recursion.next_level(builder, python.__name__, node, self.level, typed_at)
        if isinstance(instance, Instance):
            recursion.check_instance(builder, instance, python.__name__, node)
            if instance.function is not None and not self.level:
                copies = self.copies.get(instance.function, 1)
                recursion.check_copies(builder, copies, python.__name__, node)
        return instance

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
            raise recursion.is_local(builder, local.name, node)
        inner = new_builder(local.source, self, is_kernel=False)
        defaults, captured = split(function)
        if local.name in local.free - captured.keys():
            inner.names[local.name] = FunctionValue(local, (), ())
        signature = local_signature(inner, defaults)
        given = match_arguments(
            builder,
            local.name,
            signature=signature,
            positional=positional,
            keywords=keywords,
            node=node,
        )
        arguments = {
            name: refreshed(builder, given[name] if name in given else defaults[name])
            for name in signature.parameters
        }
        whole = {**arguments, **captured}
        key: _Key = (
            local,
            tuple((n, argument_key(builder, value, node)) for n, value in whole.items()),
        )

        def make(inner: FunctionBuilder) -> Instance:
            parameters = (*bind_parameters(inner, arguments), *bind_captured(inner, captured))
            return self._type_body(inner, local.source.node, parameters)

        def wide() -> Instance | Refused:
            again = new_builder(local.source, self, is_kernel=False, returns_wide=True)
            again.names.update(names)
            return self._instance(builder, (*key, _WIDE), node, partial(make, again))

        names = dict(inner.names)
        found = self._instance(builder, key, node, partial(make, inner))
        return self._result(builder, found, whole, node, wide)

    def _instance(
        self, builder: FunctionBuilder, key: _Key, node: ast.expr, make: Callable[[], Instance]
    ) -> Instance | Refused:
        """Type a function for these arguments: once, or once per call if it has LDS arrays.

        If a function has errors but its result is known, the errors are noted and typing continues.
        """
        known = self.instances.get(key)
        found = None if isinstance(known, Instance) and not known.is_shared else known
        is_new = found is None
        if found is None:
            try:
                found = self.instances[key] = make()
            except RefusedError as failure:
                found = self.instances[key] = failure.refused
            except CompileError as failure:
                found = self.instances[key] = Refused(failure)
        if isinstance(found, Refused):
            error = with_call(found.failure, builder, node, is_library(key[0]))
            if found.result is None or is_library(key[0]):
                raise error
            builder.refuse(error)
        elif is_new or (found.function is not None and found.function.inline):
            count_rounds(builder, node, found.rounds + (not is_library(key[0])))
        return found

    def explore(
        self,
        builder: FunctionBuilder,
        function: DeviceFunction,
        arguments: Mapping[str, Value | None],
        node: ast.expr,
    ) -> CompileError:
        """Return the errors of a function that do not depend on the unknown arguments (None); no
        errors if the function is also typed for known arguments, which reports them."""
        python = function.function
        assert isinstance(python, types.FunctionType)
        if python not in self.explored:
            is_typed = python in self.active or any(key[0] is python for key in self.instances)
            self.explored[python] = (
                CompileError() if is_typed else self._errors_of(python, arguments)
            )
        return with_call(self.explored[python], builder, node, False)

    def _errors_of(
        self, python: types.FunctionType, arguments: Mapping[str, Value | None]
    ) -> CompileError:
        self.active.append(python)
        try:
            return errors_of(new_builder(read_source(python), self, is_kernel=False), arguments)
        finally:
            self.active.pop()

    def _result(
        self,
        builder: FunctionBuilder,
        instance: Instance | Refused,
        arguments: dict[str, Value],
        node: ast.expr,
        wide: Callable[[], Instance | Refused] | None,
    ) -> Value:
        """Return the value of a call. wide: makes the instance whose results have 64 bits, in case
        the value has to be wide."""
        if isinstance(instance, Refused):
            return unknown_result(builder, instance, node)
        if instance.function is None:
            assert instance.value is not None
            for argument in arguments.values():
                builder.discard(argument, node)
            return builder.launch_parameters.read_here(instance.value, builder.span(node))
        call = self._call_instance(builder, instance.function, instance.uses, arguments, node)
        if instance.is_endless:
            raise recursion.endless(builder, call, node)
        origins = self.weak.results.get(call.function, ())
        if isinstance(call.type, (Array, Tuple)):
            held = builder.hold(call, call.function.name, node)
            self.weak.note_items(origins, held)
            return held
        if origins:
            self.weak.expressions.add(call)
            if wide is not None and self.weak.is_weak(call):
                again = partial(self._call_wide, builder, call, wide, arguments, node)
                self.weak.note_call(call, again)
        return call

    def _call_wide(
        self,
        builder: FunctionBuilder,
        call: tree.Call,
        wide: Callable[[], Instance | Refused],
        arguments: dict[str, Value],
        node: ast.expr,
    ) -> tree.Expression:
        """Call the instance whose results have 64 bits in place of the other."""
        instance = wide()
        if isinstance(instance, Refused) or instance.function is None:
            return call
        return self._call_instance(builder, instance.function, instance.uses, arguments, node)

    def _call_instance(
        self,
        builder: FunctionBuilder,
        function: tree.Function,
        uses: tuple[LaunchUse | OutsideArray, ...],
        arguments: dict[str, Value],
        node: ast.expr,
    ) -> tree.Call:
        flat = [part for value in arguments.values() for part in run_time_parts(builder, value)]
        flat += [builder.launch_parameters.passed_on(use, builder.span(node)) for use in uses]
        pairs = zip(flat, function.parameters, strict=True)
        operands = tuple(passed(builder, value, parameter.type, node) for value, parameter in pairs)
        site = site_of_call(builder, self.reports, function, node)
        return tree.Call(builder.span(node), function.result, function, operands, site)

    def _instantiate(
        self,
        function: DeviceFunction,
        python: types.FunctionType,
        arguments: dict[str, Value],
        level: int,
        returns_wide: bool,
    ) -> Instance:
        source = self.sources.get(python) or self.sources.setdefault(python, read_source(python))
        builder = new_builder(source, self, is_kernel=False, returns_wide=returns_wide)
        parameters = bind_parameters(builder, arguments)
        inline = None if level and python in self.active else function.inline
        outer, self.level = self.level, level
        try:
            return self._type_body(builder, python, parameters, inline)
        finally:
            self.level = outer

    def _type_body(
        self,
        builder: FunctionBuilder,
        identity: object,
        parameters: tuple[tree.Variable, ...],
        inline: bool | None = True,
    ) -> Instance:
        self.active.append(identity)
        try:
            return self._finish(builder, inline, parameters)
        finally:
            self.active.pop()

    def _finish(
        self, builder: FunctionBuilder, inline: bool | None, parameters: tuple[tree.Variable, ...]
    ) -> Instance:
        source, node = builder.source, builder.source.node
        type_body(builder)
        if not self.level:
            recursion.check_end(builder)
        if builder.refused:
            known = result_in_spite_of_errors(builder)
            raise RefusedError(Refused(CompileError(*builder.failures), *known))
        is_declared = node.returns is not None and builder.rules.has_annotations
        static = None if is_declared else static_result(builder)
        if static is not None:
            return Instance(None, static, rounds=builder.rounds)
        result, origins = finish_returns(builder)
        name = builder.source.name
        name = f"{name}.{len(self.functions)}" if self.functions else name
        body = freeze(builder.statements)
        launched = builder.launch_parameters.used(body)
        typed = tree.Function(
            name,
            (*parameters, *(variable for _, variable in launched)),
            result=result,
            body=body,
            span=source.name_span,
            inline=inline,
            transparent=bool(inline) and source.is_library,
            reports=builder.reports,
        )
        if any(origins):
            self.weak.results[typed] = origins
        self.requests.update(builder.launch_parameters.requests)
        self.functions.append(typed)
        if self.level and may_be_own_memory(result):
            self.copies[typed] = copies_of(typed, self.copies)
        return Instance(
            typed,
            uses=tuple(use for use, _ in launched),
            is_shared=not has_own_lds_arrays(typed),
            is_endless=recursion.is_endless(builder),
            rounds=builder.rounds,
        )


def new_builder(
    source: FunctionSource, session: TypingSession, is_kernel: bool, returns_wide: bool = False
) -> FunctionBuilder:
    """Make the builder of one function."""
    names = local_names(source.node)
    return FunctionBuilder(
        source,
        session,
        expressions=EXPRESSIONS,
        statement_handlers=STATEMENTS,
        is_kernel=is_kernel,
        returns_wide=returns_wide,
        local_names=names,
    )


# Which names are local to a function, rather than its module's.


@lru_cache(maxsize=64)
def local_names(node: ast.FunctionDef) -> frozenset[str]:
    """Return a function's parameters and the names that it assigns."""
    return assigned_names(node.body) | {argument.arg for argument in arguments_of(node)}


# The calls that lead to a report to the host.


def site_of_call(
    builder: FunctionBuilder, reports: ReportSites, function: tree.Function, node: ast.expr
) -> int:
    """Return the number of a call for reports, 0 for a function that reports nothing."""
    if not function.reports:
        return 0
    builder.reports = max(builder.reports, function.reports + 1)
    source = builder.source
    text = source.text.line(node.lineno).strip()
    return reports.add_call(
        CallSite(source.name, source.text.file, node.lineno, text, source.is_library)
    )
