"""`and`, `or` and `a if c else b`, which evaluate one side only."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import replace

from amdjit.diagnostics import codes
from amdjit.frontend.building.builder import EndlessCallError, FunctionBuilder
from amdjit.frontend.building.control_flow import Exit
from amdjit.frontend.building.descriptions import describe
from amdjit.frontend.building.remedies import join_remedy
from amdjit.frontend.names.merging import join_types, merge, merged_name
from amdjit.frontend.numbers.conversion import assign_in_each_width, negated, truth
from amdjit.frontend.numbers.operands import convert_weakly
from amdjit.frontend.values.kinds import (
    POISONED,
    Binding,
    CompileTime,
    Undefined,
    Value,
    chosen_function,
    is_function,
)
from amdjit.tree import nodes as tree
from amdjit.tree.nodes import UnaryOperator
from amdjit.types import Array, Scalar, Tuple, Type, boolean

_CHOSEN = "chosen"

Outcome = tuple[Mapping[str, Binding], Mapping[str, Binding]]
"""As `FunctionBuilder.outcomes`: bindings where a condition is false, and where it is true."""


def both(
    builder: FunctionBuilder, left: Value, right: Callable[[], Value], node: ast.expr
) -> Value:
    """Type `left and right`; the right side is typed and evaluated only if it is needed."""
    decided = truth(builder, left, node)
    if isinstance(decided, CompileTime):
        return right() if decided.value else left
    left, condition = _condition(builder, left, node)
    return choose(
        builder, condition, right, lambda: _opposite(left, False), node, decided=(None, False)
    )


def either(
    builder: FunctionBuilder, left: Value, right: Callable[[], Value], node: ast.expr
) -> Value:
    """Type `left or right`; the right side is typed and evaluated only if it is needed."""
    decided = truth(builder, left, node)
    if isinstance(decided, CompileTime):
        return left if decided.value else right()
    left, condition = _condition(builder, left, node)
    return choose(
        builder, condition, lambda: _opposite(left, True), right, node, decided=(True, None)
    )


def _condition(builder: FunctionBuilder, left: Value, node: ast.expr) -> tuple[Value, Value]:
    """Return the left operand of `and` or `or`, which is evaluated now, and whether it is true."""
    if _is_boolean(left):
        return left, left
    held = builder.hold(left, "left", node)
    condition = truth(builder, held, node)
    _pass_on(builder, left, condition)
    return held, condition


def tested(builder: FunctionBuilder, node: ast.expr) -> Value:
    """Type an expression that is only tested: operands of `and` and `or`, and the sides of a
    conditional, may differ in type."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        operand = tested(builder, node.operand)
        opposite = negated(builder, operand, node)
        _pass_on(builder, operand, opposite, swapped=True)
        return opposite
    if isinstance(node, ast.BoolOp):
        return _all_tested(builder, node, 0)
    if isinstance(node, ast.IfExp):
        return chosen(builder, node, lambda side: tested(builder, side))
    value = builder.evaluate(node)
    condition = truth(builder, value, node)
    _pass_on(builder, value, condition)
    return condition


def names_if(builder: FunctionBuilder, condition: Value, outcome: bool) -> dict[str, Binding]:
    """Return the names where a condition has this outcome: `a and (x := b)` has certainly assigned
    x only where it is true."""
    return {**builder.names, **_known_if(builder, condition, outcome)}


def _pass_on(
    builder: FunctionBuilder, known: Value, condition: Value, swapped: bool = False
) -> None:
    """Let a condition assign the names that another one assigns."""
    outcome = builder.outcomes.get(known) if isinstance(known, tree.Expression) else None
    if outcome is not None and isinstance(condition, tree.Expression):
        builder.outcomes[condition] = outcome[::-1] if swapped else outcome


def _all_tested(builder: FunctionBuilder, node: ast.BoolOp, index: int) -> Value:
    value = tested(builder, node.values[index])
    if index + 1 == len(node.values):
        return value
    combine = both if isinstance(node.op, ast.And) else either
    return combine(builder, value, lambda: _all_tested(builder, node, index + 1), node)


def chosen(
    builder: FunctionBuilder, node: ast.IfExp, evaluate: Callable[[ast.expr], Value]
) -> Value:
    """Type `a if condition else b`; with a compile-time condition only one side is typed."""
    condition = tested(builder, node.test)
    if isinstance(condition, CompileTime):
        return evaluate(node.body if condition.value else node.orelse)
    return choose(
        builder, condition, lambda: evaluate(node.body), lambda: evaluate(node.orelse), node
    )


def _is_boolean(value: Value) -> bool:
    return isinstance(value, tree.Expression) and value.type is boolean


def _opposite(left: Value, decided: bool) -> Value:
    """Return the result of `and` or `or` if the left operand decides: for a boolean, a constant."""
    return CompileTime(decided) if _is_boolean(left) else left


