"""Arithmetic and bitwise operators, with Python's meaning."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable
from functools import partial
from typing import Any

from amdjit.diagnostics import codes
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.frontend.building.descriptions import describe
from amdjit.frontend.building.remedies import WHOLE_ARRAY, bitwise_remedy
from amdjit.frontend.building.special_methods import (
    binary_method,
    is_dataclass_record,
    operator_name,
    unary_method,
)
from amdjit.frontend.expressions import complexes, divisors
from amdjit.frontend.expressions.folding import fold
from amdjit.frontend.names.scope import checked_size, value_of_object
from amdjit.frontend.numbers import launch_arithmetic
from amdjit.frontend.numbers.conversion import (
    complex_type,
    convert,
    is_complex,
    materialise,
    negated,
    scalar_of_complex,
    truth,
)
from amdjit.frontend.numbers.operands import (
    arithmetic_of_mixed_signs,
    beside_unsigned,
    pair,
    sample_of,
    shift,
    strong_pair,
)
from amdjit.frontend.numbers.width_warnings import note_widening
from amdjit.frontend.values.kinds import CompileTime, TupleValue, Value, as_python, static_value
from amdjit.frontend.values.promotion import common_scalar, literal_type
from amdjit.frontend.values.weak_numbers import wide_type
from amdjit.tree import nodes as tree
from amdjit.tree.nodes import BinaryOperator, UnaryOperator
from amdjit.types import Array, Scalar, Type, Vector, boolean, u64

BINARY: dict[type[ast.operator], tuple[BinaryOperator, Callable[[Any, Any], Any]]] = {
    ast.Add: (BinaryOperator.ADD, operator.add),
    ast.Sub: (BinaryOperator.SUBTRACT, operator.sub),
    ast.Mult: (BinaryOperator.MULTIPLY, operator.mul),
    ast.Div: (BinaryOperator.DIVIDE, operator.truediv),
    ast.FloorDiv: (BinaryOperator.FLOOR_DIVIDE, operator.floordiv),
    ast.Mod: (BinaryOperator.MODULO, operator.mod),
    ast.Pow: (BinaryOperator.POWER, operator.pow),
    ast.BitAnd: (BinaryOperator.AND, operator.and_),
    ast.BitOr: (BinaryOperator.OR, operator.or_),
    ast.BitXor: (BinaryOperator.XOR, operator.xor),
    ast.LShift: (BinaryOperator.SHIFT_LEFT, operator.lshift),
    ast.RShift: (BinaryOperator.SHIFT_RIGHT, operator.rshift),
}
_UNARY: dict[type[ast.unaryop], tuple[UnaryOperator, Callable[[Any], Any]]] = {
    ast.USub: (UnaryOperator.NEGATE, operator.neg),
    ast.Invert: (UnaryOperator.INVERT, operator.invert),
    ast.UAdd: (UnaryOperator.NEGATE, operator.pos),
}
_BITWISE = (BinaryOperator.AND, BinaryOperator.OR, BinaryOperator.XOR)
_SHIFTS = (BinaryOperator.SHIFT_LEFT, BinaryOperator.SHIFT_RIGHT)
_INTEGER_ONLY = (*_BITWISE, *_SHIFTS)


def binary(
    builder: FunctionBuilder, kind: type[ast.operator], left: Value, right: Value, node: ast.AST
) -> Value:
    """Type `left kind right`."""
    own = binary_method(builder, kind, left, right, node)
    if own is not None:
        return own
    _refuse_record(builder, kind, left, right, node)
    if kind is ast.MatMult:
        remedy = "write the loop, or use the matrix intrinsics in amdjit.intrinsics.amdgcn"
        raise builder.error(codes.UNSUPPORTED_EXPRESSION, node, expression="`@`", remedy=remedy)
    symbol, compute = BINARY[kind]
    known = static_value(left), static_value(right)
    if kind is ast.Mult and any(item is not None and _is_sequence(item.value) for item in known):
        known = static_value(as_python(left)), static_value(as_python(right))
    if known[0] is not None and known[1] is not None:
        result = fold(builder, node, compute, known[0].value, known[1].value)
        return value_of_object(builder, result.value, "the result", node)
    launched = of_launch(builder, symbol, left, right, node)
    if launched is not None:
        return launched
    if symbol is BinaryOperator.POWER:
        return power(builder, left, right, node, lambda x, y: binary(builder, ast.Mult, x, y, node))
    if is_complex(left) or is_complex(right):
        return complexes.binary(builder, symbol, left, right, node)
    if (
        symbol is BinaryOperator.ADD
        and isinstance(left, TupleValue)
        and isinstance(right, TupleValue)
    ):
        return checked_size(builder, TupleValue(left.items + right.items), node)
    return _of_numbers(builder, symbol, left, right, node)


def _is_sequence(value: object) -> bool:
    return isinstance(value, (tuple, str, bytes))


def _of_numbers(
    builder: FunctionBuilder, symbol: BinaryOperator, left: Value, right: Value, node: ast.AST
) -> Value:
    given = left, right
    if builder.rules.has_weak_literals:
        own = _of_unlike_signs(builder, symbol, left, right, node)
        if own is not None:
            return own
    left, right = pair(builder, left, right, symbol.value, node)
    divisors.refuse_zero(builder, symbol, left, right, node)
    left, right = _checked(builder, symbol, left, right, node)
    if symbol in _SHIFTS or left.type is boolean:
        left, right = _plain_integers(builder, symbol, left, right, node)
    scalar = _element(left.type)
    if scalar is None or scalar.storage_only or (symbol in _INTEGER_ONLY and scalar.is_float):
        raise _refuse(builder, symbol, left.type, given, node)
    if symbol is BinaryOperator.DIVIDE and not scalar.is_float:
        left, right = (_to_float(builder, side, node) for side in (left, right))
    made = tree.Binary(builder.span(node), left.type, symbol, left, right)
    return builder.weak.note_result(made, left, right)


def _checked(
    builder: FunctionBuilder,
    symbol: BinaryOperator,
    left: tree.Expression,
    right: tree.Expression,
    node: ast.AST,
) -> tuple[tree.Expression, tree.Expression]:
    """Return the operands, with a test of the divisor if the kernel makes them."""
    first, second = divisors.checked(builder, symbol, left, right, node)
    assert isinstance(first, tree.Expression)
    assert isinstance(second, tree.Expression)
    return first, second


def _of_unlike_signs(
    builder: FunctionBuilder, symbol: BinaryOperator, left: Value, right: Value, node: ast.AST
) -> tree.Expression | None:
    """Type what is not done in a common type: shifts, and a u64 beside a signed integer."""
    if not isinstance(left, tree.Expression) or not isinstance(right, tree.Expression):
        return None
    if left.type == right.type:
        return None
    if symbol in _SHIFTS:
        return shift(builder, symbol, left, right, node)
    if beside_unsigned(builder, left, right, symbol.value) is None:
        note_widening(builder, left, right, node)
        divisors.refuse_zero(builder, symbol, left, right, node)
        left, right = _checked(builder, symbol, left, right, node)
        return arithmetic_of_mixed_signs(builder, symbol, left, right, node)
    return None


def of_launch(
    builder: FunctionBuilder, symbol: BinaryOperator, left: Value, right: Value, node: ast.AST
) -> Value | None:
    """Let the launch compute an operation on its own numbers; None if a value is of another
    kind."""
    numbers = launch_arithmetic.launch_operands(builder, (left, right))
    made = None if numbers is None else launch_arithmetic.binary(symbol, *numbers)
    if made is not None:
        divisors.refuse_zero(builder, symbol, left, right, node)
        divisors.checked(builder, symbol, left, right, node)
    return None if made is None else builder.launch_parameters.read_weak(made, builder.span(node))


def _refuse_record(
    builder: FunctionBuilder, kind: type[ast.operator], left: Value, right: Value, node: ast.AST
) -> None:
    """Refuse an operator that a dataclass does not define: unlike a tuple, it has no `+` of its
    own."""
    record = left if is_dataclass_record(left) else right
    if (
        isinstance(record, TupleValue)
        and record.structure is not None
        and is_dataclass_record(record)
    ):
        symbol = "@" if kind is ast.MatMult else BINARY[kind][0].value
        remedy = (
            f"define `{operator_name(kind)}` in {record.structure.name}, or compute with its fields"
        )
        raise builder.error(
            codes.OPERAND_TYPES,
            node,
            operator=symbol,
            left=describe(left),
            right=describe(right),
            remedy=remedy,
        )


def _plain_integers(
    builder: FunctionBuilder,
    symbol: BinaryOperator,
    left: tree.Expression,
    right: tree.Expression,
    node: ast.AST,
) -> tuple[tree.Expression, tree.Expression]:
    """Convert booleans to 0 and 1, as Python does; `&`, `|` and `^` of two booleans stay
    boolean."""
    if left.type is boolean and symbol not in _BITWISE:
        kind = builder.rules.integer
        return convert(builder, left, kind, node), convert(builder, right, kind, node)
    return left, right


def _refuse(
    builder: FunctionBuilder,
    symbol: BinaryOperator,
    common: Type,
    given: tuple[Value, Value],
    node: ast.AST,
) -> Exception:
    scalar = _element(common)
    left, right = map(describe, given)
    remedy = WHOLE_ARRAY if scalar is None else bitwise_remedy(builder.source.node, node)
    if scalar is not None and scalar.storage_only:
        remedy = "fp8 and bf8 are storage types: convert to f32 first, `f32(...)`"
    return builder.error(
        codes.OPERAND_TYPES, node, operator=symbol.value, left=left, right=right, remedy=remedy
    )


def _element(type: Type) -> Scalar | None:
    if isinstance(type, Vector):
        return type.element
    return type if isinstance(type, Scalar) else None


def _to_float(builder: FunctionBuilder, value: tree.Expression, node: ast.AST) -> tree.Expression:
    """Convert an operand of `/` to a float: f64 for 64-bit integers, f32 for others."""
    scalar = _element(value.type)
    assert scalar is not None
    target = builder.rules.quotient_type(scalar)
    vector = value.type
    converted = convert(
        builder,
        value,
        Vector(target, vector.length) if isinstance(vector, Vector) else target,
        node,
    )
    if builder.rules.has_weak_literals:
        builder.weak.expressions.add(converted)
    return converted


def unary(
    builder: FunctionBuilder, kind: type[ast.unaryop], operand: Value, node: ast.AST
) -> Value:
    """Type `-x`, `+x`, `~x` or `not x`."""
    if kind is ast.Not:
        return negated(builder, truth(builder, operand, node), node)
    own = unary_method(builder, kind, operand, node)
    if own is not None:
        return own
    symbol, compute = _UNARY[kind]
    if isinstance(operand, CompileTime):
        if isinstance(operand.value, bool) and kind is ast.Invert and _inverts_truth(builder):
            return CompileTime(not operand.value)
        return fold(builder, node, compute, operand.value)
    if is_complex(operand) and isinstance(operand, TupleValue) and kind is not ast.Invert:
        return operand if kind is ast.UAdd else complexes.negated(builder, operand, True, node)
    operation = partial(launch_arithmetic.unary, symbol)
    values = () if kind is ast.UAdd else (operand,)
    launched = launch_arithmetic.at_launch(builder, operation, values, node)
    if launched is not None:
        return launched
    value = materialise(builder, operand, node)
    own_type = builder.rules.own_operand(symbol.value, value.type)
    if own_type is boolean and kind is ast.Invert:
        return negated(builder, value, node)
    value = value if own_type == value.type else convert(builder, value, own_type, node)
    result_type = builder.rules.own_result(own_type)
    scalar = _element(value.type)
    if (
        scalar is None
        or scalar.storage_only
        or (scalar.is_float and symbol is UnaryOperator.INVERT)
    ):
        text = {ast.USub: "-", ast.UAdd: "+", ast.Invert: "~"}[kind]
        raise builder.error(
            codes.UNARY_TYPE,
            node,
            operator=text,
            type=describe(value),
            remedy=WHOLE_ARRAY if isinstance(value.type, Array) else "convert it first: `i32(...)`",
        )
    if kind is not ast.UAdd:
        made = tree.Unary(builder.span(node), value.type, symbol, value)
        value = builder.weak.note_result(made, value)
    return value if result_type == value.type else convert(builder, value, result_type, node)


def _inverts_truth(builder: FunctionBuilder) -> bool:
    """Whether `~` of a truth value is its negation, not -1 or -2."""
    return builder.rules.own_operand("~", boolean) is boolean


# Powers: `x ** n`.

# By repeated squaring, exponents up to this take at most 10 multiplications.
_LARGEST_POWER = 64


def power(
    builder: FunctionBuilder,
    base: Value,
    exponent: Value,
    node: ast.AST,
    multiply: Callable[[Value, Value], Value],
) -> Value:
    """Type `base ** exponent`. A small constant exponent becomes multiplications by repeated
    squaring."""
    value = exponent.value if isinstance(exponent, CompileTime) else None
    is_exponent = isinstance(value, int) and 0 <= value <= _LARGEST_POWER
    if not is_exponent and (common := _float_type(builder, base, exponent)) is not None:
        return _float_power(builder, base, exponent, common, node)
    if is_complex(exponent) or (is_complex(base) and not is_exponent):
        return complexes.power(builder, base, exponent, node)
    if not is_exponent and (common := _integer_type(builder, base, exponent)) is not None:
        return _integer_power(builder, base, exponent, common, node)
    if not is_exponent or not (isinstance(base, tree.Expression) or is_complex(base)):
        raise builder.error(
            codes.OPERAND_TYPES,
            node,
            operator="**",
            left=describe(base),
            right=describe(exponent),
            remedy="use an exponent that is not negative, or a float operand: `f32(x) ** n`",
        )
    assert isinstance(value, int)
    if isinstance(base, tree.Expression) and not builder.rules.has_weak_literals:
        base = convert(builder, base, strong_pair(builder, base, exponent, "**") or base.type, node)
    held = builder.hold(base, "base", node)
    one = _one(builder, base, node)
    result: Value = one
    while value:
        if value & 1:
            result = held if result is one else multiply(result, held)
        value >>= 1
        if value:
            held = builder.hold(multiply(held, held), "base", node)
    return result


def _float_type(builder: FunctionBuilder, base: Value, exponent: Value) -> Scalar | None:
    """Return the common type of two numbers if that is a float."""
    if not builder.rules.has_weak_literals:
        strong = strong_pair(builder, base, exponent, "**")
        return strong if isinstance(strong, Scalar) and strong.is_float else None
    samples = [sample_of(builder, value) for value in (base, exponent)]
    typed = [
        value for value, sample in zip((base, exponent), samples, strict=True) if sample is None
    ]
    types = [v.type for v in typed if isinstance(v, tree.Expression) and isinstance(v.type, Scalar)]
    weak = [sample for sample in samples if sample is not None]
    if not types or len(types) < len(typed) or not all(isinstance(w, (int, float)) for w in weak):
        return None
    common = common_scalar(types[0], types[-1])
    if weak and common is not None:
        common = literal_type(weak[0], common)  # type: ignore[arg-type]
    return common if common is not None and common.is_float and not common.storage_only else None


def _float_power(
    builder: FunctionBuilder, base: Value, exponent: Value, common: Scalar, node: ast.AST
) -> Value:
    """`x ** y` of floats."""
    return _called(builder, math.pow, (base, exponent), (common, common), node)


def _called(
    builder: FunctionBuilder,
    function: object,
    values: tuple[Value, Value],
    types: tuple[Scalar, Scalar],
    node: ast.AST,
) -> Value:
    """Call a function of powers; the result has no width where that of the operands is open."""
    declared = builder.session.builtins[function]

    def called(types: tuple[Scalar, Scalar]) -> Value:
        pairs = zip(values, types, strict=True)
        operands = tuple(convert(builder, value, type, node) for value, type in pairs)
        return builder.session.call(builder, declared, operands, {}, node)  # type: ignore[arg-type]

    def in_64_bits() -> tree.Expression:
        wide = wide_type(types[0])
        again = called((wide, wide))
        assert isinstance(again, tree.Expression)
        return again

    result = called(types)
    if isinstance(result, tree.Expression) and builder.weak.are_weak(values, types[0]):
        builder.weak.note_call(result, in_64_bits)
    return result


def _integer_type(builder: FunctionBuilder, base: Value, exponent: Value) -> Scalar | None:
    """Return the type of a power of integers, None for other operands and negative constants."""
    if isinstance(exponent, CompileTime) and not _is_count(exponent.value):
        return None
    types: list[Scalar] = []
    for value, other in ((base, exponent), (exponent, base)):
        sample = sample_of(builder, value)
        if sample is None and isinstance(value, tree.Expression) and isinstance(value.type, Scalar):
            types.append(value.type)
        elif isinstance(sample, int) and isinstance(other, tree.Expression):
            taken = (
                builder.rules.literal_type(sample, other.type)
                if builder.rules.has_weak_literals
                else builder.rules.default_type(sample)
            )
            types += [] if taken is None else [taken]
    if len(types) < 2 or not all(type.is_integer or type is boolean for type in types):
        return None
    common = builder.rules.operand_type("**", *types) or u64
    return builder.rules.integer if common is boolean else common  # type: ignore[return-value]


def _is_count(value: object) -> bool:
    return isinstance(value, int) and value >= 0


def _integer_power(
    builder: FunctionBuilder, base: Value, exponent: Value, common: Scalar, node: ast.AST
) -> Value:
    """`x ** n` of integers, with an n that is known only at run time."""
    kind = exponent.type if isinstance(exponent, tree.Expression) else common
    count = common if sample_of(builder, exponent) is not None or kind is boolean else kind
    assert isinstance(count, Scalar)
    return _called(builder, int.__pow__, (base, exponent), (common, count), node)


def _one(builder: FunctionBuilder, base: Value, node: ast.AST) -> Value:
    if isinstance(base, tree.Expression):
        return convert(builder, CompileTime(1), base.type, node)
    return builder.unpack(
        convert(builder, CompileTime(1), complex_type(scalar_of_complex(builder, base)), node)
    )
