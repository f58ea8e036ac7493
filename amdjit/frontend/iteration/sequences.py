"""Sequences that a loop counts through at run time: arrays, ranges, and `zip`, `enumerate` and
`reversed` of them.

A sequence has a length and returns the item at a position. Ranges are counted in the unsigned type
of their width, in which the number of iterations and each value are exact for all bounds.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable

from amdjit.diagnostics import codes
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.building.descriptions import describe
from amdjit.frontend.building.remedies import integer_remedy
from amdjit.frontend.expressions.array_attributes import extent
from amdjit.frontend.expressions.faults import check
from amdjit.frontend.expressions.subscripts import item_of
from amdjit.frontend.names.merging import join_types
from amdjit.frontend.numbers.conversion import convert
from amdjit.frontend.numbers.operands import own_type
from amdjit.frontend.values.kinds import CompileTime, TupleValue, Value
from amdjit.late_methods import dataclass
from amdjit.tree import nodes as tree
from amdjit.tree.nodes import BinaryOperator, Comparison
from amdjit.types import Array, Scalar, Type, boolean, i32, i64, u32, u64

__all__ = ["check_step", "held_bound"]


@dataclass(frozen=True, slots=True)
class Sequence:
    """`length` items at run time; `item` types the one at a position, an expression of the length's
    type."""

    length: tree.Expression
    item: Callable[[tree.Expression], Value]


@dataclass(frozen=True, slots=True)
class Bounds:
    """The bounds of `range(...)`, before they have a type in common. fixed: the type that the
    arguments have together where rules of their own give one, as Numba's do."""

    start: Value
    stop: Value
    step: Value
    fixed: Scalar | None = None

    @property
    def values(self) -> list[Value]:
        """All three."""
        return [self.start, self.stop, self.step]

    def type(self, builder: FunctionBuilder, node: ast.AST) -> Scalar:
        """Return the type that the range counts in: i32, or wider or unsigned if a bound is."""
        if self.fixed is not None:
            return self.fixed
        bounds = self.values[:2] if self._goes_down else self.values
        type = join_types(builder, "range", [CompileTime(0), *bounds], node, codes.RANGE_TYPES)
        return i32 if not isinstance(type, Scalar) or type.bits < i32.bits else type

    @property
    def _goes_down(self) -> bool:
        step = self.step
        return isinstance(step, CompileTime) and isinstance(step.value, int) and step.value < 0

    def needs_counting(self, type: Scalar) -> bool:
        """Whether the range may go down in an unsigned type, which has no negative step."""
        return not type.is_signed and (self._goes_down or self._has_sign_of_step)

    @property
    def _has_sign_of_step(self) -> bool:
        return self.fixed is not None and not isinstance(self.step, CompileTime)

    def counted(self, type: Scalar) -> Scalar:
        """Return the type that the rounds are counted in: Numba takes a step of unsigned bounds for
        a signed one, since a negative step has become unsigned, too."""
        return i64 if type is u64 and self._has_sign_of_step else type


def _binary(
    builder: FunctionBuilder,
    operator: BinaryOperator,
    left: tree.Expression,
    right: tree.Expression,
    node: ast.AST,
) -> tree.Expression:
    return tree.Binary(builder.span(node), left.type, operator, left, right)


def _held(builder: FunctionBuilder, value: tree.Expression, node: ast.AST) -> tree.Expression:
    result = builder.hold(value, "bound", node)
    assert isinstance(result, tree.Expression)
    return result


