"""Calls: what is called decides which module types the call."""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
import math
import types
from collections.abc import Callable, Hashable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from amdjit.declarations import DeviceFunction, Intrinsic, SpecialForm
from amdjit.diagnostics import CompileError, codes
from amdjit.frontend.building.arguments import Arguments
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.building.descriptions import describe
from amdjit.frontend.building.special_methods import special_method
from amdjit.frontend.calls.array_methods import array_method, is_of_array, is_ufunc_call
from amdjit.frontend.calls.callables import (
    CALLABLE,
    is_method_in_python,
    is_method_of_constant,
    remedy_for,
    runs_on_host,
)
from amdjit.frontend.calls.closures import make_partial, partial_call, refreshed
from amdjit.frontend.calls.constructors import convert_to, make_vector
from amdjit.frontend.calls.elementwise import call_elementwise, is_elementwise
from amdjit.frontend.calls.intrinsics import call_intrinsic
from amdjit.frontend.calls.overloads import implementation
from amdjit.frontend.calls.python_functions import FUNCTIONS
from amdjit.frontend.calls.special_forms import FORMS
from amdjit.frontend.calls.tuple_functions import all_or_any, tested_only
from amdjit.frontend.calls.wide_access import access_call
from amdjit.frontend.expressions import complexes
from amdjit.frontend.expressions.conditional import choose
from amdjit.frontend.expressions.folding import fold
from amdjit.frontend.expressions.formatted_text import text_of
from amdjit.frontend.expressions.records import as_device_function, construct, replaced
from amdjit.frontend.names.scope import value_of_object
from amdjit.frontend.numbers import launch_arithmetic
from amdjit.frontend.numbers.conversion import complex_type, convert, is_complex
from amdjit.frontend.numbers.results import (
    as_wide_as_needed,
    rounded,
    rounded_without_width,
    with_own_types,
    without_width,
)
from amdjit.frontend.source.reading import is_library
from amdjit.frontend.values.kinds import (
    Choice,
    CompileTime,
    FunctionValue,
    Method,
    TupleValue,
    Value,
    static_value,
)
from amdjit.language.compile_time import CompileTimeFunction, Refused
from amdjit.language.complex_types import ComplexElement
from amdjit.late import late
from amdjit.tree import nodes as tree
from amdjit.types import VOID, Array, Scalar, Tuple, Vector, f32, f64, from_dtype, vector

if TYPE_CHECKING:
    from amdjit.frontend.calls import array_creation, reshaping, ufuncs
else:
    array_creation = late("amdjit.frontend.calls.array_creation")
    reshaping = late("amdjit.frontend.calls.reshaping")
    ufuncs = late("amdjit.frontend.calls.ufuncs")


def call(builder: FunctionBuilder, node: ast.Call) -> Value:
    """Type a call."""
    callee = builder.evaluate(node.func)
    if is_print(callee):
        return print_call(builder, node)
    truth_of = all_or_any(builder, callee, node)
    if truth_of is None:
        truth_of = tested_only(builder, callee, node)
    if truth_of is not None:
        return truth_of
    if node.args and isinstance(node.args[0], (ast.List, ast.Tuple)):
        node = array_creation.with_tuples(callee, node)
    try:
        (callee,), arguments = builder.after((callee,), lambda _: _arguments(builder, node), node)
    except CompileError as failure:
        raise with_errors_of(builder, callee, node, failure) from None
    if (
        isinstance(callee, TupleValue)
        and (function := special_method(callee, "__call__")) is not None
    ):
        callee = Method(callee, "__call__", function)
    return _call_value(builder, callee, arguments, node)


def _value_remedy(callee: Value, node: ast.Call) -> str:
    """Say what to write instead of a call of what is no function."""
    name = ast.unparse(node.func)
    if node.args and _is_indexable(callee):
        return f"an item is read with brackets: `{name}[{', '.join(map(ast.unparse, node.args))}]`"
    if not node.args and not node.keywords:
        return f"it is a value: leave out the parentheses, `{name}`"
    return CALLABLE


def _is_indexable(value: Value) -> bool:
    if isinstance(value, tree.Expression):
        return isinstance(value.type, (Array, Vector))
    return isinstance(value, TupleValue)


