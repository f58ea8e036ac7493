"""Operators on values of one type, elementwise on vectors; division is in division.py.

before: `(x << n)` of u32
after:  `shl` of the count modulo 32, then `select` 0 for counts of 32 or more
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from amdjit.diagnostics.errors import InternalError
from amdjit.lowering.builder import Builder
from amdjit.lowering.conversions import scalar_of
from amdjit.lowering.division import (
    float_divide,
    float_floor_divide,
    float_modulo,
    floor_divide,
    modulo,
)
from amdjit.lowering.types import I1, constant_value, element_type, literal, mangled
from amdjit.tree.nodes import BinaryOperator, Comparison, UnaryOperator
from amdjit.types import Scalar, Type, boolean

__all__ = ["binary", "compare", "unary"]

_WRAPPING: Mapping[BinaryOperator, str] = MappingProxyType(
    {BinaryOperator.ADD: "add", BinaryOperator.SUBTRACT: "sub", BinaryOperator.MULTIPLY: "mul"}
)
_BITWISE: Mapping[BinaryOperator, str] = MappingProxyType(
    {BinaryOperator.AND: "and", BinaryOperator.OR: "or", BinaryOperator.XOR: "xor"}
)
_FLOAT: Mapping[BinaryOperator, str] = MappingProxyType(
    {BinaryOperator.ADD: "fadd", BinaryOperator.SUBTRACT: "fsub", BinaryOperator.MULTIPLY: "fmul"}
)
_EXTREMES: Mapping[BinaryOperator, tuple[str, str, str]] = MappingProxyType(
    {
        BinaryOperator.MINIMUM: ("llvm.minimum", "llvm.smin", "llvm.umin"),
        BinaryOperator.MAXIMUM: ("llvm.maximum", "llvm.smax", "llvm.umax"),
    }
)


def binary(
    builder: Builder,
    type: Type,
    operator: BinaryOperator,
    left: Any,
    right: Any,
    no_wrap: bool = False,
) -> Any:
    """Apply a two-operand operator; `tree.BinaryOperator` says what each means.

    MINIMUM and MAXIMUM of floats give NaN if either operand is NaN and order -0.0 below 0.0, as
    np.minimum does and gfx12's v_minimum_f32 (RDNA4 ISA, "V_MINIMUM_F32").
    """
    scalar = scalar_of(type)
    if operator in _EXTREMES:
        return _extreme(builder, scalar, operator, left, right)
    if scalar.is_float:
        return _float_binary(builder, scalar, operator, left, right)
    if operator in _BITWISE:
        return builder.operation(_BITWISE[operator], left, right)
    if scalar == boolean:
        raise InternalError(f"no operator {operator.value} on booleans")
    return _integer_binary(
        builder, scalar, operator=operator, left=left, right=right, no_wrap=no_wrap
    )


def unary(builder: Builder, type: Type, operator: UnaryOperator, value: Any) -> Any:
    """Apply a one-operand operator; `tree.UnaryOperator` says what each means."""
    scalar = scalar_of(type)
    if operator is UnaryOperator.NOT or operator is UnaryOperator.INVERT:
        ones = literal(value.type, 1 if scalar == boolean else -1)
        return builder.operation("xor", value, ones)
    if scalar.is_float:
        if operator is UnaryOperator.NEGATE:
            return builder.text(value.type, " ".join(("fneg", *builder.fast_math)), (value,))
        return builder.intrinsic("llvm.fabs", value)
    if operator is UnaryOperator.NEGATE:
        return builder.operation("sub", literal(value.type, 0), value)
    if not scalar.is_signed:
        return value
    return builder.invoke_name(
        f"llvm.abs.{mangled(value.type)}", value.type, [value, literal(I1, 0)]
    )


def compare(builder: Builder, type: Type, operator: Comparison, left: Any, right: Any) -> Any:
    """Compare: floats ordered, except that `!=` is true for NaN."""
    scalar = scalar_of(type)
    if scalar.is_float:
        if operator is Comparison.NOT_EQUAL:
            return builder.fcmp_unordered("!=", left, right, flags=builder.fast_math)
        return builder.fcmp_ordered(operator.value, left, right, flags=builder.fast_math)
    if scalar.is_signed:
        return builder.icmp_signed(operator.value, left, right)
    return builder.icmp_unsigned(operator.value, left, right)


def _float_binary(
    builder: Builder, scalar: Scalar, operator: BinaryOperator, left: Any, right: Any
) -> Any:
    if scalar.storage_only:
        raise InternalError(f"{scalar} has no arithmetic")
    if operator in _FLOAT:
        return builder.float_operation(_FLOAT[operator], left, right)
    match operator:
        case BinaryOperator.DIVIDE:
            return float_divide(builder, left, right)
        case BinaryOperator.FLOOR_DIVIDE:
            return float_floor_divide(builder, left, right)
        case BinaryOperator.MODULO:
            return float_modulo(builder, left, right)
        case _:
            raise InternalError(f"no operator {operator.value} on {scalar}")


def _integer_binary(
    builder: Builder, scalar: Scalar, operator: BinaryOperator, left: Any, right: Any, no_wrap: bool
) -> Any:
    if operator in _WRAPPING:
        flags = ("nsw",) if no_wrap and scalar.is_signed else ()
        return builder.operation(_WRAPPING[operator], left, right, flags)
    match operator:
        case BinaryOperator.FLOOR_DIVIDE:
            return floor_divide(builder, scalar, left, right)
        case BinaryOperator.MODULO:
            return modulo(builder, scalar, left, right)
        case BinaryOperator.SHIFT_LEFT:
            return _shift_left(builder, scalar, left, right)
        case BinaryOperator.SHIFT_RIGHT:
            return _shift_right(builder, scalar, left, right)
        case BinaryOperator.POWER:
            return _power(builder, left, right)
        case _:
            raise InternalError(f"no operator {operator.value} on {scalar}")


def _extreme(
    builder: Builder, scalar: Scalar, operator: BinaryOperator, left: Any, right: Any
) -> Any:
    of_float, of_signed, of_unsigned = _EXTREMES[operator]
    if scalar.is_float:
        return builder.intrinsic(of_float, left, right, fast=True)
    return builder.intrinsic(of_signed if scalar.is_signed else of_unsigned, left, right)


def _shift_left(builder: Builder, scalar: Scalar, value: Any, count: Any) -> Any:
    """Shift left. LLVM leaves counts of the width or more undefined; in the kernel language the
    result is 0."""
    if _in_range(count, scalar.bits):
        return builder.operation("shl", value, count)
    shifted = builder.operation(
        "shl", value, builder.operation("and", count, literal(count.type, scalar.bits - 1))
    )
    return _zero_if_beyond(builder, shifted, count, scalar.bits)


def _shift_right(builder: Builder, scalar: Scalar, value: Any, count: Any) -> Any:
    name = "ashr" if scalar.is_signed else "lshr"
    if _in_range(count, scalar.bits):
        return builder.operation(name, value, count)
    if scalar.is_signed:
        last = builder.intrinsic("llvm.umin", count, literal(count.type, scalar.bits - 1))
        return builder.operation(name, value, last)
    shifted = builder.operation(
        name, value, builder.operation("and", count, literal(count.type, scalar.bits - 1))
    )
    return _zero_if_beyond(builder, shifted, count, scalar.bits)


def _zero_if_beyond(builder: Builder, shifted: Any, count: Any, bits: int) -> Any:
    inside = builder.icmp_unsigned("<", count, literal(count.type, bits))
    return builder.select(inside, shifted, literal(shifted.type, 0))


def _in_range(count: Any, bits: int) -> bool:
    value = constant_value(count)
    return value is not None and 0 <= value < bits


def _power(builder: Builder, base: Any, exponent: Any) -> Any:
    """Raise an integer to an integer, read as unsigned, by repeated squaring; the result wraps."""
    known = constant_value(exponent)
    if known is not None and 0 <= known < 1 << 16:
        return _power_of_constant(builder, base, known)
    before, loop, after = (
        builder.block,
        builder.append_basic_block("power"),
        builder.append_basic_block("power.end"),
    )
    one, zero = literal(base.type, 1), literal(base.type, 0)
    builder.branch(loop)
    builder.position_at_end(loop)
    result, square, left = (builder.phi(base.type) for _ in range(3))
    odd = builder.icmp_unsigned("!=", builder.and_(left, one), zero)
    product = builder.select(odd, builder.mul(result, square), result)
    next_square, rest = builder.mul(square, square), builder.lshr(left, one)
    for phi, start, following in (
        (result, one, product),
        (square, base, next_square),
        (left, exponent, rest),
    ):
        phi.add_incoming(start, before)
        phi.add_incoming(following, loop)
    remaining = _any_bits(builder, rest)
    builder.cbranch(builder.icmp_unsigned("!=", remaining, literal(remaining.type, 0)), loop, after)
    builder.position_at_end(after)
    return product


def _any_bits(builder: Builder, value: Any) -> Any:
    """Return a scalar that is 0 only if the value, or each of its elements, is 0."""
    if value.type == element_type(value.type):
        return value
    return builder.invoke_name(
        f"llvm.vector.reduce.or.{mangled(value.type)}", value.type.element, [value]
    )


def _power_of_constant(builder: Builder, base: Any, exponent: int) -> Any:
    result: Any = None
    while exponent:
        if exponent & 1:
            result = base if result is None else builder.mul(result, base)
        exponent >>= 1
        base = builder.mul(base, base) if exponent else base
    return literal(base.type, 1) if result is None else result