def range_sequence(builder: FunctionBuilder, bounds: Bounds, node: ast.expr) -> Sequence:
    """Return a range as a sequence."""
    type = bounds.type(builder, node)
    unsigned = u32 if type.bits == u32.bits else u64
    counted = bounds.counted(type)
    start = _held(builder, convert(builder, bounds.start, counted, node), node)
    stop = _held(builder, convert(builder, bounds.stop, counted, node), node)
    length, step = _length(
        builder, start, stop=stop, step=bounds.step, unsigned=unsigned, node=node
    )

    def item(number: tree.Expression) -> Value:
        distance = _binary(builder, BinaryOperator.MULTIPLY, number, step, node)
        return convert(
            builder,
            _binary(
                builder, BinaryOperator.ADD, convert(builder, start, unsigned, node), distance, node
            ),
            type,
            node,
        )

    return Sequence(_held(builder, length, node), item)


def _length(
    builder: FunctionBuilder,
    start: tree.Expression,
    stop: tree.Expression,
    step: Value,
    unsigned: Scalar,
    node: ast.expr,
) -> tuple[tree.Expression, tree.Expression]:
    """Return the number of iterations, and the step as a wrapping unsigned number."""
    if isinstance(step, CompileTime):
        assert isinstance(step.value, int)
        backwards = step.value < 0
        size = convert(builder, CompileTime(abs(step.value)), unsigned, node)
        length = _rounds(
            builder, (stop, start) if backwards else (start, stop), size, unsigned, node
        )
        return length, convert(
            builder, CompileTime(step.value % (1 << unsigned.bits)), unsigned, node
        )
    span = builder.span(node)
    typed = _held(builder, convert(builder, step, start.type, node), node)
    check_step(builder, typed, node)
    no_step = is_zero(builder, typed, node)
    wrapped = convert(builder, typed, unsigned, node)
    upward = _rounds(builder, (start, stop), wrapped, unsigned, node)
    zero = convert(builder, CompileTime(0), unsigned, node)
    if not _is_signed(start.type):
        return tree.Conditional(span, unsigned, no_step, zero, upward), wrapped
    opposite = _binary(builder, BinaryOperator.SUBTRACT, zero, wrapped, node)
    downward = _rounds(builder, (stop, start), opposite, unsigned, node)
    downward = tree.Conditional(span, unsigned, no_step, zero, downward)
    forward = tree.Compare(
        span, boolean, Comparison.GREATER, typed, convert(builder, CompileTime(0), typed.type, node)
    )
    return tree.Conditional(span, unsigned, forward, upward, downward), wrapped


def _is_signed(type: Type) -> bool:
    return isinstance(type, Scalar) and type.is_signed


def _rounds(
    builder: FunctionBuilder,
    ends: tuple[tree.Expression, tree.Expression],
    step: tree.Expression,
    unsigned: Scalar,
    node: ast.AST,
) -> tree.Expression:
    """Return the number of steps from the lower end that stay below the upper one: (upper - lower -
    1) // step + 1, or 0."""
    span = builder.span(node)
    low, high = (convert(builder, end, unsigned, node) for end in ends)
    one, zero = (convert(builder, CompileTime(n), unsigned, node) for n in (1, 0))
    distance = _binary(builder, BinaryOperator.SUBTRACT, high, low, node)
    if isinstance(step, tree.Constant) and step.value == 1:
        rounds = distance
    else:
        less = _binary(builder, BinaryOperator.SUBTRACT, distance, one, node)
        whole = _binary(builder, BinaryOperator.FLOOR_DIVIDE, less, step, node)
        rounds = _binary(builder, BinaryOperator.ADD, whole, one, node)
    some = tree.Compare(span, boolean, Comparison.LESS, *ends)
    return tree.Conditional(span, unsigned, some, rounds, zero)


def array_sequence(builder: FunctionBuilder, array: tree.Expression, node: ast.expr) -> Sequence:
    """Return an array as a sequence of its elements, or of its parts along the first axis."""
    held = _held(builder, array, node)
    type = held.type
    assert isinstance(type, Array)
    if type.shape is not None:
        length = convert(builder, CompileTime(type.shape[0]), type.index_type, node)
    else:
        length = tree.Extent(builder.span(node), type.index_type, held, 0)

    def item(number: tree.Expression) -> Value:
        return item_of(builder, held, convert(builder, number, type.index_type, node), node)

    return Sequence(length, item)