def call_function(
    builder: FunctionBuilder, callee: FunctionValue, arguments: Arguments, node: ast.Call
) -> Value:
    """Call a function that was made in the kernel, or one of two."""
    if callee.function is Choice:
        condition, first, second = callee.items
        return choose(
            builder,
            condition,
            lambda: _call_value(builder, first, arguments, node),
            lambda: _call_value(builder, second, arguments, node),
            node,
        )
    if callee.function is functools.partial:
        inner, arguments = partial_call(callee, arguments)
        return _call_value(builder, inner, arguments, node)
    current = refreshed(builder, callee)
    result = builder.session.call_local(
        builder, current, arguments.positional, arguments.keywords, node
    )
    return _value_of_call(builder, result, node)


def _call_value(
    builder: FunctionBuilder, callee: Value, arguments: Arguments, node: ast.Call
) -> Value:
    if isinstance(callee, Method):
        return _call_method(builder, callee, arguments, node)
    if isinstance(callee, FunctionValue):
        return call_function(builder, callee, arguments, node)
    if not isinstance(callee, CompileTime):
        raise builder.error(
            codes.NOT_CALLABLE, node.func, what=describe(callee), remedy=_value_remedy(callee, node)
        )
    return _value_of_call(builder, _call_object(builder, callee.value, arguments, node), node)


def _value_of_call(builder: FunctionBuilder, result: Value, node: ast.Call) -> Value:
    if isinstance(result, tree.Expression) and result.type == VOID:
        builder.emit(tree.Evaluate(builder.span(node), result))
        return CompileTime(None)
    return result


def _call_object(
    builder: FunctionBuilder, callee: Any, arguments: Arguments, node: ast.Call
) -> Value:
    if (
        isinstance(callee, (type, Scalar, Vector, ComplexElement))
        and (made := _make(builder, callee, arguments, node)) is not None
    ):
        return made
    if callee is breakpoint or getattr(callee, "__name__", None) == "set_trace":
        mark = builder.session.builtins[breakpoint]
        return call_declared(builder, mark, Arguments((), {}), node)
    if isinstance(callee, SpecialForm):
        return FORMS[callee.form](builder, arguments, node)
    if isinstance(callee, (Intrinsic, DeviceFunction)):
        return call_declared(builder, callee, arguments, node)
    if isinstance(callee, CompileTimeFunction):
        return call_when_compiling(builder, callee, arguments, node)
    return _call_python_object(builder, callee, arguments, node)


def _call_python_object(
    builder: FunctionBuilder, callee: Any, arguments: Arguments, node: ast.Call
) -> Value:
    if callee is functools.partial:
        return make_partial(builder, arguments, node)
    if isinstance(callee, functools.partial):
        return _call_partial(builder, callee, arguments, node)
    if is_method_of_constant(callee) and arguments.are_static:
        return _on_host(builder, callee, arguments, node)
    if getattr(callee, "is_amdjit_kernel", False):
        if callee.device_function is not None:
            return call_declared(builder, callee.device_function, arguments, node)
        raise builder.error(codes.CALLS_KERNEL, node, kernel=callee.__name__)
    if isinstance(callee, Hashable) and callable(callee):
        known = _call_known(builder, callee, arguments, node)
        if known is not None:
            return known
    # Another compiler's function has what it compiled as `py_func`: that of `numba.njit`.
    function = getattr(callee, "py_func", callee)
    if isinstance(function, types.FunctionType) and not runs_on_host(function):
        chosen = implementation(builder, function, arguments, node) or DeviceFunction(function)
        return call_declared(builder, chosen, arguments, node)
    if is_method_in_python(callee):
        receiver = value_of_object(builder, callee.__self__, "self", node)
        with_self = Arguments((receiver, *arguments.positional), arguments.keywords)
        return call_declared(builder, as_device_function(callee.__func__), with_self, node)
    remedy = remedy_for(builder, callee)
    raise builder.error(
        codes.NOT_CALLABLE, node.func, what=describe(CompileTime(callee)), remedy=remedy
    )


