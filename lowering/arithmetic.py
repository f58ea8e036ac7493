"""Operators on values of one type, elementwise on vectors.

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
from amdjit.lowering.types import (
    BFLOAT,
    FLOAT,
    HALF,
    I1,
    Literal,
    constant_value,
    element_type,
    like,
    literal,
    mangled,
)
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


# Division and modulo with Python's meaning: both round toward minus infinity.
#
# before: `(x // 3)` of i32 after:  `sdiv` by 3, then 1 less (`icmp slt`, `sext`, `add`) if the
# remainder is negative
#
# Where the machine has no result the kernel language follows NumPy: x // 0 and x % 0 are 0 for
# integers, and the least integer divided by -1 wraps; x // 0.0 is an infinity or NaN, x % 0.0 is
# NaN. The integer cases are undefined behaviour in LLVM, so they never reach its division
# instructions.


def floor_divide(builder: Builder, scalar: Scalar, left: Any, right: Any) -> Any:
    """Return left // right of integers."""
    divisor = constant_value(right)
    if divisor:
        return _divide_by_constant(builder, scalar, left, divisor)
    if not scalar.is_signed:
        quotient = builder.udiv(left, _at_least_one(builder, right))
        return _unless_zero(builder, right, quotient)
    quotient, remainder = _magnitudes(builder, left, right)
    # -(q + 1) is ~q: the quotient of operands of different signs, rounded away from zero if there
    # is a remainder.
    down = builder.select(
        builder.is_zero(remainder), _negated(builder, quotient), builder.not_(quotient)
    )
    signs_differ = _negative(builder, builder.xor(left, right))
    return _unless_zero(builder, right, builder.select(signs_differ, down, quotient))


def modulo(builder: Builder, scalar: Scalar, left: Any, right: Any) -> Any:
    """Return left % right of integers, which has the sign of right. A divisor of 0 is replaced by
    1, so the result is 0."""
    divisor = constant_value(right)
    if divisor:
        return _modulo_of_constant(builder, scalar, left, divisor)
    if not scalar.is_signed:
        return builder.urem(left, _at_least_one(builder, right))
    _, magnitude = _magnitudes(builder, left, right)
    remainder = builder.select(_negative(builder, left), _negated(builder, magnitude), magnitude)
    signs_differ = _negative(builder, builder.xor(left, right))
    moved = builder.select(signs_differ, builder.add(remainder, right), remainder)
    return builder.select(builder.is_zero(remainder), remainder, moved)


def float_divide(builder: Builder, left: Any, right: Any) -> Any:
    """Return left / right, correctly rounded unless fast math asks for less."""
    return builder.float_operation("fdiv", left, right)


def float_floor_divide(builder: Builder, left: Any, right: Any) -> Any:
    """Return left // right as NumPy's npy_divmod computes it: exact where the quotient is
    representable."""
    llvm = left.type
    left, right = _in_working_type(builder, left), _in_working_type(builder, right)
    remainder = builder.float_operation("frem", left, right)
    quotient = builder.float_operation(
        "fdiv", builder.float_operation("fsub", left, remainder), right
    )
    below = _rounded_other_way(builder, remainder, right)
    one_less = builder.float_operation("fsub", quotient, _real(quotient.type, "1.0"))
    quotient = builder.select(below, one_less, quotient)
    floor = builder.intrinsic("llvm.floor", quotient, fast=True)
    # The division may have rounded to just below a whole number.
    rest = builder.float_operation("fsub", quotient, floor)
    one_more = builder.float_operation("fadd", floor, _real(floor.type, "1.0"))
    floor = builder.select(
        builder.fcmp_ordered(">", rest, _real(rest.type, "0.5")), one_more, floor
    )
    ratio = builder.float_operation("fdiv", left, right)
    is_zero = builder.fcmp_ordered("==", quotient, _real(quotient.type, "0.0"))
    signed_zero = builder.intrinsic("llvm.copysign", _real(quotient.type, "0.0"), ratio)
    result = builder.select(is_zero, signed_zero, floor)
    by_zero = builder.fcmp_ordered("==", right, _real(right.type, "0.0"))
    return _from_working_type(builder, builder.select(by_zero, ratio, result), llvm)


