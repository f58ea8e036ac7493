"""Division and modulo with Python's meaning: both round toward minus infinity.

before: `(x // 3)` of i32
after:  `sdiv` by 3, then 1 less (`icmp slt`, `sext`, `add`) if the remainder is negative

Where the machine has no result the kernel language follows NumPy: x // 0 and x % 0 are 0 for
integers, and the least integer divided by -1 wraps; x // 0.0 is an infinity or NaN, x % 0.0 is NaN.
The integer cases are undefined behaviour in LLVM, so they never reach its division instructions.
"""

from __future__ import annotations

from typing import Any

from amdjit.lowering.builder import Builder
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
from amdjit.types import Scalar

__all__ = ["float_divide", "float_floor_divide", "float_modulo", "floor_divide", "modulo"]


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
