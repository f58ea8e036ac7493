"""What instructions compute of values that are known, read from their rows (`isa/integer_rows.py`).

v_lshl_add_u32 v1, v0, 2, s4      v0: steps of 1 between lanes   ->   v1: steps of 4
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from operator import and_, or_, xor

from amdjit.inspection.lanes.values import (
    Value,
    add,
    bits,
    constant,
    each_lane,
    masked,
    meet,
    multiply,
    resized,
    shift_left,
    shift_right,
    subtract,
    uniform,
)
from amdjit.isa import arithmetic
from amdjit.isa.arithmetic import Arithmetic, bits_of, element_type, is_float, number_of
from amdjit.isa.instruction import Instruction
from amdjit.isa.integer_rows import expression_of

__all__ = ["CONSTANTS", "LANE_COUNTS", "computed"]


@dataclass(frozen=True, slots=True)
class _Lanes(arithmetic.Value):
    """lanes: what is known of it, None if nothing is."""

    lanes: Value | None = None


def computed(instruction: Instruction, sources: Sequence[Value | None]) -> Value | None:
    """Return what is known of the first result of an instruction that has a row."""
    opcode = instruction.opcode
    kinds = tuple(element_type(opcode.operands[place].type) for place in opcode.source_places)
    return _computed(opcode.traits.operation, kinds, tuple(sources))


# Analyses meet the same values again in each round of a loop.
@lru_cache(maxsize=4096)
def _computed(
    operation: str, kinds: tuple[str, ...], sources: tuple[Value | None, ...]
) -> Value | None:
    expression = expression_of(operation)
    assert expression is not None
    found = expression(_READER, *map(_value, kinds, sources))
    return _lanes(found[0] if isinstance(found, tuple) else found)


def _value(kind: str, lanes: Value | None) -> _Lanes:
    """Return a value of an LLVM type. Of two registers that are not known to hold one number, only
    whether all lanes have the same is followed."""
    width = bits_of(kind)
    if lanes is not None and lanes.width != width:
        is_part = width < lanes.width
        lanes = resized(lanes, width, False) if is_part else uniform(width, lanes)
    return _Lanes(kind, "", None if lanes is None else lanes.constant, lanes)


def _lanes(value: arithmetic.Value) -> Value | None:
    assert isinstance(value, _Lanes)
    return value.lanes


def _all(kind: str, *sources: arithmetic.Value) -> _Lanes:
    """Return what some operation makes of values."""
    lanes = [item for item in map(_lanes, sources) if item is not None]
    return _value(kind, uniform(bits_of(kind), *lanes) if len(lanes) == len(sources) else None)


class _Reader(Arithmetic):
    def const(self, shape: arithmetic.Value, value: float) -> _Lanes:
        if is_float(shape.type):
            return _all(shape.type)
        return _value(shape.type, constant(int(value), bits_of(shape.type)))

    def binary(self, operation: str, left: arithmetic.Value, right: arithmetic.Value) -> _Lanes:
        one, other, compute = _lanes(left), _lanes(right), _BINARY.get(operation)
        if one is None or other is None or compute is None:
            return _all(left.type, left, right)
        return _value(left.type, compute(one, other))

    def compare(self, predicate: str, left: arithmetic.Value, right: arithmetic.Value) -> _Lanes:
        number = number_of(predicate, left, right)
        return _all("i1", left, right) if number is None else _value("i1", constant(number, 1))

    def select(
        self, condition: arithmetic.Value, yes: arithmetic.Value, no: arithmetic.Value
    ) -> _Lanes:
        if condition.known is not None:
            return _value(yes.type, _lanes(yes if condition.known else no))
        chosen, one, other = _lanes(condition), _lanes(yes), _lanes(no)
        alike = chosen is not None and chosen.steps is None
        both = None if one is None or other is None else meet(one, other)
        return _value(yes.type, both if alike or one == other else None)

    def cast(self, operation: str, value: arithmetic.Value, type_name: str) -> _Lanes:
        lanes = _lanes(value)
        if lanes is None or operation not in ("trunc", "zext", "sext", "bitcast"):
            return _all(type_name, value)
        return _value(type_name, resized(lanes, bits_of(type_name), operation == "sext"))

    def intrinsic(
        self, name: str, *arguments: arithmetic.Value, flags: Sequence[arithmetic.Value] = ()
    ) -> _Lanes:
        number = number_of(name, arguments[0], arguments[-1])
        if number is not None:
            return self.const(arguments[0], number)
        return _all(arguments[0].type, *arguments)


_READER = _Reader()


def _and(one: Value, other: Value) -> Value | None:
    if one.constant is None:
        one, other = other, one
    return bits(and_, one, other) if one.constant is None else masked(other, one.constant)


_BINARY: Mapping[str, Callable[[Value, Value], Value | None]] = {
    "add": add,
    "sub": subtract,
    "mul": multiply,
    "and": _and,
    "or": partial(bits, or_),
    "xor": partial(bits, xor),
    "shl": shift_left,
    "lshr": shift_right,
    "ashr": partial(shift_right, signed=True),
}


def _lanes_below(first: int) -> Callable[[Value, Value, int], Value | None]:
    """Return the operation that counts the lanes below each one, from lane `first` on, if the mask
    has them all."""

    def counted(mask: Value, base: Value, wave_size: int) -> Value | None:
        if mask.constant != 0xFFFFFFFF:
            return None
        counts = [min(max(lane - first, 0), 32) for lane in range(wave_size)]
        return add(each_lane(counts), base)

    return counted


# What no row says: these know the lane that they run in, and these have a constant of their own.
LANE_COUNTS: Mapping[str, Callable[[Value, Value, int], Value | None]] = {
    "v_mbcnt_lo_u32_b32": _lanes_below(0),
    "v_mbcnt_hi_u32_b32": _lanes_below(32),
}
CONSTANTS: Mapping[str, Callable[[int], Value]] = {"s_movk_i32": constant}
