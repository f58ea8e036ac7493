"""Loops: the names that a loop carries keep one type, which is found by typing the body again if it
widens."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import cast

from amdjit.diagnostics import CompileError, codes
from amdjit.frontend.assignment.targets import assign_target
from amdjit.frontend.building.builder import FunctionBuilder, StatementHandler
from amdjit.frontend.building.control_flow import Exit, Loop
from amdjit.frontend.building.descriptions import describe
from amdjit.frontend.calls.allocations import MADE_ANEW
from amdjit.frontend.expressions.conditional import names_if
from amdjit.frontend.expressions.index_checks import note_counter
from amdjit.frontend.iteration.comprehensions import generated
from amdjit.frontend.iteration.iterables import evaluated, has_iterations, iterable_of
from amdjit.frontend.iteration.sequences import (
    Bounds,
    Sequence,
    check_step,
    held_bound,
    range_sequence,
)
from amdjit.frontend.names.merging import join_types, merged_name, no_common_type, unsigned_of_weak
from amdjit.frontend.names.scope import bind, carry, undefined
from amdjit.frontend.numbers.conversion import (
    assign_in_each_width,
    convert,
    literal,
    materialise,
    negated,
)
from amdjit.frontend.source.bound_names import assigned_names
from amdjit.frontend.statements.recovery import condition_of, unknown_rounds
from amdjit.frontend.statements.unrolling import (
    leave_loop,
    loop_else,
    merge_after_loop,
    next_iteration,
    static_loop,
)
from amdjit.frontend.values.kinds import (
    POISONED,
    Binding,
    CompileTime,
    FunctionValue,
    NoCommonType,
    PartlyAssigned,
    Poisoned,
    Undefined,
    Value,
    of_member,
)
from amdjit.frontend.values.promotion import literal_fits
from amdjit.tree import nodes as tree
from amdjit.tree.walk import walk
from amdjit.types import VOID, AddressSpace, Array, Scalar, Tuple, Type, boolean


class _WidenError(Exception):
    """The body gives a carried name a wider type (None: poisoned; a binding: it is not carried), so
    the loop has to be typed again."""

    def __init__(self, name: str, type: Type | NoCommonType | None) -> None:
        super().__init__(name)
        self.name, self.type = name, type


def while_loop(builder: FunctionBuilder, node: ast.While) -> None:
    """`while`, optionally with an `else`."""
    with builder.block():
        test = condition_of(builder, node.test)
    if isinstance(test, CompileTime) and not test.value:
        condition_of(builder, node.test)  # once more, for what it assigns
        builder.run(node.orelse)
        return
    runs = isinstance(test, CompileTime)
    body = [*node.body, node.test]
    _with_stable_types(builder, body, node, lambda: _while_once(builder, node, runs))


def _while_once(builder: FunctionBuilder, node: ast.While, runs: bool) -> None:
    """runs: whether the first test certainly succeeds."""
    loop = builder.loops[-1]
    span = builder.span(node.test)
    with builder.block() as body:
        condition = condition_of(builder, node.test)
        after = names_if(builder, condition, False)
        ends = [] if isinstance(condition, CompileTime) else [Exit(after, [], node)]
        otherwise = loop_else(builder, node, ends)
        is_simple = not body and isinstance(condition, tree.Expression)
        going = builder.hidden_variable("going", boolean) if otherwise and not is_simple else None
        if going is not None:
            _end_unless(builder, condition, going, node)
        elif not is_simple:
            _break_unless(builder, condition, otherwise, ends, node)
        builder.names = names_if(builder, condition, True)
        builder.run(node.body)
        ways = _close_iteration(builder, loop, node)
        if ends and not node.orelse:
            keep_names(builder, ends[0].names, ways, node.body, node, runs)
    if going is not None:
        builder.emit(tree.Assign(span, going, tree.Constant(span, boolean, True)))
        builder.emit(tree.While(span, tree.Read(span, boolean, going), body, otherwise))
    elif is_simple:
        builder.emit(tree.While(span, cast(tree.Expression, condition), body, otherwise))
    else:
        builder.emit(tree.While(span, tree.Constant(span, boolean, True), body))
    merge_after_loop(builder, loop, ends, node)


def _end_unless(
    builder: FunctionBuilder, condition: Value, going: tree.Variable, node: ast.While
) -> None:
    """End a loop with `else` whose condition needs statements: a variable is cleared, and its next
    test ends the loop.

    Otherwise the `else` would be inside the loop, but its break and continue belong to the loop
    around it.
    """
    span = builder.span(node.test)
    opposite = negated(builder, condition, node.test)
    if isinstance(opposite, tree.Expression):
        stop: list[tree.Statement] = [
            tree.Assign(span, going, tree.Constant(span, boolean, False)),
            tree.Continue(span),
        ]
        builder.emit(tree.If(span, opposite, stop, []))


def _break_unless(
    builder: FunctionBuilder,
    condition: Value,
    otherwise: list[tree.Statement],
    ends: list[Exit],
    node: ast.While,
) -> None:
    """Test a condition that needs statements inside an endless loop."""
    opposite = negated(builder, condition, node.test)
    if not isinstance(opposite, tree.Expression):
        return
    if ends:
        ends[0].terminator = tree.Break(builder.span(node.test))
        otherwise.append(ends[0].terminator)
    builder.emit(tree.If(builder.span(node.test), opposite, otherwise, []))


def for_loop(builder: FunctionBuilder, node: ast.For) -> None:
    """`for`: a loop over a range or sequence at run time; unrolled over anything of compile-time
    length."""
    if isinstance(comprehension := node.iter, ast.GeneratorExp):
        static_loop(builder, node, lambda: generated(builder, comprehension, node))
        return
    try:
        iterable, unroll = iterable_of(builder, node)
    except CompileError as failure:
        unknown_rounds(builder, node, failure)
        return
    if isinstance(iterable, tuple):
        items = evaluated(builder, iterable, node.iter, node)
        static_loop(builder, node, lambda: items)
    elif isinstance(iterable, Sequence):
        _sequence_loop(builder, node, iterable, unroll)
    elif iterable.needs_counting(iterable.type(builder, node.iter)):
        _sequence_loop(builder, node, range_sequence(builder, iterable, node.iter), unroll)
    else:
        _range_loop(builder, node, iterable, unroll)


def _range_loop(builder: FunctionBuilder, node: ast.For, bounds: Bounds, unroll: int) -> None:
    if not isinstance(node.target, ast.Name):
        raise builder.error(
            codes.UNSUPPORTED_TARGET,
            node.target,
            what="more than one name",
            remedy="name one loop variable",
        )
    values, type = bounds.values, bounds.type(builder, node.iter)
    start, stop, step = (
        held_bound(builder, convert(builder, value, type, node.iter), node.iter) for value in values
    )
    check_step(builder, step, node.iter)
    name = node.target.id
    _give_type(builder, name, type, node)
    current = builder.names.get(name)
    keep = builder.weak.keeps_width(current, type)
    is_partly_assigned = isinstance(current, PartlyAssigned)
    variable = cast(tree.Variable, current) if keep else builder.variable(name, type)
    if builder.rules.has_weak_literals and all(
        isinstance(value, CompileTime) or builder.weak.is_weak(value) for value in values
    ):
        builder.weak.variables.setdefault(variable, None)
    note_counter(builder, variable, start, stop, step)

    def one_pass() -> None:
        loop = builder.loops[-1]
        with builder.block() as body:
            if is_partly_assigned:
                bind(builder, name, tree.Read(builder.span(node.target), type, variable), node)
            builder.names[name] = current if is_partly_assigned and current else variable
            builder.run(node.body)
            ways = _close_iteration(builder, loop, node)
            kept = is_partly_assigned or keeps(builder, ways, name, variable)
        after = dict(builder.names)
        if not is_partly_assigned:
            is_known = kept and (keep or has_iterations(values))
            after[name] = (
                variable if is_known else Undefined("has no value if the loop runs zero times")
            )
        keep_names(builder, after, ways, node.body, node, has_iterations(values))
        ends = [Exit(after, [], node)] if ways or not has_iterations(values) else []
        otherwise = loop_else(builder, node, ends)
        span = builder.span(node.target)
        builder.emit(tree.ForRange(span, variable, start, stop, step, body, otherwise, unroll))
        merge_after_loop(builder, loop, ends, node)

    _with_stable_types(builder, node.body, node, one_pass, skip=frozenset({name}))


def _sequence_loop(builder: FunctionBuilder, node: ast.For, items: Sequence, unroll: int) -> None:
    """Type a loop that counts items; each iteration begins by assigning the target."""
    span, type = builder.span(node.target), items.length.type
    counter = builder.hidden_variable("number", type)
    start, step = (convert(builder, CompileTime(n), type, node.iter) for n in (0, 1))
    note_counter(builder, counter, start, items.length, step)
    targets = assigned_names([node.target])
    if isinstance(node.target, ast.Name):
        with builder.block():
            first = items.item(tree.Read(span, type, counter))
        if isinstance(first, tree.Expression) and isinstance(first.type, Scalar):
            _give_type(builder, node.target.id, first.type, node)

    def one_pass() -> None:
        loop = builder.loops[-1]
        after = dict(builder.names)
        with builder.block() as body:
            assign_target(
                builder, node.target, items.item(tree.Read(span, type, counter)), node.iter
            )
            for name in targets:
                if after.get(name) is not builder.names[name]:
                    after[name] = Undefined("has no value if the loop runs zero times")
            builder.run(node.body)
            ways = _close_iteration(builder, loop, node)
            for name in targets:
                variable = after.get(name)
                if isinstance(variable, tree.Variable) and not keeps(builder, ways, name, variable):
                    after[name] = Undefined("has a different type after an iteration of the loop")
            runs = isinstance(items.length, tree.Constant) and items.length.value > 0
            keep_names(builder, after, ways, [node.target, *node.body], node, runs)
        ends = [Exit(after, [], node)] if ways or not runs else []
        otherwise = loop_else(builder, node, ends)
        builder.emit(
            tree.ForRange(span, counter, start, items.length, step, body, otherwise, unroll)
        )
        merge_after_loop(builder, loop, ends, node)

    _with_stable_types(builder, node.body, node, one_pass, skip=targets)


def _give_type(builder: FunctionBuilder, name: str, type: Scalar, node: ast.For) -> None:
    """Put a constant that the loop's name had before into a variable of the name's type; it stays
    the value if there is no iteration."""
    binding = builder.names.get(name)
    constant: tree.Constant | None = None
    if isinstance(binding, tree.Constant) and binding.type == type:
        constant = binding
    number = binding.value if isinstance(binding, CompileTime) else None
    if isinstance(number, int) and literal_fits(number, type):
        constant = literal(builder, number, type, node.target)
    if constant is not None:
        variable = builder.variable(name, type)
        builder.emit(tree.Assign(builder.span(node.target), variable, constant))
        builder.names[name] = variable


def _with_stable_types(
    builder: FunctionBuilder,
    nodes: Iterable[ast.AST],
    node: ast.stmt,
    one_pass: Callable[[], None],
    skip: frozenset[str] = frozenset(),
) -> None:
    """Type a loop, and again with a wider type for each name that the body widens, until all types
    are stable."""
    names = sorted(
        name for name in assigned_names(nodes) if name in builder.names and name not in skip
    )
    wider: dict[str, Type | NoCommonType | None] = {}
    before = builder.checkpoint()
    while True:
        carried = _carry(builder, names, wider, node)
        builder.loops.append(Loop(carried))
        try:
            one_pass()
        except _WidenError as widened:
            wider[widened.name] = widened.type
            builder.rewind(before)
        else:
            builder.loops.pop()
            return


def _carry(
    builder: FunctionBuilder,
    names: list[str],
    wider: dict[str, Type | NoCommonType | None],
    node: ast.stmt,
) -> dict[str, tree.Variable]:
    """Put each carried name into a variable; compile-time objects other than numbers are not
    carried."""
    carried: dict[str, tree.Variable] = {}
    for name in names:
        binding = builder.names[name]
        if binding is POISONED or wider.get(name, VOID) is None:
            builder.poison([name])
            continue
        if isinstance(binding, PartlyAssigned):
            continue
        type = wider.get(name)
        if isinstance(type, NoCommonType):
            builder.names[name] = type
            continue
        if isinstance(binding, CompileTime):
            binding = of_member(binding)
        is_object = isinstance(binding, CompileTime) and not binding.is_number
        if is_object or isinstance(binding, (FunctionValue, Undefined)):
            before = describe(binding) if isinstance(binding, CompileTime) else "no number"
            builder.names[name] = Undefined(
                f"has no single value in the loop that assigns it: before the loop it is {before}"
            )
            continue
        if isinstance(binding, tree.Variable) and builder.weak.keeps_width(
            binding, type or binding.type
        ):
            carried[name] = binding
            continue
        value = run_time(builder, binding, node)
        carried[name] = carry(builder, name, value, type or value.type, node)
    builder.weak.note_carried(builder.span(node), carried)
    return carried


def _close_iteration(builder: FunctionBuilder, loop: Loop, node: ast.For | ast.While) -> list[Exit]:
    """At the end of an iteration and at each `continue`, assign the carried names to their
    variables."""
    ways = list(loop.continues)
    if not builder.terminated:
        ways.append(Exit(builder.names, builder.statements, node.body[-1]))
    for way in ways:
        for name, carried in loop.carried.items():
            _close_name(builder, way, name, carried)
    check_loop_carried_arrays(loop.carried, builder.statements)
    return ways


def _close_name(builder: FunctionBuilder, way: Exit, name: str, carried: tree.Variable) -> None:
    binding = way.names.get(name)
    if binding is carried or binding is None or isinstance(binding, PartlyAssigned):
        return
    if binding is POISONED:
        raise _WidenError(name, None)
    if isinstance(binding, Undefined):
        raise undefined(builder, name, binding, way.node)
    value: Value = (
        run_time(builder, binding, way.node) if isinstance(binding, tree.Variable) else binding
    )
    read = tree.Read(builder.span(way.node), carried.type, carried)
    try:
        joined = unsigned_of_weak(builder, carried, value) or join_types(
            builder, f"`{name}`", [read, value], way.node
        )
    except CompileError as failure:
        raise _WidenError(name, no_common_type(failure)) from None
    if joined is None:
        is_none = isinstance(value, CompileTime) and value.value is None
        source = ", which is what a function gives that returns nothing" if is_none else ""
        reason = f"changes to {describe(value)}{source}"
        raise builder.error(codes.UNDEFINED_NAME, way.node, name=name, reason=reason)
    if joined != carried.type:
        raise _WidenError(name, joined)
    with builder.collect() as added:
        builder.emit(
            tree.Assign(builder.span(way.node), carried, convert(builder, value, joined, way.node))
        )
    way.add(added)


LOOPS: Mapping[type[ast.stmt], StatementHandler] = {
    ast.Break: leave_loop,
    ast.Continue: next_iteration,
    ast.For: for_loop,
    ast.While: while_loop,
}


# Names that are first assigned within a loop: what they are after it.


def keep_names(
    builder: FunctionBuilder,
    after: dict[str, Binding],
    ways: list[Exit],
    nodes: Iterable[ast.AST],
    node: ast.AST,
    is_certain: bool,
) -> None:
    """Give names that have no value after the loop yet their value of the last iteration, if there
    certainly is one. `after` is changed: it maps the names after the loop to their values.

    ways: the ends of an iteration. nodes: the statements of the loop.
    """
    for name in sorted(assigned_names(nodes)):
        before = after.get(name)
        is_unknown = before is None or isinstance(before, Undefined)
        if is_certain and ways and is_unknown and not isinstance(before, Poisoned):
            after[name] = merged_name(builder, name, ways, node)
        elif before is None and not is_certain:
            after[name] = Undefined("has no value if the loop runs zero times")


# The targets of loops, which the body may change: what they are after an iteration.


def run_time(builder: FunctionBuilder, binding: Binding, node: ast.AST) -> tree.Expression:
    """Return a binding as a run-time value."""
    if isinstance(binding, tree.Variable):
        return builder.read_whole(binding, node)
    assert not isinstance(binding, (Undefined, PartlyAssigned))
    return materialise(builder, binding, node)


def keeps(builder: FunctionBuilder, ways: list[Exit], name: str, variable: tree.Variable) -> bool:
    """Assign a loop target that the body changed back to its variable; return whether the variable
    can hold it."""
    values = [(way, way.names.get(name)) for way in ways]
    changed = [(way, binding) for way, binding in values if binding is not variable]
    for way, binding in changed:
        if not _fits(binding, variable.type):
            return False
        assert binding is not None
        with builder.collect() as added:
            value = _run_time_or_literal(builder, binding, way.node)
            assign_in_each_width(builder, variable, value, way.node)
        way.add(added)
    return True


def _fits(binding: Binding | None, type: Type) -> bool:
    if isinstance(binding, CompileTime):
        number = binding.value
        is_integer = isinstance(number, int) and not isinstance(number, bool)
        return is_integer and isinstance(type, Scalar) and literal_fits(cast(int, number), type)
    return isinstance(binding, (tree.Variable, tree.Expression)) and binding.type == type


def _run_time_or_literal(builder: FunctionBuilder, binding: Binding, node: ast.AST) -> Value:
    return binding if isinstance(binding, CompileTime) else run_time(builder, binding, node)


# Arrays that a loop creates with `np.zeros` and its relatives, and carries to later iterations.
#
# In Python, each iteration creates another array. In a kernel, the array has the same memory in all
# iterations, so a name that carries it would see it change: such a loop is refused.


Sources = Mapping[tree.Variable, list[tree.Assign]]


def check_loop_carried_arrays(
    carried: Mapping[str, tree.Variable], body: Collection[tree.Statement]
) -> None:
    """Refuse a loop in which a carried name takes over another name's array that the body makes."""
    kept = {variable: name for name, variable in carried.items() if _has_arrays(variable.type)}
    if not kept:
        return
    sources: dict[tree.Variable, list[tree.Assign]] = {}
    for node in walk(list(body)):
        if isinstance(node, tree.Assign) and _has_arrays(node.variable.type):
            sources.setdefault(node.variable, []).append(node)
    for variable, name in kept.items():
        for made in _named_before(sources, variable, frozenset()):
            problem = f"`{name}` keeps an array that the next iteration makes again"
            remedy = (
                f"make all arrays before the loop, and copy the elements, `{name}[:] = ...`, or "
                "swap the names"
            )
            raise codes.error(codes.REFUSED, made.span, problem=problem, remedy=remedy)