def float_modulo(builder: Builder, left: Any, right: Any) -> Any:
    """Return left % right with the sign of right, zero included, as Python and NumPy do."""
    llvm = left.type
    left, right = _in_working_type(builder, left), _in_working_type(builder, right)
    remainder = builder.float_operation("frem", left, right)
    other_way = _rounded_other_way(builder, remainder, right)
    moved = builder.select(other_way, builder.float_operation("fadd", remainder, right), remainder)
    is_zero = builder.fcmp_ordered("==", remainder, _real(remainder.type, "0.0"))
    signed_zero = builder.intrinsic("llvm.copysign", remainder, right)
    return _from_working_type(builder, builder.select(is_zero, signed_zero, moved), llvm)


def _divide_by_constant(builder: Builder, scalar: Scalar, left: Any, divisor: int) -> Any:
    power = _exponent_of(divisor)
    if not scalar.is_signed:
        return builder.udiv(left, literal(left.type, divisor))
    if power is not None:
        return builder.ashr(left, literal(left.type, power)) if power else left
    if divisor == -1:
        return _negated(builder, left)
    quotient = builder.sdiv(left, literal(left.type, divisor))
    remainder = builder.sub(left, builder.mul(quotient, literal(left.type, divisor)))
    wrong_side = builder.icmp_signed("<" if divisor > 0 else ">", remainder, literal(left.type, 0))
    return builder.add(quotient, builder.sext(wrong_side, left.type))


def _modulo_of_constant(builder: Builder, scalar: Scalar, left: Any, divisor: int) -> Any:
    power = _exponent_of(divisor)
    if power is not None:
        return builder.and_(left, literal(left.type, divisor - 1))
    if not scalar.is_signed:
        return builder.urem(left, literal(left.type, divisor))
    if divisor == -1:
        return literal(left.type, 0)
    remainder = builder.srem(left, literal(left.type, divisor))
    wrong_side = builder.icmp_signed("<" if divisor > 0 else ">", remainder, literal(left.type, 0))
    return builder.select(
        wrong_side, builder.add(remainder, literal(left.type, divisor)), remainder
    )


def _exponent_of(divisor: int) -> int | None:
    """Return n if the divisor is 2 ** n, else None."""
    return divisor.bit_length() - 1 if divisor > 0 and divisor & (divisor - 1) == 0 else None


def _magnitudes(builder: Builder, left: Any, right: Any) -> tuple[Any, Any]:
    """Divide the absolute values as unsigned numbers, which can represent even that of the least
    integer."""
    dividend = _absolute(builder, left)
    divisor = _at_least_one(builder, _absolute(builder, right))
    quotient = builder.udiv(dividend, divisor)
    return quotient, builder.sub(dividend, builder.mul(quotient, divisor))


def _absolute(builder: Builder, value: Any) -> Any:
    return builder.invoke_name(
        f"llvm.abs.{mangled(value.type)}", value.type, [value, literal(I1, 0)]
    )


def _at_least_one(builder: Builder, value: Any) -> Any:
    return builder.intrinsic("llvm.umax", value, literal(value.type, 1))


def _unless_zero(builder: Builder, divisor: Any, value: Any) -> Any:
    return builder.select(builder.is_zero(divisor), literal(value.type, 0), value)


def _negative(builder: Builder, value: Any) -> Any:
    return builder.icmp_signed("<", value, literal(value.type, 0))


def _negated(builder: Builder, value: Any) -> Any:
    return builder.operation("sub", literal(value.type, 0), value)


def _rounded_other_way(builder: Builder, remainder: Any, divisor: Any) -> Any:
    """Whether fmod's remainder, which has the dividend's sign, is not 0 and differs in sign from
    the divisor."""
    zero = _real(remainder.type, "0.0")
    present = builder.fcmp_unordered("!=", remainder, zero)
    remainder_negative = builder.fcmp_ordered("<", remainder, zero)
    divisor_negative = builder.fcmp_ordered("<", divisor, zero)
    return builder.and_(present, builder.xor(remainder_negative, divisor_negative))


def _in_working_type(builder: Builder, value: Any) -> Any:
    """Return f16 and bf16 as f32, in which NumPy divides them too: remainders are exact, and LLVM
    has no bf16 frem."""
    return (
        builder.fpext(value, like(value.type, FLOAT))
        if element_type(value.type) in (HALF, BFLOAT)
        else value
    )


def _from_working_type(builder: Builder, value: Any, llvm: Any) -> Any:
    return value if value.type == llvm else builder.fptrunc(value, llvm)


def _real(llvm: Any, text: str) -> Any:
    """Return a float constant that every float type represents exactly."""
    element = element_type(llvm)
    return Literal(llvm, text if element == llvm else f"splat ({element} {text})")