def choose(
    builder: FunctionBuilder,
    condition: Value,
    when_true: Callable[[], Value],
    when_false: Callable[[], Value],
    node: ast.expr,
    decided: tuple[bool | None, bool | None] = (None, None),
) -> Value:
    """Evaluate one side only: as an expression, or through a variable if a side needs
    statements. decided: whether the value of each side is true, if that is known."""
    assert isinstance(condition, tree.Expression)
    before = builder.names
    first, left, left_names = _side(builder, when_true, node, names_if(builder, condition, True))
    names = names_if(builder, condition, False)
    second, right, right_names = _side(builder, when_false, node, names)
    if left is None or right is None:
        return _only_side(
            builder, condition, (first, left, left_names), (second, right, right_names), node
        )
    outcome: Outcome = ({}, {})
    if left_names is not None or right_names is not None:
        ways = [
            Exit(left_names or dict(before), first, node),
            Exit(right_names or dict(before), second, node),
        ]
        builder.names = merge(builder, ways, node)
        outcome = _outcome(builder, (left, right), ways, decided)
    if isinstance(left, CompileTime) and left == right:
        if first or second:
            builder.emit(tree.If(builder.span(node), condition, first, second))
        else:
            builder.discard(condition, node)
        return left
    if is_function(left) and is_function(right):
        return _chosen_function(builder, condition, (first, left), (second, right), node)
    chosen = _of_one_type(builder, condition, ((first, left), (second, right)), node)
    return _with_outcome(builder, chosen, outcome)


def _of_one_type(
    builder: FunctionBuilder,
    condition: tree.Expression,
    sides: tuple[tuple[list[tree.Statement], Value], ...],
    node: ast.expr,
) -> Value:
    """Choose between the values of two sides, each with the statements that make it."""
    (first, left), (second, right) = sides
    target, is_weak = _common_type(builder, left, right, node)
    with builder.collect() as more:
        left_value = _converted(builder, left, target, node)
    first += more
    with builder.collect() as more:
        right_value = _converted(builder, right, target, node)
    second += more
    if first or second:
        made = (first, left, left_value), (second, right, right_value)
        return _through_variable(builder, condition, made, is_weak, node)
    result = _conditional(builder, condition, left_value, right_value, node)
    if is_weak:
        builder.weak.expressions |= {result, left_value, right_value}
    if isinstance(target, Scalar):
        builder.choices[result] = left, right
    return builder.hold(result, "chosen", node) if isinstance(target, (Array, Tuple)) else result


def _converted(
    builder: FunctionBuilder, value: Value, target: Type, node: ast.expr
) -> tree.Expression:
    """Convert a side. The sides of a choice within it go to the type of all sides at once: that of
    two may hold less."""
    inner = builder.choices.get(value) if isinstance(value, tree.Conditional) else None
    if inner is None or value.type == target:  # type: ignore[union-attr]
        return convert_weakly(builder, value, target, node)
    assert isinstance(value, tree.Conditional)
    sides = [_converted(builder, side, target, node) for side in inner]
    made = tree.Conditional(value.span, target, value.condition, *sides)
    if builder.weak.is_weak(value):
        builder.weak.expressions |= {made, *sides}
    return made


def _chosen_function(
    builder: FunctionBuilder,
    condition: tree.Expression,
    left: tuple[list[tree.Statement], Value],
    right: tuple[list[tree.Statement], Value],
    node: ast.expr,
) -> Value:
    """Return the function that a condition chooses: each call branches."""
    held = builder.hold(condition, _CHOSEN, node)
    assert isinstance(held, tree.Expression)
    if left[0] or right[0]:
        builder.emit(tree.If(builder.span(node), held, left[0], right[0]))
    return chosen_function(held, left[1], right[1])


def _with_outcome(builder: FunctionBuilder, value: Value, outcome: Outcome) -> Value:
    if any(outcome) and isinstance(value, tree.Expression):
        builder.outcomes[value] = outcome
    return value


def _outcome(
    builder: FunctionBuilder,
    values: tuple[Value, Value],
    sides: list[Exit],
    decided: tuple[bool | None, bool | None],
) -> Outcome:
    """Return which names that have no binding where two sides meet have one where the value is
    false, and where it is true."""
    names = [name for name, binding in builder.names.items() if isinstance(binding, Undefined)]
    found: list[dict[str, Binding]] = []
    for outcome in (False, True) if names else ():
        possible = [
            (value, side)
            for value, side, known in zip(values, sides, decided, strict=True)
            if known in (None, outcome)
        ]
        # A constant never has the other outcome; where none may, the code there is typed anyway.
        likely = [pair for pair in possible if _static_truth(pair[0]) in (None, outcome)]
        ways = [
            replace(side, names={**side.names, **_known_if(builder, value, outcome)})
            for value, side in likely or possible
        ]
        bindings = {name: _binding_of(builder, name, ways) for name in names}
        found.append({n: b for n, b in bindings.items() if not isinstance(b, Undefined)})
    return (found[0], found[1]) if found else ({}, {})


