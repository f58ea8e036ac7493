"""Loops that are unrolled when compiling, and the exits of all loops.

An unrolled loop with a `break` or `continue` under a run-time condition becomes a loop of one
iteration. If there is a `continue`, each unrolled iteration inside it becomes such a loop too.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

from amdjit.frontend.assignment.targets import assign_target
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.building.control_flow import Exit, Loop
from amdjit.frontend.names.merging import merge
from amdjit.frontend.names.scope import count_rounds
from amdjit.frontend.numbers.conversion import convert
from amdjit.frontend.source.bound_names import bound_names
from amdjit.frontend.values.kinds import CompileTime, Value
from amdjit.tree import nodes as tree
from amdjit.types import boolean, i32


def loop_else(
    builder: FunctionBuilder, node: ast.While | ast.For, ends: list[Exit]
) -> list[tree.Statement]:
    """Type the loop's `else`, which runs if the loop ends without a break."""
    if not ends:
        return []
    with builder.block() as statements:
        builder.names = ends[0].names
        loops, builder.loops = builder.loops, builder.loops[:-1]
        try:
            builder.run(node.orelse)
        finally:
            builder.loops = loops
        if builder.terminated:
            ends.clear()
        else:
            ends[0] = Exit(builder.names, statements, node)
    return statements


def merge_after_loop(builder: FunctionBuilder, loop: Loop, ends: list[Exit], node: ast.AST) -> None:
    """Merge the names after a loop, from its end and from its breaks."""
    exits = [*ends, *loop.breaks]
    if exits:
        builder.names = merge(builder, exits, node)
    builder.terminated = not exits


Items = Callable[[], Iterable[Value]]


def static_loop(builder: FunctionBuilder, node: ast.For, items: Items) -> None:
    """Type the body once for each item. An item may be typed only when its iteration begins."""
    before = builder.checkpoint()
    try:
        _plain_iterations(builder, node, items)
    except _RunTimeExitError as leaving:
        if leaving.depth != before.loops:
            raise
        builder.rewind(before)
        _iterations_with_exits(builder, node, items)


def _plain_iterations(builder: FunctionBuilder, node: ast.For, items: Items) -> None:
    """Type the iterations on the assumption that every break and continue has a compile-time
    condition."""
    own = len(builder.loops)
    builder.loops.append(Loop({}, is_static=True))
    broken = False
    for item in items():
        count_rounds(builder, node.iter)
        assign_target(builder, node.target, item, node.iter)
        depth, refused = len(builder.statements), builder.refused
        try:
            builder.run(node.body)
        except _StaticExitError as leaving:
            if leaving.statements is not builder.statements or len(builder.statements) < depth:
                raise _RunTimeExitError(own) from None
            broken = leaving.word == "break"
        if builder.refused > refused:
            # The other iterations would be refused for the same reason.
            builder.poison(bound_names([node]))
            break
        if broken or builder.terminated:
            break
    builder.loops.pop()
    if not broken and not builder.terminated:
        builder.run(node.orelse)


def _iterations_with_exits(builder: FunctionBuilder, node: ast.For, items: Items) -> None:
    outer, refused = Loop({}), builder.refused
    has_continue = any(isinstance(leaving, ast.Continue) for leaving in _exits(node.body))
    one_iteration = _one_iteration if has_continue else _open_iteration
    builder.loops.append(outer)
    with builder.block() as body:
        for item in items():
            count_rounds(builder, node.iter)
            one_iteration(builder, node, item, outer)
            if builder.terminated or builder.refused > refused:
                break
        ends = [] if builder.terminated else [Exit(builder.names, body, node)]
    otherwise = loop_else(builder, node, ends)
    builder.loops.pop()
    builder.emit(_once(builder, node, body, otherwise))
    merge_after_loop(builder, outer, ends, node)


def _exits(nodes: list[ast.stmt]) -> list[ast.AST]:
    return [
        inner
        for node in nodes
        for inner in ast.walk(node)
        if isinstance(inner, (ast.Break, ast.Continue))
    ]


def _open_iteration(builder: FunctionBuilder, node: ast.For, item: Value, outer: Loop) -> None:
    assign_target(builder, node.target, item, node.iter)
    builder.run(node.body)


def _one_iteration(builder: FunctionBuilder, node: ast.For, item: Value, outer: Loop) -> None:
    """Type an iteration that `continue` ends; a `break` also records that the loop has to be
    left."""
    span = builder.span(node)
    leaving = builder.hidden_variable("leaving", boolean)
    builder.emit(tree.Assign(span, leaving, tree.Constant(span, boolean, False)))
    inner = Loop({}, leaving=leaving)
    builder.loops.append(inner)
    with builder.block() as body:
        _open_iteration(builder, node, item, outer)
        exits = [] if builder.terminated else [Exit(builder.names, body, node.body[-1])]
    builder.loops.pop()
    builder.emit(_once(builder, node, body, []))
    merge_after_loop(builder, inner, [*exits, *inner.continues], node)
    if inner.breaks and not exits and not inner.continues:
        _exit(builder, tree.Break(span), outer.breaks, node)
    elif inner.breaks:
        stop = tree.Break(span)
        statements: list[tree.Statement] = [stop]
        outer.breaks.append(Exit(dict(builder.names), statements, node, stop))
        builder.emit(tree.If(span, tree.Read(span, boolean, leaving), statements, []))


def _once(
    builder: FunctionBuilder,
    node: ast.For,
    body: list[tree.Statement],
    otherwise: list[tree.Statement],
) -> tree.ForRange:
    zero, one = (convert(builder, CompileTime(n), i32, node) for n in (0, 1))
    return tree.ForRange(
        builder.span(node),
        builder.hidden_variable("once", i32),
        start=zero,
        stop=one,
        step=one,
        body=body,
        otherwise=otherwise,
    )


class _StaticExitError(Exception):
    """A `break` or `continue` of an unrolled loop, reached while typing its body."""

    def __init__(self, word: str, statements: list[tree.Statement]) -> None:
        super().__init__(word)
        self.word, self.statements = word, statements


class _RunTimeExitError(Exception):
    """An unrolled loop is left under a run-time condition, so it has to be typed again. depth: that
    of the loop."""

    def __init__(self, depth: int) -> None:
        super().__init__(depth)
        self.depth = depth


def leave_loop(builder: FunctionBuilder, node: ast.Break) -> None:
    """`break`."""
    loop = builder.loops[-1]
    if loop.is_static:
        raise _StaticExitError("break", builder.statements)
    if loop.leaving is not None:
        span = builder.span(node)
        builder.emit(tree.Assign(span, loop.leaving, tree.Constant(span, boolean, True)))
    _exit(builder, tree.Break(builder.span(node)), loop.breaks, node)


def next_iteration(builder: FunctionBuilder, node: ast.Continue) -> None:
    """`continue`."""
    loop = builder.loops[-1]
    if loop.is_static:
        raise _StaticExitError("continue", builder.statements)
    if loop.leaving is not None:
        _exit(builder, tree.Break(builder.span(node)), loop.continues, node)
    else:
        _exit(builder, tree.Continue(builder.span(node)), loop.continues, node)


def _exit(
    builder: FunctionBuilder, leaving: tree.Statement, exits: list[Exit], node: ast.AST
) -> None:
    exits.append(Exit(dict(builder.names), builder.statements, node, leaving))
    builder.emit(leaving)
    builder.terminated = True