def _has_arrays(type: Type) -> bool:
    if isinstance(type, Tuple):
        return any(map(_has_arrays, type.elements))
    return isinstance(type, Array) and type.address_space is AddressSpace.PRIVATE


def _read_arrays(value: tree.Expression) -> list[tree.Variable]:
    return [
        node.variable
        for node in walk(value)
        if isinstance(node, tree.Read) and _has_arrays(node.variable.type)
    ]


def _named_before(
    sources: Sources, variable: tree.Variable, passed: frozenset[tree.Variable]
) -> list[tree.Assign]:
    """Return the assignments of a variable that take a new array from another name."""
    found = []
    for made in sources.get(variable, ()):
        for read in _read_arrays(made.value):
            if read is variable or read in passed:
                continue
            if read.is_hidden:
                found += _named_before(sources, read, passed | {variable})
            elif _holds_new(sources, read, passed | {variable}):
                found.append(made)
    return found


def _holds_new(sources: Sources, variable: tree.Variable, passed: frozenset[tree.Variable]) -> bool:
    """Whether a variable may hold an array that the loop makes."""
    if variable in passed:
        return False
    return any(
        _makes_new(made.value)
        or any(_holds_new(sources, read, passed | {variable}) for read in _read_arrays(made.value))
        for made in sources.get(variable, ())
    )


def _makes_new(value: tree.Expression) -> bool:
    """Whether an expression makes an array, or calls a function that does."""
    return any(
        (isinstance(node, tree.AllocateArray) and node.name == MADE_ANEW)
        or (isinstance(node, tree.Call) and _function_makes_new(node.function))
        for node in walk(value)
    )


def _function_makes_new(function: tree.Function) -> bool:
    return any(
        isinstance(node, (tree.Assign, tree.Return))
        and node.value is not None
        and _makes_new(node.value)
        for node in walk(list(function.body))
    )