def _binding_of(builder: FunctionBuilder, name: str, ways: list[Exit]) -> Binding:
    """Return the binding of a name where some ways meet.

    Where a way assigns the name only for one outcome of its condition, a new variable holds
    garbage for the other one, which does not read it.
    """
    if not ways or any(isinstance(way.names.get(name, POISONED), Undefined) for way in ways):
        return POISONED
    return merged_name(builder, name, ways, ways[0].node, in_new=True)


def _known_if(builder: FunctionBuilder, value: Value, outcome: bool) -> Mapping[str, Binding]:
    known = builder.outcomes.get(value) if isinstance(value, tree.Expression) else None
    return {} if known is None else known[outcome]


def _static_truth(value: Value) -> bool | None:
    known = value.value if isinstance(value, (CompileTime, tree.Constant)) else None
    return bool(known) if isinstance(known, (bool, int, float)) else None


def _common_type(
    builder: FunctionBuilder, left: Value, right: Value, node: ast.expr
) -> tuple[Type, bool]:
    """Return the type that holds both sides, and whether the result is weak."""
    target = join_types(builder, "the value", [left, right], node)
    if target is None:
        sides = describe(left), describe(right)
        remedy = join_remedy("the value", *sides)
        raise builder.error(
            codes.JOIN_TYPES,
            node,
            name="the value",
            left=sides[0],
            right=sides[1],
            remedy=remedy,
        )
    return target, builder.weak.are_weak((left, right), target)


def _conditional(
    builder: FunctionBuilder,
    condition: tree.Expression,
    left: tree.Expression,
    right: tree.Expression,
    node: ast.expr,
) -> tree.Expression:
    span = builder.span(node)
    if left.type is boolean:
        if isinstance(right, tree.Constant) and not right.value:
            return tree.Logical(span, boolean, True, condition, left)
        if isinstance(left, tree.Constant) and left.value:
            return tree.Logical(span, boolean, False, condition, right)
    return tree.Conditional(span, left.type, condition, left, right)


def _through_variable(
    builder: FunctionBuilder,
    condition: tree.Expression,
    sides: tuple[_Made, _Made],
    is_weak: bool,
    node: ast.expr,
) -> Value:
    span = builder.span(node)
    type: Type = sides[0][2].type
    variable, origin = builder.hidden_variable(_CHOSEN, type), builder.origin(node, _CHOSEN)
    if is_weak and origin in builder.weak.widened:
        builder.weak.add_twin(variable, origin, builder.hidden_variable)
    elif is_weak:
        builder.weak.variables[variable] = origin
    for statements, value, converted in sides:
        with builder.collect() as added:
            if variable in builder.weak.twins:
                assign_in_each_width(builder, variable, builder.hold(value, "side", node), node)
            else:
                builder.emit(tree.Assign(span, variable, converted))
        statements += added
    builder.emit(tree.If(span, condition, sides[0][0], sides[1][0]))
    builder.given[variable] = [converted for _, _, converted in sides]
    return builder.read(variable, node)


# The statements of a side, its value, and that in the type that both sides have in common.
_Made = tuple[list[tree.Statement], Value, tree.Expression]


# The statements of a side, its value, and its names if it assigns any with `:=`. The value is None
# where the side ends the wave instead.
_Side = tuple[list[tree.Statement], "Value | None", "dict[str, Binding] | None"]


def _only_side(
    builder: FunctionBuilder, condition: tree.Expression, left: _Side, right: _Side, node: ast.expr
) -> Value:
    """Return the value of the side that has one; the other one ends the wave."""
    span = builder.span(node)
    if left[1] is None and right[1] is None:
        fault = right[0].pop()
        assert isinstance(fault, tree.Fault)
        builder.emit(tree.If(span, condition, left[0], right[0]))
        raise EndlessCallError(fault)
    ending, other = (left, right) if left[1] is None else (right, left)
    ends = condition if ending is left else tree.Unary(span, boolean, UnaryOperator.NOT, condition)
    builder.emit(tree.If(span, ends, ending[0], []))
    for statement in other[0]:
        builder.emit(statement)
    builder.names = other[2] or builder.names
    assert other[1] is not None
    return other[1]


def _side(
    builder: FunctionBuilder, side: Callable[[], Value], node: ast.expr, names: dict[str, Binding]
) -> _Side:
    """Type one side, which begins with these names."""
    before = builder.names
    builder.names = names
    with builder.collect() as statements:
        try:
            value = side()
        except EndlessCallError as call:
            builder.emit(call.fault)
            builder.names = before
            return statements, None, None
        names = builder.names
        changed = (
            names.keys() != before.keys()
            or any(names[name] is not before[name] for name in names)
            or (isinstance(value, tree.Expression) and value in builder.outcomes)
        )
        if changed:
            # Conversions that are added to the path later must not change the value.
            held = builder.hold(value, "side", node)
            _pass_on(builder, value, held)
            value = held
    builder.names = before
    return statements, value, names if changed else None
