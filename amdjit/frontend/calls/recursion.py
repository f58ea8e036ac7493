"""Functions that call themselves, directly or through others, to a bounded depth.

Each level of a recursion is a function of its own, whose calls go to the next level, so the stack
has a size that is known when compiling. The innermost level reports Python's RecursionError in
place of another call.
"""

from __future__ import annotations

import ast
import inspect
import types
from collections.abc import Callable
from typing import TypeVar

from amdjit.diagnostics import CompileError, codes
from amdjit.frontend.building.builder import EndlessCallError, FunctionBuilder
from amdjit.frontend.expressions.faults import exception
from amdjit.frontend.numbers.conversion import materialise
from amdjit.frontend.values.dependencies import OutsideArray
from amdjit.frontend.values.kinds import CompileTime, TupleValue, Value
from amdjit.language.launch_numbers import LaunchUse
from amdjit.late_methods import dataclass
from amdjit.tree import nodes as tree
from amdjit.types import Const

Typed = TypeVar("Typed")

# A function that returns a local array becomes a part of its caller. LLVM needs two seconds for
# these copies; two calls of itself at each of 16 levels make 65,535.
MAX_COPIES = 1024


def run_time_arguments(
    builder: FunctionBuilder,
    python: types.FunctionType,
    arguments: dict[str, Value],
    node: ast.AST,
) -> dict[str, Value]:
    """Return the arguments of a recursive call with numbers as values of run time, so that all
    levels are typed in the same way. Those of `Const` parameters stay."""
    constant = _constant_parameters(python)
    return {
        name: value if name in constant else _at_run_time(builder, value, node)
        for name, value in arguments.items()
    }


def _constant_parameters(python: types.FunctionType) -> set[str]:
    annotations = inspect.get_annotations(python)
    return {name for name, kind in annotations.items() if _is_const(kind)}


def _is_const(annotation: object) -> bool:
    return annotation is Const or (
        isinstance(annotation, str) and annotation.rpartition(".")[2] == "Const"
    )


def _at_run_time(builder: FunctionBuilder, value: Value, node: ast.AST) -> Value:
    if isinstance(value, TupleValue):
        return value.with_items(_at_run_time(builder, item, node) for item in value.items)
    is_number = isinstance(value, CompileTime) and value.is_number
    if is_number or builder.weak.number(value) is not None:
        made = builder.hold(materialise(builder, value, node), "argument", node)
        return made
    return value


def refused(
    builder: FunctionBuilder, name: str, node: ast.AST, reason: str, remedy: str
) -> CompileError:
    """Return the error of a recursion that cannot be compiled."""
    return builder.error(codes.RECURSION, node, function=name, reason=reason, remedy=remedy)


def is_local(builder: FunctionBuilder, name: str, node: ast.AST) -> CompileError:
    """Return the error of a recursion of a function that is defined in another one."""
    remedy = "define it outside the kernel and pass it what it reads, or write a loop"
    return refused(builder, name, node, "and is defined in another function", remedy)


def check_instance(builder: FunctionBuilder, instance: Instance, name: str, node: ast.AST) -> None:
    """Refuse a recursion whose calls would each have arrays of their own in LDS."""
    if not instance.is_shared:
        remedy = "make the arrays in the kernel and pass them to it"
        raise refused(builder, name, node, "and has arrays in LDS", remedy)


def check_copies(builder: FunctionBuilder, copies: int, name: str, node: ast.AST) -> None:
    """Refuse a recursion of which one call becomes too many parts of the function that calls."""
    if copies > MAX_COPIES:
        reason = f"and returns a local array: {copies:,} copies of its code, {MAX_COPIES:,} at most"
        remedy = "pass it the array to write to and return nothing, or lower max_recursion="
        raise refused(builder, name, node, reason, remedy)


def next_level(
    builder: FunctionBuilder,
    name: str,
    node: ast.expr,
    level: int,
    typed_at: Callable[[int], Typed],
) -> Typed:
    """Return the instance for a call from this level of a recursion.

    There is one for each level, since that bounds the stack. The innermost is typed first: its
    result has the type of what it returns without another call.
    """
    limit = builder.compilation.max_recursion
    if level == limit:
        raise too_deep(builder, name, node)
    for inner in range(limit, level + 1, -1):
        typed_at(inner)
    return typed_at(level + 1)


def too_deep(builder: FunctionBuilder, name: str, node: ast.expr) -> EndlessCallError:
    """Return what ends the innermost level: a report to the host, whatever `asserts` says."""
    limit = builder.compilation.max_recursion
    text = f"`{name}` has called itself {limit} times, the limit of max_recursion={limit}"
    return EndlessCallError(exception(builder, node, RecursionError, text))


def endless(builder: FunctionBuilder, call: tree.Call, node: ast.expr) -> EndlessCallError:
    """Return what ends a function at a call that never returns: the call itself."""
    span = builder.span(node)
    builder.emit(tree.Evaluate(span, call))
    return EndlessCallError(tree.Fault(span, -1))


def is_endless(builder: FunctionBuilder) -> bool:
    """Whether every path through a function leads beyond the innermost level."""
    return builder.reaches_limit and builder.terminated and not builder.returns


def check_end(builder: FunctionBuilder) -> None:
    """Refuse a function that never ends at the outermost level: none below it returns either."""
    if is_endless(builder):
        reason = "on every path"
        remedy = "return a value on some path before the function calls itself"
        if _constant_parameters(builder.source.function):
            reason = f"more than {builder.compilation.max_recursion} times on every path"
            remedy = "raise max_recursion=, or start nearer to the argument that ends it"
        node = builder.source.node
        raise refused(builder, node.name, node.body[-1], reason, remedy)


# Functions typed for the arguments of a call.


@dataclass(frozen=True, slots=True)
class Instance:
    """A device function typed for some arguments; only `value` is set if it just returns a
    compile-time value."""

    function: tree.Function | None
    value: Value | None = None
    uses: tuple[LaunchUse | OutsideArray, ...] = ()
    """The launch's numbers, and arrays from outside, that it takes after its parameters."""
    is_shared: bool = True
    """Whether all calls with the same arguments use it; a function with LDS arrays is typed once
    for each call, since each call has its own arrays."""
    is_endless: bool = False
    """Whether a call always goes beyond the innermost level of a recursion."""
    rounds: int = 0
    """How many iterations were typed one by one in it, and in what it inlines."""
