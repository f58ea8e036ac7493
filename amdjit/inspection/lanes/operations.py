"""What instructions compute of values that are known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import and_, or_, xor

from amdjit.inspection.lanes.values import (
    Value,
    add,
    bits,
    constant,
    each_lane,
    masked,
    multiply,
    shift_left,
    shift_right,
    signed24,
    subtract,
)

__all__ = ["CONSTANTS", "LANE_COUNTS", "SCALAR_OPERATIONS", "VECTOR_OPERATIONS", "Operation"]

# From values to a value; None is an unknown one.
Operation = Callable[..., Value | None]


def _and(one: Value, other: Value) -> Value | None:
    if one.constant is None:
        one, other = other, one
    if one.constant is not None:
        return masked(other, one.constant)
    return bits(and_, one, other)


def _or(one: Value, other: Value) -> Value | None:
    return bits(or_, one, other)


def _xor(one: Value, other: Value) -> Value | None:
    return bits(xor, one, other)


def _then(first: Operation, second: Operation) -> Operation:
    """Return the operation of three sources that does one with two, and one with the result."""

    def both(one: Value, other: Value, last: Value) -> Value | None:
        between = first(one, other)
        return None if between is None else second(between, last)

    return both


def _product24(one: Value, other: Value) -> Value | None:
    factors = masked(one, 0xFFFFFF), masked(other, 0xFFFFFF)
    return None if None in factors else multiply(*factors)  # type: ignore[arg-type]


def _signed_product24(one: Value, other: Value) -> Value | None:
    factors = signed24(one), signed24(other)
    return None if None in factors else multiply(*factors)  # type: ignore[arg-type]


def _field(source: Value, first: Value, count: Value) -> Value | None:
    """`count` bits from bit `first` on."""
    shifted = shift_right(source, first)
    if shifted is None or count.constant is None:
        return None
    return masked(shifted, (1 << (count.constant & 31)) - 1)


def _scalar_field(source: Value, place: Value) -> Value | None:
    if place.constant is None:
        return None
    return _field(source, constant(place.constant & 31), constant(place.constant >> 16 & 127))


def _shifted_left(count: Value, source: Value) -> Value | None:
    return shift_left(source, count)


def _shifted_right(count: Value, source: Value) -> Value | None:
    return shift_right(source, count)


def _shifted_right_signed(count: Value, source: Value) -> Value | None:
    return shift_right(source, count, signed=True)


def _same(source: Value) -> Value:
    return source


def _subtract_from(one: Value, other: Value) -> Value:
    return subtract(other, one)


VECTOR_OPERATIONS: Mapping[str, Operation] = {
    "v_mov_b32": _same,
    "v_readfirstlane_b32": lambda source: source if source.steps is None else None,
    "v_add_nc_u32": add,
    "v_add_nc_i32": add,
    "v_add_co_u32": add,
    "v_sub_nc_u32": subtract,
    "v_sub_nc_i32": subtract,
    "v_sub_co_u32": subtract,
    "v_subrev_nc_u32": _subtract_from,
    "v_subrev_co_u32": _subtract_from,
    "v_and_b32": _and,
    "v_or_b32": _or,
    "v_xor_b32": _xor,
    "v_lshlrev_b32": _shifted_left,
    "v_lshrrev_b32": _shifted_right,
    "v_ashrrev_i32": _shifted_right_signed,
    "v_mul_lo_u32": multiply,
    "v_mul_u32_u24": _product24,
    "v_mul_i32_i24": _signed_product24,
    "v_bfe_u32": _field,
    "v_add3_u32": _then(add, add),
    "v_lshl_add_u32": _then(shift_left, add),
    "v_add_lshl_u32": _then(add, shift_left),
    "v_lshl_or_b32": _then(shift_left, _or),
    "v_and_or_b32": _then(_and, _or),
    "v_or3_b32": _then(_or, _or),
    "v_xor3_b32": _then(_xor, _xor),
    "v_xad_u32": _then(_xor, add),
    "v_mad_u32_u24": _then(_product24, add),
    "v_mad_i32_i24": _then(_signed_product24, add),
}

SCALAR_OPERATIONS: Mapping[str, Operation] = {
    "s_mov_b32": _same,
    "s_add_co_u32": add,
    "s_add_co_i32": add,
    "s_sub_co_u32": subtract,
    "s_sub_co_i32": subtract,
    "s_mul_i32": multiply,
    "s_and_b32": _and,
    "s_or_b32": _or,
    "s_xor_b32": _xor,
    "s_lshl_b32": shift_left,
    "s_lshr_b32": shift_right,
    "s_ashr_i32": lambda source, count: shift_right(source, count, signed=True),
    "s_bfe_u32": _scalar_field,
    "s_lshl1_add_u32": lambda one, other: _shifted_sum(one, other, 1),
    "s_lshl2_add_u32": lambda one, other: _shifted_sum(one, other, 2),
    "s_lshl3_add_u32": lambda one, other: _shifted_sum(one, other, 3),
    "s_lshl4_add_u32": lambda one, other: _shifted_sum(one, other, 4),
}


def _shifted_sum(one: Value, other: Value, places: int) -> Value | None:
    shifted = shift_left(one, constant(places))
    return None if shifted is None else add(shifted, other)


def _lanes_below(first: int) -> Operation:
    """Return the operation that counts the lanes below each one, from lane `first` on, if the mask
    has them all."""

    def counted(mask: Value, base: Value, wave_size: int) -> Value | None:
        if mask.constant != 0xFFFFFFFF:
            return None
        counts = [min(max(lane - first, 0), 32) for lane in range(wave_size)]
        return add(each_lane(counts), base)

    return counted


# Of the constant in the instruction.
CONSTANTS: Mapping[str, Operation] = {"s_movk_i32": constant}
LANE_COUNTS: Mapping[str, Operation] = {
    "v_mbcnt_lo_u32_b32": _lanes_below(0),
    "v_mbcnt_hi_u32_b32": _lanes_below(32),
}