def _make(
    builder: FunctionBuilder,
    callee: type | Scalar | Vector | ComplexElement,
    arguments: Arguments,
    node: ast.Call,
) -> Value | None:
    """Convert, or make a value of a class; None if kernels have no values of it."""
    if callee in (np.datetime64, np.timedelta64) and arguments.are_static:
        return _on_host(builder, callee, arguments, node)
    target = _number_type(callee) if isinstance(callee, type) else callee
    target = complex_type(target.part) if isinstance(target, ComplexElement) else target
    if isinstance(target, Scalar):
        return convert_to(builder, target, arguments, node)
    if isinstance(target, Vector):
        return make_vector(builder, target, arguments, node)
    if isinstance(target, Tuple):
        (value,) = arguments.exactly(builder, node, str(target), ("z",))
        return builder.hold(convert(builder, value, target, node), "complex", node)
    return construct(builder, target, arguments, node)


def _number_type(callee: type) -> Any:
    """Return the kernel type of a NumPy scalar type; other classes as they are."""
    if callee in (np.complex64, np.complex128):
        return complex_type(f32 if callee is np.complex64 else f64)
    return (from_dtype(np.dtype(callee)) if issubclass(callee, np.generic) else None) or callee


def _call_partial(
    builder: FunctionBuilder, callee: functools.partial[Any], arguments: Arguments, node: ast.Call
) -> Value:
    """Call a `functools.partial` that was made outside the kernel."""
    positional = tuple(value_of_object(builder, item, "partial", node) for item in callee.args)
    keywords = {
        name: value_of_object(builder, item, name, node) for name, item in callee.keywords.items()
    }
    whole = Arguments((*positional, *arguments.positional), {**keywords, **arguments.keywords})
    return _call_object(builder, callee.func, whole, node)


def _call_known(
    builder: FunctionBuilder, callee: Any, arguments: Arguments, node: ast.Call
) -> Value | None:
    """Call a function of Python or NumPy that kernels support; None for other functions."""
    builtins = builder.session.builtins
    if is_ufunc_call(builder, callee, arguments):
        if callee not in builtins and callee not in FUNCTIONS:
            return None
        return ufuncs.call_ufunc(builder, callee, arguments, _call_of_numbers, node)
    return _call_of_numbers(builder, callee, arguments, node)


def _call_of_numbers(
    builder: FunctionBuilder, callee: Any, arguments: Arguments, node: ast.Call
) -> Value | None:
    builtins = builder.session.builtins
    if any(map(is_complex, arguments.positional)):
        callee = complexes.version_of(builder, callee, arguments.are_static)
    if _is_numpys(callee) and callee in array_creation.CREATIONS:
        return array_creation.CREATIONS[callee](builder, arguments, node)
    if callee in builtins and callee in FUNCTIONS and is_of_array(callee, arguments):
        return call_declared(builder, builtins[callee], arguments, node)
    whole = rounded(builder, callee, arguments, call_declared, node)
    if whole is not None:
        return whole
    if arguments.are_static and (
        callee in _ON_HOST or (callee in builtins and callee not in FUNCTIONS)
    ):
        return _on_host(builder, callee, arguments, node)
    operation = partial(launch_arithmetic.of_function, callee)
    values = () if arguments.keywords else arguments.positional
    launched = launch_arithmetic.at_launch(builder, operation, values, node)
    if launched is not None:
        return launched
    arguments = with_own_types(builder, callee, arguments, node)
    if callee in builtins and callee not in FUNCTIONS:
        result = call_declared(builder, builtins[callee], arguments, node)
        result = rounded_without_width(
            builder, callee, arguments=arguments, result=result, call=call_declared, node=node
        )
        return without_width(
            builder,
            builtins[callee],
            arguments,
            result,
            lambda again: call_declared(builder, builtins[callee], again, node),
        )
    return FUNCTIONS[callee](builder, arguments, node) if callee in FUNCTIONS else None


def _is_numpys(callee: Any) -> bool:
    return str(getattr(callee, "__module__", "")).partition(".")[0] == "numpy"