def flat_sequence(builder: FunctionBuilder, value: Value, node: ast.expr) -> Sequence:
    """Return all elements of an array in C order."""
    array = builder.hold(value, "array", node)
    assert isinstance(array, tree.Expression)
    assert isinstance(array.type, Array)
    index, axes = array.type.index_type, range(array.type.ndim)
    unsigned = u32 if index is i32 else u64
    sizes = [convert(builder, extent(builder, array, axis, node), unsigned, node) for axis in axes]
    length = functools.reduce(
        lambda product, size: _binary(builder, BinaryOperator.MULTIPLY, product, size, node), sizes
    )

    def item(number: tree.Expression) -> Value:
        places: list[Value] = []
        for size in reversed(sizes[1:]):
            place = _binary(builder, BinaryOperator.MODULO, number, size, node)
            places.append(convert(builder, place, index, node))
            number = _held(
                builder, _binary(builder, BinaryOperator.FLOOR_DIVIDE, number, size, node), node
            )
        places.append(convert(builder, number, index, node))
        return item_of(builder, array, TupleValue(tuple(reversed(places))), node)

    return Sequence(_held(builder, length, node), item)


def zipped(builder: FunctionBuilder, columns: list[Sequence], node: ast.AST) -> Sequence:
    """Return tuples of one item of each sequence, as many as the shortest has."""
    type = _common(columns)
    shortest, *others = (convert(builder, column.length, type, node) for column in columns)
    for length in others:
        shortest = _binary(builder, BinaryOperator.MINIMUM, shortest, length, node)

    def item(number: tree.Expression) -> Value:
        return TupleValue(
            tuple(c.item(convert(builder, number, c.length.type, node)) for c in columns)
        )

    return Sequence(_held(builder, shortest, node), item)


def _common(columns: list[Sequence]) -> Scalar:
    """Return a type that holds all positions: lengths are not negative, so those in i32 fit u32."""
    types = [column.length.type for column in columns]
    if all(type == types[0] for type in types):
        assert isinstance(types[0], Scalar)
        return types[0]
    return u64 if any(type in (i64, u64) for type in types) else u32


def backwards(builder: FunctionBuilder, items: Sequence, node: ast.AST) -> Sequence:
    """Return the items from the last to the first."""
    one = convert(builder, CompileTime(1), items.length.type, node)
    last = _held(builder, _binary(builder, BinaryOperator.SUBTRACT, items.length, one, node), node)
    return Sequence(
        items.length, lambda n: items.item(_binary(builder, BinaryOperator.SUBTRACT, last, n, node))
    )


def numbered(builder: FunctionBuilder, items: Sequence, first: Value, node: ast.AST) -> Sequence:
    """Return (position, item), positions counted from `first`."""
    type = i64 if items.length.type in (i64, u64) else i32

    def item(number: tree.Expression) -> Value:
        position = convert(builder, number, type, node)
        if first != CompileTime(0):
            position = _binary(
                builder, BinaryOperator.ADD, convert(builder, first, type, node), position, node
            )
        return TupleValue((position, items.item(number)))

    return Sequence(items.length, item)


