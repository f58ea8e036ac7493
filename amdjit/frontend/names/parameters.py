"""Parameters and arguments of device functions: which are part of the specialisation, and which are
passed at run time."""

from __future__ import annotations

import ast
import inspect
import types
from dataclasses import replace

import numpy as np

from amdjit.diagnostics import CompileError, Diagnostic, codes
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.building.descriptions import count, describe
from amdjit.frontend.building.remedies import element_remedy
from amdjit.frontend.names.annotations import annotated_type, is_const, written_annotation
from amdjit.frontend.names.scope import value_of_object
from amdjit.frontend.numbers.conversion import convert, widen
from amdjit.frontend.source.reading import read_source
from amdjit.frontend.values.kinds import (
    ArgumentKey,
    Binding,
    CompileTime,
    FunctionValue,
    Method,
    TupleValue,
    Value,
    as_python,
    identity,
    typed_constant,
)
from amdjit.frontend.values.promotion import common_scalar, literal_type
from amdjit.frontend.values.structures import record_class
from amdjit.frontend.values.weak_numbers import wide_type
from amdjit.language.complex_types import ComplexElement
from amdjit.tree import nodes as tree
from amdjit.types import VOID, Array, Layout, Scalar, Structure, Tuple, Type, Vector, boolean

_MISSING = inspect.Parameter.empty
_WEAK = "weak"


def arguments_of(node: ast.FunctionDef) -> list[ast.arg]:
    """Return the parameters of a definition in order, `*args` among them."""
    star = [] if node.args.vararg is None else [node.args.vararg]
    return [*node.args.posonlyargs, *node.args.args, *star, *node.args.kwonlyargs]


def parameter_names(builder: FunctionBuilder) -> list[str]:
    """Return the names of the parameters; `**kwargs` is refused, and `*args` of a kernel."""
    arguments = builder.source.node.args
    for argument, stars in ((arguments.vararg, "*"), (arguments.kwarg, "**")):
        if argument is not None and (builder.is_kernel or stars == "**"):
            raise builder.error(
                codes.UNSUPPORTED_PARAMETER, argument, what=f"`{stars}{argument.arg}`"
            )
    return [argument.arg for argument in arguments_of(builder.source.node)]


def bind_arguments(
    builder: FunctionBuilder,
    function: types.FunctionType,
    positional: tuple[Value, ...],
    keywords: dict[str, Value],
    node: ast.expr,
) -> dict[str, Value]:
    """Match a call's arguments to the function's parameters and fill in defaults."""
    defaults = _plain_parameters(function)
    given = {**dict(zip(defaults, positional, strict=False)), **keywords}
    is_missing = "" in defaults or any(
        value is _MISSING for name, value in defaults.items() if name not in given
    )
    if (
        is_missing
        or len(given) != len(positional) + len(keywords)
        or not given.keys() <= defaults.keys()
    ):
        # Other signatures, and errors, go by Python's own rules, which are slower.
        signature = inspect.signature(function, follow_wrapped=False)
        place = (function.__module__ or "").split(".")
        is_atomic = (place[0], place[-1]) == ("amdjit", "atomic")
        hint = element_remedy(node) if is_atomic else ""
        given = match_arguments(
            builder,
            function.__name__,
            signature=signature,
            positional=positional,
            keywords=keywords,
            node=node,
            hint=hint,
        )
        defaults = {name: parameter.default for name, parameter in signature.parameters.items()}
    return {
        name: given[name] if name in given else value_of_object(builder, default, name, node)
        for name, default in defaults.items()
    }


def _plain_parameters(function: types.FunctionType) -> dict[str, object]:
    """Return the parameters with their defaults; {"": _MISSING} if some are positional-only or
    keyword-only."""
    code = function.__code__
    collects = code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
    if (
        collects
        or code.co_kwonlyargcount
        or code.co_posonlyargcount
        or hasattr(function, "__signature__")
    ):
        return {"": _MISSING}
    names, defaults = code.co_varnames[: code.co_argcount], function.__defaults__ or ()
    return dict(zip(names, (*[_MISSING] * (len(names) - len(defaults)), *defaults), strict=True))


