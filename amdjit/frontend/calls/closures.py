"""Functions as values: `def` and `lambda` inside a function, and functools.partial."""

from __future__ import annotations

import ast
import functools
import inspect
from dataclasses import replace

from amdjit.diagnostics import codes
from amdjit.frontend.building.arguments import Arguments
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.names.parameters import arguments_of, parameter_names
from amdjit.frontend.names.scope import bind, read_name
from amdjit.frontend.source.bound_names import assigned_names
from amdjit.frontend.source.reading import FunctionSource, as_definition
from amdjit.frontend.values.kinds import (
    CompileTime,
    FunctionValue,
    Poisoned,
    TupleValue,
    Undefined,
    Value,
)
from amdjit.late_methods import dataclass

# Precedes the name of a parameter whose default value a function value carries.
_DEFAULT = "="


@dataclass(frozen=True, eq=False)
class LocalFunction:
    """A `def` or `lambda` inside a function. free: the names that it may read from there."""

    source: FunctionSource
    owner: FunctionBuilder
    free: frozenset[str]

    @property
    def name(self) -> str:
        """The function's name."""
        return self.source.node.name


def define(builder: FunctionBuilder, node: ast.FunctionDef) -> None:
    """`def` inside a function: its name is the function."""
    if node.decorator_list:
        raise builder.error(
            codes.UNSUPPORTED_EXPRESSION,
            node.decorator_list[0],
            expression="a decorator here",
            remedy="define the decorated function outside the kernel",
        )
    bind(builder, node.name, _function(builder, node), node)


def lambda_value(builder: FunctionBuilder, node: ast.Lambda) -> Value:
    """`lambda x: value`."""
    return refreshed(builder, _function(builder, as_definition(node)))


def _function(builder: FunctionBuilder, node: ast.FunctionDef) -> FunctionValue:
    own = assigned_names(node.body) | {argument.arg for argument in arguments_of(node)}
    read = {n.id for part in node.body for n in ast.walk(part) if isinstance(n, ast.Name)}
    free = (read - own) & (builder.local_names | builder.names.keys())
    source = FunctionSource(builder.source.function, node, builder.source.text)
    positional = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args)]
    pairs = list(zip(positional[::-1], node.args.defaults[::-1], strict=False))
    pairs += [
        (a.arg, d)
        for a, d in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
        if d is not None
    ]
    defaults = tuple(
        builder.hold(builder.evaluate(default), name, default) for name, default in pairs
    )
    function = LocalFunction(source, builder, frozenset(free))
    return FunctionValue(function, tuple(_DEFAULT + name for name, _ in pairs), defaults)


def refreshed(
    builder: FunctionBuilder, value: Value, active: frozenset[object] = frozenset()
) -> Value:
    """Update functions with the current values of the names that they read from this function, as
    Python does."""
    if isinstance(value, TupleValue):
        if not value.holds_functions:
            return value
        return value.with_items(refreshed(builder, item, active) for item in value.items)
    if not isinstance(value, FunctionValue):
        return value
    function = value.function
    if not isinstance(function, LocalFunction):
        return replace(value, items=tuple(refreshed(builder, item, active) for item in value.items))
    if function.owner is not builder:
        return value
    kept = [(n, v) for n, v in zip(value.names, value.items, strict=True) if n.startswith(_DEFAULT)]
    active |= {function}
    for name in sorted(function.free):
        if name not in builder.names and name in value.names:
            raise builder.error(
                codes.UNDEFINED_NAME,
                function.source.node,
                name=name,
                reason="is no longer defined",
            )
        binding = builder.names.get(name)
        is_active = isinstance(binding, FunctionValue) and binding.function in active
        is_known = isinstance(binding, Poisoned) or not isinstance(binding, Undefined)
        if binding is not None and is_known and not is_active:
            kept.append(
                (name, refreshed(builder, read_name(builder, name, function.source.node), active))
            )
    return FunctionValue(function, tuple(name for name, _ in kept), tuple(item for _, item in kept))


def make_partial(builder: FunctionBuilder, arguments: Arguments, node: ast.expr) -> Value:
    """`functools.partial(function, ...)`."""
    if not arguments.positional:
        arguments.exactly(builder, node, "partial", ("function",))
    positional = arguments.positional
    names = ("",) * len(positional) + tuple(arguments.keywords)
    items = tuple(
        builder.hold(item, "argument", node) for item in (*positional, *arguments.keywords.values())
    )
    return FunctionValue(functools.partial, names, items)


def partial_call(function: FunctionValue, arguments: Arguments) -> tuple[Value, Arguments]:
    """Return the function that a partial function calls, and all arguments."""
    given = list(zip(function.names, function.items, strict=True))
    positional = tuple(item for name, item in given[1:] if not name)
    keywords = {name: item for name, item in given if name}
    return function.items[0], Arguments(
        (*positional, *arguments.positional), {**keywords, **arguments.keywords}
    )


def split(function: FunctionValue) -> tuple[dict[str, Value], dict[str, Value]]:
    """Return the default values of the parameters, and what the function captures."""
    given = dict(zip(function.names, function.items, strict=True))
    defaults = {
        name.removeprefix(_DEFAULT): item
        for name, item in given.items()
        if name.startswith(_DEFAULT)
    }
    return defaults, {name: item for name, item in given.items() if not name.startswith(_DEFAULT)}


def local_signature(inner: FunctionBuilder, defaults: dict[str, Value]) -> inspect.Signature:
    """Return the signature of a function inside a function."""
    arguments = inner.source.node.args
    parameter_names(inner)
    kinds = (
        (arguments.posonlyargs, inspect.Parameter.POSITIONAL_ONLY),
        (arguments.args, inspect.Parameter.POSITIONAL_OR_KEYWORD),
        ([arguments.vararg] if arguments.vararg else [], inspect.Parameter.VAR_POSITIONAL),
        (arguments.kwonlyargs, inspect.Parameter.KEYWORD_ONLY),
    )
    return inspect.Signature(
        [
            inspect.Parameter(a.arg, kind, default=defaults.get(a.arg, inspect.Parameter.empty))
            for names, kind in kinds
            for a in names
        ]
    )


def is_static(value: Value) -> bool:
    """Whether a function value captures nothing that is computed at run time."""
    return isinstance(value, FunctionValue) and all(
        isinstance(v, CompileTime) or is_static(v) for v in value.items
    )