def bounds_of(builder: FunctionBuilder, call: ast.Call) -> Bounds:
    """Type the arguments of `range(...)`."""
    if call.keywords or not 1 <= len(call.args) <= 3:
        raise builder.error(
            codes.ARGUMENT_COUNT,
            call,
            function="range",
            expected="1 to 3 arguments",
            given=f"{len(call.args)} were given",
            signature="range(stop), range(start, stop) or range(start, stop, step)",
        )
    values = builder.evaluate_all(call.args)
    for value, argument in zip(values, call.args, strict=True):
        type = value.type if isinstance(value, tree.Expression) else None
        is_integer = isinstance(type, Scalar) and builder.rules.counts(type)
        numbers = int if builder.rules.has_weak_literals else (int, float)
        is_literal = isinstance(value, CompileTime) and isinstance(value.value, numbers)
        if not is_integer and not is_literal:
            raise builder.error(
                codes.INDEX_TYPE,
                argument,
                type=describe(value),
                remedy=integer_remedy(value, argument),
            )
    kinds = [own_type(builder, value) for value in values]
    fixed = builder.rules.range_type([kind for kind in kinds if isinstance(kind, Scalar)])
    if any(step == CompileTime(zero) for step in values[2:] for zero in (0, False)):
        raise builder.error(codes.CONSTANT_FAILS, call, message="range() step must not be zero")
    start, stop = (CompileTime(0), values[0]) if len(values) == 1 else (values[0], values[1])
    step = values[2] if len(values) == 3 else CompileTime(1)
    return Bounds(start, stop, step, fixed)


# Steps of ranges that are known only at run time: as in Python, a step of 0 is an error.


_EXTENTS = ("blockDim", "gridDim", "global_size", "gridsize", "wavefront_size")
_KEEP_POSITIVE = (
    BinaryOperator.ADD,
    BinaryOperator.MULTIPLY,
    BinaryOperator.MAXIMUM,
    BinaryOperator.MINIMUM,
)


def is_zero(builder: FunctionBuilder, step: tree.Expression, node: ast.AST) -> tree.Expression:
    """Type the test whether a held step is 0."""
    zero = tree.Constant(builder.span(node), step.type, 0)
    return tree.Compare(builder.span(node), boolean, Comparison.EQUAL, step, zero)


def check_step(builder: FunctionBuilder, step: Value, node: ast.expr) -> None:
    """Report a step of 0 like `raise ValueError`; with `asserts=False` such a range has no
    iterations."""
    if (
        isinstance(step, tree.Expression)
        and not isinstance(step, tree.Constant)
        and not _is_extent(builder, step)
    ):
        check(
            builder,
            is_zero(builder, step, node),
            "range() arg 3 must not be zero",
            node,
        )


def _is_extent(
    builder: FunctionBuilder, value: tree.Expression, passed: frozenset[tree.Variable] = frozenset()
) -> bool:
    """Whether a value is computed from extents of the launch, which are not 0; most steps are
    `gridsize(1)`."""
    if isinstance(value, tree.CallIntrinsic):
        return value.intrinsic.name.partition(".")[0] in _EXTENTS
    if isinstance(value, tree.Call):
        return value.function.transparent and value.function.name.partition(".")[0] in _EXTENTS
    if isinstance(value, tree.Constant):
        return isinstance(value.type, Scalar) and value.value > 0
    if isinstance(value, tree.Binary):
        return value.operator in _KEEP_POSITIVE and all(
            _is_extent(builder, side, passed) for side in (value.left, value.right)
        )
    if isinstance(value, (tree.Convert, tree.TupleItem)):
        return _is_extent(
            builder, value.operand if isinstance(value, tree.Convert) else value.tuple, passed
        )
    return isinstance(value, tree.Read) and _holds_extents(builder, value.variable, passed)


def _holds_extents(
    builder: FunctionBuilder, variable: tree.Variable, passed: frozenset[tree.Variable]
) -> bool:
    """Whether every value of a variable is such an extent. Variables that a loop carries are
    excluded: later values are still unknown."""
    goes_round = any(variable in loop.carried.values() for loop in builder.loops)
    given = builder.given.get(variable)
    if given is None or goes_round or variable in passed:
        return False
    return all(_is_extent(builder, value, passed | {variable}) for value in given)


def held_bound(builder: FunctionBuilder, value: tree.Expression, node: ast.expr) -> tree.Expression:
    """Compute a bound of a loop once, before the loop."""
    held = builder.hold(value, "bound", node)
    assert isinstance(held, tree.Expression)
    return held