def match_arguments(
    builder: FunctionBuilder,
    function: str,
    signature: inspect.Signature,
    positional: tuple[Value, ...],
    keywords: dict[str, Value],
    node: ast.expr,
    hint: str = "",
) -> dict[str, Value]:
    """Match a call's arguments to parameters; arguments with defaults may be left out. hint: said
    where they do not match."""
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD:
            raise builder.error(
                codes.UNSUPPORTED_PARAMETER, node, what=f"`{parameter}` of `{function}`"
            )
    try:
        bound = signature.bind(*positional, **keywords)
    except TypeError as problem:
        raise builder.error(
            codes.ARGUMENT_COUNT,
            node,
            function=function,
            expected=_expected(signature),
            given=_given(signature, len(positional), keywords, str(problem)),
            signature=f"{function}{signature}{hint}",
        ) from None
    given: dict[str, Value] = dict(bound.arguments)
    star = next((n for n, p in signature.parameters.items() if p.kind is p.VAR_POSITIONAL), None)
    if star is not None:
        given[star] = TupleValue(bound.arguments.get(star, ()))
    return given


def _expected(signature: inspect.Signature) -> str:
    most = len(signature.parameters)
    least = sum(each.default is each.empty for each in signature.parameters.values())
    return count(most, "argument") if least == most else f"{least} to {most} arguments"


def _given(
    signature: inspect.Signature, positional: int, keywords: dict[str, Value], problem: str
) -> str:
    unknown = [name for name in keywords if name not in signature.parameters]
    if unknown:
        return f"it has no parameter `{unknown[0]}`"
    if positional > len(signature.parameters):
        return f"{positional} were given"
    required = [p.name for p in signature.parameters.values() if p.default is p.empty]
    missing = [name for name in required[positional:] if name not in keywords]
    return f"`{missing[0]}` is missing" if missing else problem


def typed_like_others(
    builder: FunctionBuilder, arguments: dict[str, Value], node: ast.expr
) -> dict[str, Value]:
    """Give a launch's floats the type of the other arguments of a library function."""
    values = arguments.values()
    typed = [v for v in values if isinstance(v, tree.Expression) and builder.weak.number(v) is None]
    types = {v.type.element if isinstance(v.type, Vector) else v.type for v in typed}
    scalars = [type for type in types if isinstance(type, Scalar) and type is not boolean]
    result: Scalar | None = scalars[0] if scalars else None
    for scalar in scalars:
        result = None if result is None else common_scalar(result, scalar)
    if result is None:
        return arguments
    return {name: _beside(builder, value, result, node) for name, value in arguments.items()}


def _beside(builder: FunctionBuilder, value: Value, other: Scalar, node: ast.expr) -> Value:
    number = builder.weak.number(value)
    # An integer may be a number of digits or an exponent, so the operators in the function decide
    # its type.
    if number is None or number.kind is int:
        return value
    target = literal_type(number.kind(1), other)
    return value if target is None else convert(builder, value, target, node)


def argument_key(
    builder: FunctionBuilder, value: Value, node: ast.expr, is_library: bool = False
) -> ArgumentKey:
    """Return what an argument adds to the specialisation: its type, or the compile-time value
    itself.

    A weak argument is weak inside the function too, except in amdjit's own functions: their calls
    are repeated instead (`numbers.results`).
    """
    number = builder.weak.number(value)
    if number is not None:
        return ArgumentKey(None, number)
    if is_constant(builder, value) and (constant := typed_constant(value)) is not None:
        return ArgumentKey(constant.type, constant.value)
    if isinstance(value, tree.Expression):
        if value.type == VOID:
            raise builder.error(codes.NO_OPERATION, node, what="nothing", remedy="pass a value")
        is_weak = builder.weak.was_weak(value) and not is_library
        return ArgumentKey(value.type, _WEAK if is_weak else None)
    if isinstance(value, TupleValue):
        keys = tuple(argument_key(builder, item, node, is_library) for item in value.items)
        return ArgumentKey(None, ("tuple", value.structure), keys)
    if isinstance(value, FunctionValue):
        keys = tuple(argument_key(builder, item, node, is_library) for item in value.items)
        return ArgumentKey(None, (value.function, value.names), keys)
    if isinstance(value, Method):
        raise builder.error(
            codes.NO_OPERATION, node, what=describe(value), remedy="pass the array itself"
        )
    return ArgumentKey(None, identity(value.value) if isinstance(value, CompileTime) else value)