def _arguments(builder: FunctionBuilder, node: ast.Call) -> Arguments:
    for keyword in node.keywords:
        if keyword.arg is None:
            raise builder.error(
                codes.UNSUPPORTED_EXPRESSION,
                keyword.value,
                expression="`**`",
                remedy="write the keywords out",
            )
    plain = [
        argument.value if isinstance(argument, ast.Starred) else argument for argument in node.args
    ]
    values = builder.evaluate_all([*plain, *(keyword.value for keyword in node.keywords)])
    if node.keywords:
        values = builder.in_order(values, node)  # parameters may be in another order
    positional: list[Value] = []
    places: dict[int | str, ast.expr] = {}
    for argument, value in zip(node.args, values, strict=False):
        if isinstance(argument, ast.Starred) and not isinstance(value, TupleValue):
            raise builder.error(codes.NOT_INDEXABLE, argument, type=describe(value))
        items = (
            value.items
            if isinstance(argument, ast.Starred) and isinstance(value, TupleValue)
            else (value,)
        )
        places |= {len(positional) + i: argument for i in range(len(items))}
        positional += items
    names = [keyword.arg or "" for keyword in node.keywords]
    places |= {keyword.arg or "": keyword.value for keyword in node.keywords}
    return Arguments(tuple(positional), dict(zip(names, values[len(plain) :], strict=True)), places)


def call_declared(
    builder: FunctionBuilder,
    callee: Intrinsic | DeviceFunction,
    arguments: Arguments,
    node: ast.expr,
) -> Value:
    """Call an intrinsic or a device function."""
    if is_elementwise(builder, callee, arguments):
        return call_elementwise(
            builder, lambda items: call_declared(builder, callee, items, node), arguments, node
        )

    def one_call(arguments: Arguments) -> Value:
        if isinstance(callee, Intrinsic):
            return call_intrinsic(builder, callee, arguments, node)
        return builder.session.call(builder, callee, arguments.positional, arguments.keywords, node)

    made = one_call(arguments)
    if isinstance(callee, DeviceFunction) and not is_library(callee.function):
        return made
    return as_wide_as_needed(
        builder, callee, arguments=arguments, result=made, call=one_call, node=node
    )


def _on_host(
    builder: FunctionBuilder, callee: Callable[..., Any], arguments: Arguments, node: ast.Call
) -> Value:
    """Let Python compute a function of compile-time values."""
    values = [known.value for known in map(static_value, arguments.positional) if known is not None]
    result = fold(builder, node, callee, *values)
    return value_of_object(builder, result.value, callee.__name__, node)


_OF_MATH = frozenset(
    function for function in vars(math).values() if isinstance(function, types.BuiltinFunctionType)
)
_ON_HOST: frozenset[Any] = _OF_MATH | {
    abs,
    complex,
    min,
    max,
    round,
    divmod,
    pow,
    int,
    float,
    bool,
    str,
    vector,
}


def _call_method(
    builder: FunctionBuilder, method: Method, arguments: Arguments, node: ast.Call
) -> Value:
    if method.function is not None:
        with_self = Arguments((method.receiver, *arguments.positional), arguments.keywords)
        return _value_of_call(
            builder, call_declared(builder, method.function, with_self, node), node
        )
    receiver = method.receiver
    if isinstance(receiver, TupleValue) and is_complex(receiver):
        arguments.exactly(builder, node, "conjugate", ())
        return complexes.negated(builder, receiver, False, node)
    if isinstance(receiver, TupleValue):
        return replaced(builder, Arguments((receiver,), arguments.keywords), node)
    if method.name in ("load", "store"):
        return access_call(builder, method, arguments, node)
    function = array_method(builder, method)
    if function is not None:
        with_array = Arguments((receiver, *arguments.positional), arguments.keywords)
        return call_declared(builder, function, with_array, node)
    made = array_creation.made_from(builder, method, arguments, node)
    return reshaping.shape_call(builder, method, arguments, node) if made is None else made


# Calls of compile-time functions: amdjit's own rules about types, written in Python outside the
# front end.


def call_when_compiling(
    builder: FunctionBuilder, callee: CompileTimeFunction, arguments: Arguments, node: ast.expr
) -> Value:
    """Run the function on the known values of the arguments, and on the types of the others."""
    values = [_known(value) for value in arguments.positional]
    keywords = {name: _known(value) for name, value in arguments.keywords.items()}
    for value in (*arguments.positional, *arguments.keywords.values()):
        builder.discard(value, node)
    try:
        result = callee.function(builder.compilation, *values, **keywords)
    except Refused as refused:
        raise builder.error(
            codes.REFUSED, node, problem=refused.problem, remedy=refused.remedy
        ) from refused
    return value_of_object(builder, result, callee.function.__name__, node)


