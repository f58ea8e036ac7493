"""Statements, except loops, to instructions and basic blocks.

before: `if c: x = f32(1)`
after:  `br i1 %c, label %then, label %endif`, and a store or a new value for `x` in `then`
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from amdjit.diagnostics.errors import InternalError
from amdjit.lowering.abi import flatten
from amdjit.lowering.expressions import address, evaluate
from amdjit.lowering.loops import range_loop, return_values, while_loop
from amdjit.lowering.memory import store
from amdjit.lowering.reports import fault, print_line
from amdjit.lowering.state import FunctionState
from amdjit.tree import nodes as tree
from amdjit.types import Type

__all__ = ["lower_block"]


def lower_block(state: FunctionState, statements: Sequence[tree.Statement]) -> None:
    """Lower statements in order; those after a break, continue or return cannot run and are left
    out."""
    builder = state.builder
    for statement in statements:
        if builder.block.is_terminated:
            return
        builder.debug_metadata = state.location(statement.span)
        handler = _HANDLERS.get(type(statement))
        if handler is None:
            raise InternalError(f"no lowering of {type(statement).__name__}")
        handler(state, statement)


def _assign(state: FunctionState, node: tree.Assign) -> None:
    state.assign(node.variable, evaluate(state, node.value))


def _store(state: FunctionState, node: tree.Store) -> None:
    """Lower a store; Python evaluates the value before the target."""
    value = evaluate(state, node.value)
    array = evaluate(state, node.array)
    place = address(state, array, node)
    store(state.builder, array, place, value, node.width, node.alignment)


def _evaluate(state: FunctionState, node: tree.Evaluate) -> None:
    evaluate(state, node.expression)


def _if(state: FunctionState, node: tree.If) -> None:
    builder = state.builder
    condition = evaluate(state, node.condition)
    then, after = builder.append_basic_block("then"), builder.append_basic_block("endif")
    otherwise = builder.append_basic_block("else") if node.otherwise else after
    builder.cbranch(condition, then, otherwise)
    for block, statements in ((then, node.then), (otherwise, node.otherwise)):
        if block is not after:
            builder.position_at_end(block)
            with state.branch():
                lower_block(state, statements)
            branch_unless_ended(state, after)
    builder.position_at_end(after)


def branch_unless_ended(state: FunctionState, block: Any) -> None:
    """Branch to a block unless a break, continue or return has left already."""
    if not state.builder.block.is_terminated:
        state.builder.branch(block)


def _while(state: FunctionState, node: tree.While) -> None:
    while_loop(
        state,
        condition=lambda: evaluate(state, node.condition),
        body=lambda: lower_block(state, node.body),
        otherwise=lambda: lower_block(state, node.otherwise),
        unroll=node.unroll or state.module.options.unroll or 0,
        is_unconditional=_is_true(node.condition),
        is_endless=_is_true(node.condition) and not _leaves(node.body),
    )


def _is_true(condition: tree.Expression) -> bool:
    return isinstance(condition, tree.Constant) and bool(condition.value)


def _leaves(statements: Sequence[tree.Statement], is_inner: bool = False) -> bool:
    """Whether statements of a loop's body may leave the loop. is_inner: whether they are in a loop
    inside it."""
    for statement in statements:
        if isinstance(statement, tree.Return) or (
            isinstance(statement, tree.Break) and not is_inner
        ):
            return True
        if isinstance(statement, tree.If) and (
            _leaves(statement.then, is_inner) or _leaves(statement.otherwise, is_inner)
        ):
            return True
        if isinstance(statement, (tree.While, tree.ForRange)) and (
            _leaves(statement.body, True) or _leaves(statement.otherwise, is_inner)
        ):
            return True
    return False


def _for_range(state: FunctionState, node: tree.ForRange) -> None:
    start, stop, step = (evaluate(state, bound) for bound in (node.start, node.stop, node.step))
    range_loop(
        state,
        node.variable,
        (start, stop, step),
        body=lambda: lower_block(state, node.body),
        otherwise=lambda: lower_block(state, node.otherwise),
        unroll=node.unroll or state.module.options.unroll or 0,
    )


def _break(state: FunctionState, node: tree.Break) -> None:
    loop = state.loops[-1]
    loop.breaks.append(state.builder.block)
    state.builder.branch(loop.after)


def _continue(state: FunctionState, node: tree.Continue) -> None:
    loop = state.loops[-1]
    loop.part(state.builder.crossings)
    state.builder.branch(loop.next_iteration)


def _return(state: FunctionState, node: tree.Return) -> None:
    values = list(flatten(evaluate(state, node.value))) if node.value is not None else []
    state.whole.part(state.builder.crossings)
    return_values(state, values)


def _fault(state: FunctionState, node: tree.Fault) -> None:
    fault(state, node.number, _values(state, node.values))


def _print(state: FunctionState, node: tree.Print) -> None:
    print_line(state, node.number, _values(state, node.values))


def _values(state: FunctionState, nodes: Sequence[tree.Expression]) -> list[tuple[Any, Type]]:
    return [(evaluate(state, node), node.type) for node in nodes]


_HANDLERS: Mapping[type, Callable[[FunctionState, Any], None]] = MappingProxyType(
    {
        tree.Assign: _assign,
        tree.Store: _store,
        tree.Evaluate: _evaluate,
        tree.If: _if,
        tree.While: _while,
        tree.ForRange: _for_range,
        tree.Break: _break,
        tree.Continue: _continue,
        tree.Return: _return,
        tree.Fault: _fault,
        tree.Print: _print,
    }
)