def run_time_parts(builder: FunctionBuilder, value: Value) -> list[tree.Expression]:
    """Return the parts of an argument that are passed at run time; a launch's numbers are passed
    separately."""
    if isinstance(value, tree.Expression):
        is_known = builder.weak.number(value) is not None or is_constant(builder, value)
        return [] if is_known else [value]
    if isinstance(value, (FunctionValue, TupleValue)):
        return [part for item in value.items for part in run_time_parts(builder, item)]
    return []


def is_constant(builder: FunctionBuilder, value: Value) -> bool:
    """Whether an argument is an integer with a type that is known when compiling: it is compiled
    in, as Python's own are."""
    return typed_constant(value) is not None and not builder.weak.is_weak(value)


def passed(
    builder: FunctionBuilder, value: tree.Expression, type: Type, node: ast.expr
) -> tree.Expression:
    """Convert an argument to its parameter's type."""
    return value if isinstance(type, Array) else convert(builder, value, type, node)


def bind_parameters(
    builder: FunctionBuilder, arguments: dict[str, Value]
) -> tuple[tree.Variable, ...]:
    """Bind the parameters; run-time parts become parameters of the typed function."""
    made: list[tree.Variable] = []
    annotations = {argument.arg: argument for argument in arguments_of(builder.source.node)}
    for name, value in arguments.items():
        builder.names[name] = _parameter_binding(builder, name, value, annotations[name], made)
    return tuple(made)


def bind_captured(
    builder: FunctionBuilder, captured: dict[str, Value]
) -> tuple[tree.Variable, ...]:
    """Bind the names that an inner function captures; run-time parts become parameters."""
    made: list[tree.Variable] = []
    for name, value in captured.items():
        builder.names[name] = _untyped_parameter(builder, name, value, builder.source.node, made)
    return tuple(made)


def _parameter_binding(
    builder: FunctionBuilder, name: str, value: Value, argument: ast.arg, made: list[tree.Variable]
) -> Binding:
    target = written_annotation(builder, argument.annotation)
    if target is not None and is_const(target):
        value = as_python(value)
        if not isinstance(value, (CompileTime, FunctionValue, TupleValue)):
            raise builder.error(codes.NOT_CONSTANT, argument, what=f"parameter `{name}`")
        return value
    record = record_class(target)
    if record is not None:
        _check_record(builder, name, value, record, argument)
        target = None
    _check_complex(builder, name, value, target, argument)
    is_none = isinstance(value, CompileTime) and value.value is None
    if (
        target is not None
        and not is_none
        and not isinstance(value, (FunctionValue, TupleValue, Method))
    ):
        type = annotated_type(builder, target, name, argument)
        return _typed_parameter(builder, name, value=value, type=type, argument=argument, made=made)
    return _untyped_parameter(builder, name, value, argument, made)


def _check_record(
    builder: FunctionBuilder, name: str, value: Value, record: Structure, argument: ast.arg
) -> None:
    found = (
        value.structure.python
        if isinstance(value, TupleValue) and value.structure is not None
        else None
    )
    is_none = isinstance(value, CompileTime) and value.value is None
    if not is_none and (
        found is None or record.python is None or not issubclass(found, record.python)
    ):
        raise builder.error(
            codes.ARGUMENT_MISMATCH,
            argument,
            parameter=name,
            function=builder.source.node.name,
            expected=record.name,
            found=describe(value),
        )


def _check_complex(
    builder: FunctionBuilder, name: str, value: Value, target: Value | None, argument: ast.arg
) -> None:
    """Check that a parameter annotated as complex gets a complex number of that width, or a
    literal."""
    if isinstance(value, CompileTime) or not isinstance(target, CompileTime):
        return
    is_complex = isinstance(target.value, ComplexElement) or target.value in (
        np.complex64,
        np.complex128,
    )
    expected = annotated_type(builder, target, name, argument) if is_complex else None
    if expected is not None and describe(value) != str(expected):
        raise builder.error(
            codes.ARGUMENT_MISMATCH,
            argument,
            parameter=name,
            function=builder.source.node.name,
            expected=expected,
            found=describe(value),
        )