def _known(value: Value) -> Any:
    """Return a known value, the type of an unknown one, or a tuple of these for a tuple."""
    if isinstance(value, CompileTime):
        return value.value
    if isinstance(value, TupleValue):
        return tuple(map(_known, value.items))
    return value.type if isinstance(value, tree.Expression) else value


# Calls of `print`.


def is_print(value: Value) -> bool:
    """Whether a callee is Python's `print`."""
    return isinstance(value, CompileTime) and value.value is builtins.print


def print_call(builder: FunctionBuilder, node: ast.Call) -> CompileTime:
    """`print(...)`, also with `sep` and `end`."""
    texts = {"sep": " ", "end": "\n"}
    for keyword in node.keywords:
        texts[keyword.arg or ""] = _keyword_text(builder, keyword, texts.get(keyword.arg or ""))
    starred = next((argument for argument in node.args if isinstance(argument, ast.Starred)), None)
    if starred is not None:
        raise builder.error(
            codes.UNSUPPORTED_EXPRESSION,
            starred,
            expression="`*` in `print`",
            remedy="print the tuple itself",
        )
    text, values = text_of(builder, node.args, texts["sep"], texts["end"])
    builder.reports = max(builder.reports, 1)
    builder.emit(tree.Print(builder.span(node), builder.session.reports.add_print(text), values))
    return CompileTime(None)


def _keyword_text(builder: FunctionBuilder, keyword: ast.keyword, default: str | None) -> str:
    if default is None:
        raise builder.error(
            codes.UNSUPPORTED_EXPRESSION,
            keyword.value,
            expression=f"`{keyword.arg}=` of `print`" if keyword.arg else "`**`",
            remedy="`print` in a kernel writes to sys.stdout and takes `sep` and `end`",
        )
    value = builder.evaluate(keyword.value)
    if isinstance(value, CompileTime) and value.value is None:
        return default
    if not isinstance(value, CompileTime) or not isinstance(value.value, str):
        raise builder.error(
            codes.ARGUMENT_TYPE,
            keyword.value,
            parameter=keyword.arg,
            function="print",
            expected="a string",
            found=describe(value),
            remedy="pass a string that is known when compiling",
        )
    return value.value


# Calls with arguments that were refused: the errors of the called function that do not depend on
# these arguments are reported too.


def with_errors_of(
    builder: FunctionBuilder, callee: Value, node: ast.Call, failure: CompileError
) -> CompileError:
    """Add the errors of the function that is called to those of its arguments."""
    function = _own_function(callee)
    if function is None or any(isinstance(argument, ast.Starred) for argument in node.args):
        return failure
    python = function.function
    assert isinstance(python, types.FunctionType)
    try:
        signature = inspect.signature(python, follow_wrapped=False)
        bound = signature.bind(*node.args, **{word.arg or "": word.value for word in node.keywords})
    except (TypeError, ValueError):
        return failure
    arguments: dict[str, Value | None] = {}
    for name, parameter in signature.parameters.items():
        given = bound.arguments.get(name)
        if isinstance(given, ast.expr):
            arguments[name] = _unknown_arguments_known(builder, given)
        elif given is None and parameter.default is not parameter.empty:
            arguments[name] = value_of_object(builder, parameter.default, name, node)
        else:
            arguments[name] = None
    found = builder.session.explore(builder, function, arguments, node)
    return CompileError(*failure.diagnostics, *found.diagnostics)


def _own_function(callee: Value) -> DeviceFunction | None:
    """Return the function that a call names, if it is one of the user's."""
    called = callee.value if isinstance(callee, CompileTime) else None
    function = DeviceFunction(called) if isinstance(called, types.FunctionType) else called
    if not isinstance(function, DeviceFunction):
        return None
    python = function.function
    is_own = isinstance(python, types.FunctionType) and not is_library(python)
    is_amdjits = is_own and (python.__module__ or "").partition(".")[0] == "amdjit"
    return function if is_own and not is_amdjits else None


def _unknown_arguments_known(builder: FunctionBuilder, node: ast.expr) -> Value | None:
    """Return the value of an argument, None if it is unknown. Calls are not typed once more."""
    if any(isinstance(inner, (ast.Call, ast.NamedExpr)) for inner in ast.walk(node)):
        return None
    try:
        return builder.evaluate(node)
    except CompileError:
        return None