def _typed_parameter(
    builder: FunctionBuilder,
    name: str,
    value: Value,
    type: Type,
    argument: ast.arg,
    made: list[tree.Variable],
) -> Binding:
    if isinstance(type, Array):
        found = value.type if isinstance(value, tree.Expression) else None
        if not isinstance(found, Array) or not array_matches(found, type):
            raise builder.error(
                codes.ARGUMENT_MISMATCH,
                argument,
                parameter=name,
                function=builder.source.node.name,
                expected=type,
                found=describe(value),
            )
        return _untyped_parameter(builder, name, value, argument, made)
    if isinstance(value, CompileTime):
        made_value = convert(builder, value, type, argument)
        return builder.unpack(made_value) if isinstance(type, Tuple) else made_value
    if builder.weak.number(value) is not None:
        return widen(builder, value, type, argument)
    made_value = widen(builder, value, type, argument)
    if is_constant(builder, value):
        return typed_constant(made_value) or made_value
    variable = builder.variable(name, type)
    made.append(variable)
    return variable


def array_matches(found: Array, annotated: Array) -> bool:
    """Whether an array matches an annotation; `[:]` takes any layout and memory."""
    layout_fits = annotated.layout in (Layout.ANY, found.layout)
    layout_fits |= annotated.layout is Layout.STRIDED and found.layout is Layout.ROWS
    return found.element == annotated.element and found.ndim == annotated.ndim and layout_fits


def _untyped_parameter(
    builder: FunctionBuilder, name: str, value: Value, argument: ast.AST, made: list[tree.Variable]
) -> Binding:
    if isinstance(value, TupleValue):
        items: list[Value] = []
        for item in value.items:
            binding = _untyped_parameter(builder, name, item, argument, made)
            if isinstance(binding, tree.Variable):
                items.append(builder.read_whole(binding, argument))
            else:
                items.append(binding)  # type: ignore[arg-type]
        return value.with_items(items)
    if isinstance(value, FunctionValue):
        carried = _untyped_parameter(builder, name, TupleValue(value.items), argument, made)
        assert isinstance(carried, TupleValue)
        return replace(value, items=carried.items)
    if not isinstance(value, tree.Expression):
        return value
    number = builder.weak.number(value)
    if number is not None:
        return builder.launch_parameters.read_weak(number, builder.span(argument))
    if is_constant(builder, value):
        return typed_constant(value) or value
    variable = _parameter(builder, name, value, argument, made)
    made.append(variable)
    return variable


def _parameter(
    builder: FunctionBuilder,
    name: str,
    value: tree.Expression,
    argument: ast.AST,
    made: list[tree.Variable],
) -> tree.Variable:
    """Make a parameter of the argument's type. For a weak argument it is weak too, and wide if that
    was requested."""
    weak = builder.weak
    if not weak.was_weak(value) or builder.source.is_library:
        return builder.variable(name, value.type)
    # Arguments before this one may be typed with another width, which makes another parameter.
    types = ", ".join(str(variable.type) for variable in made)
    origin = builder.origin(argument, f"{name} after ({types})")
    variable = builder.variable(
        name, wide_type(value.type) if origin in weak.widened else value.type
    )
    weak.variables[variable] = origin
    return variable


# The places of a kernel's annotations, for errors about arguments that are raised outside the
# kernel.


def at_annotation(failure: CompileError, function: types.FunctionType) -> CompileError:
    """Return the error with the spans of the annotations of its parameters."""
    source = read_source(function)
    nodes = {argument.arg: argument for argument in arguments_of(source.node)}

    def located(diagnostic: Diagnostic) -> Diagnostic:
        name = dict(diagnostic.fields).get("parameter", "").partition(".")[0]
        if diagnostic.span is not None or name not in nodes:
            return diagnostic
        return replace(diagnostic, span=source.span(nodes[name]))

    return type(failure)(*map(located, failure.diagnostics))
