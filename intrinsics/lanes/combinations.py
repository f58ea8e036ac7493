"""How the lanes of a wave combine their values, as LLVM IR: totals, scans and segmented scans.

The combination runs in all lanes of the wave (LLVM's whole-wave mode). Inactive lanes hold a value
that changes nothing, so it does not matter which lanes are active.

Sources: LLVM AMDGPU guide, "LLVM IR Intrinsics" (`set.inactive`, `strict.wwm`, `update.dpp`); RDNA4
ISA, "DPP16", `v_permlanex16_b32`, `v_permlane64_b32`; CDNA 3 ISA, "DPP".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from amdjit.declarations import EmitContext
from amdjit.intrinsics.builtins.table import row_of
from amdjit.intrinsics.lanes.active_lanes import lane_number
from amdjit.types import Scalar, Vector, bf16, boolean, f16, f32, i16, i32, i64, u32

__all__ = ["emit_reduce", "emit_scan", "emit_segmented", "neutral"]

_HALVES = row_of("permlane64").targets
# LLVM's functions for floats. The first two ignore NaN, the others propagate it.
_FLOAT_CHOICES: Mapping[str, str] = MappingProxyType(
    {"min": "minnum", "max": "maxnum", "minimum": "minimum", "maximum": "maximum"}
)
_ROWS = row_of("permlanex16").targets
_ROW_SHR, _ROW_XMASK, _SAME_LANES = 0x110, 0x160, 0xE4
# What gfx9 has instead (CDNA 3 ISA, "DPP"): the other lane of two and of four, the halves of a row
# and the row in reverse order; in all lanes of a row the last lane of the row before, or of the
# lower half; and the lane below, in all of the wave.
_OTHER_OF_TWO, _OTHER_OF_FOUR, _HALF_MIRROR, _MIRROR = 0xB1, 0x4E, 0x141, 0x140
_ROW_BEFORE, _LOWER_HALF, _WAVE_SHR = 0x142, 0x143, 0x138


def neutral(type: Scalar, operation: str) -> int | float:
    """Return the value that changes nothing under an operation."""
    if operation in _FLOAT_CHOICES:
        is_lowest = operation in ("min", "minimum")
        if type.is_float:
            return float("inf") if is_lowest else float("-inf")
        low = -(1 << (type.bits - 1)) if type.is_signed else 0
        return low + (1 << type.bits) - 1 if is_lowest else low
    # -0 leaves the sign of a sum of zeros as it is.
    if operation == "add" and type.is_float:
        return -0.0
    return {"mul": 1, "and": -1 if type.is_signed else (1 << type.bits) - 1}.get(operation, 0)


@dataclass(frozen=True, slots=True)
class Combination:
    """One operator on values of one type, in the IR of one kernel. exclusive: a scan leaves out the
    lane's own value."""

    context: EmitContext
    value_type: Scalar
    operation: str
    exclusive: bool

    @property
    def type(self) -> Scalar:
        """The type that lanes combine: i32 or u32 for narrow integers, whose low bits come out the
        same, and f32 for bf16."""
        if self.value_type is bf16:
            return f32
        if self.value_type.is_float or self.value_type.bits >= 32:
            return self.value_type
        return i32 if self.value_type.is_signed else u32

    @property
    def neutral(self) -> Any:
        """The value that changes nothing, as a constant."""
        return self.context.constant(self.type, neutral(self.value_type, self.operation))

    @property
    def filler(self) -> Any:
        """What stands in for a lane that takes no part: NaN where the operation ignores NaN, so
        that a wave of NaN alone yields NaN."""
        if self.value_type.is_float and self.operation in ("min", "max") and not self.exclusive:
            return self.context.constant(self.type, float("nan"))
        return self.neutral

    def widened(self, value: Any) -> Any:
        """Convert a value to the type that lanes combine."""
        wide = self.context.llvm_type(self.type)
        if self.type is self.value_type:
            return value
        if self.value_type.is_float:
            return self.context.builder.fpext(value, wide)
        return (
            self.context.builder.sext if self.value_type.is_signed else self.context.builder.zext
        )(value, wide)

    def narrowed(self, value: Any) -> Any:
        """Convert a combined value back to the value's own type."""
        if self.type is self.value_type:
            return value
        narrow = self.context.llvm_type(self.value_type)
        return (
            self.context.builder.fptrunc if self.value_type.is_float else self.context.builder.trunc
        )(value, narrow)

    def call(self, name: str, *arguments: Any) -> Any:
        """Call an intrinsic that is overloaded by the lanes' type."""
        if self.type is f16 and self.context.target.isa[0] == 11:
            return self._call_on_words(name, arguments)
        suffix = f"{'f' if self.type.is_float else 'i'}{self.type.bits}"
        return self.context.call(
            f"llvm.amdgcn.{name}.{suffix}", self.context.llvm_type(self.type), list(arguments)
        )

    def _call_on_words(self, name: str, arguments: tuple[Any, ...]) -> Any:
        """Call an intrinsic with f16 values in 32 bits: LLVM 22 ends the process on 16-bit copies
        in gfx11's whole-wave mode."""
        half, bits, word = (self.context.llvm_type(type) for type in (f16, i16, i32))
        builder = self.context.builder
        words = [
            builder.zext(self.context.bitcast(each, bits), word) if each.type == half else each
            for each in arguments
        ]
        result = self.context.call(f"llvm.amdgcn.{name}.i32", word, words)
        return self.context.bitcast(builder.trunc(result, bits), half)

    def word(self, value: int) -> Any:
        """Return a 32-bit constant, given as a signed or an unsigned number."""
        return self.context.constant(i32, value - 2**32 if value >= 2**31 else value)

    def join(self, left: Any, right: Any) -> Any:
        """Combine two values of each lane."""
        builder = self.context.builder
        name = {"and": "and_", "or": "or_"}.get(self.operation, self.operation)
        if self.operation in _FLOAT_CHOICES:
            sign = "s" if self.type.is_signed else "u"
            function = (
                f"{_FLOAT_CHOICES[self.operation]}.f"
                if self.type.is_float
                else f"{sign}{self.operation[:3]}.i"
            )
            llvm = self.context.llvm_type(self.type)
            return self.context.call(f"llvm.{function}{self.type.bits}", llvm, [left, right])
        return getattr(builder, f"f{name}" if self.type.is_float else name)(left, right)

    def all_lanes(self, value: Any) -> Any:
        """Enter whole-wave mode: inactive lanes get a value that changes nothing, and what follows
        is computed in all lanes."""
        return self.call("set.inactive", self.widened(value), self.filler)

    def moved(self, value: Any, control: int, rows: int = 0xF, *, total: bool = False) -> Any:
        """Return other lanes' values by DPP. Lanes without a source, and lanes of rows not in the
        mask `rows`, get the filler.

        total: every lane has a source, which lets LLVM make the exchange part of the instruction
        that uses it.
        """
        no = self.context.constant(boolean, total)
        return self.call(
            "update.dpp",
            self.filler,
            value,
            self.word(control),
            self.word(rows),
            self.word(0xF),
            no,
        )

    def across_rows(self, value: Any, low: int, high: int) -> Any:
        """Return values of the neighbour row. Four bits of `low` or `high` choose each lane's
        source."""
        yes, no = self.context.constant(boolean, True), self.context.constant(boolean, False)
        return self.call("permlanex16", value, value, self.word(low), self.word(high), yes, no)

    def lane(self, value: Any, lane: int) -> Any:
        """Return the value of one lane, in all lanes."""
        return self.call("readlane", value, self.word(lane))

    @property
    def exchanges_rows(self) -> bool:
        """Whether there are instructions that exchange lanes of neighbour rows."""
        return self.context.target.name in _ROWS

    def result(self, value: Any) -> Any:
        """Leave whole-wave mode."""
        return self.narrowed(self.call("strict.wwm", value))


_Join = Callable[[Any, Any, int], Any]


_Combine = Callable[[Combination, Any], Any]


def _by_elements(
    context: EmitContext, value: Any, operation: str, combine: _Combine, exclusive: bool
) -> Any:
    """Combine a scalar, or the elements of a vector one by one."""
    type = context.types[0]
    if isinstance(type, Scalar):
        return combine(Combination(context, type, operation, exclusive), value)
    if not isinstance(type, Vector):
        raise TypeError(f"{type} does not live in one lane")
    lanes, result = (
        Combination(context, type.element, operation, exclusive),
        context.undefined(type),
    )
    for number in range(type.length):
        place = context.constant(i32, number)
        element = combine(lanes, context.builder.extract_element(value, place))
        result = context.builder.insert_element(result, element, place)
    return result


def emit_reduce(context: EmitContext, value: Any, operation: str) -> Any:
    """Combine the values of the active lanes; all lanes get the total."""
    return _by_elements(context, value, operation, _total, False)


def _total(lanes: Combination, value: Any) -> Any:
    context = lanes.context
    value = lanes.all_lanes(value)
    if not lanes.exchanges_rows:
        return lanes.result(_total_by_mirrors(lanes, value))
    for mask in (1, 2, 4, 8):
        value = lanes.join(value, lanes.moved(value, _ROW_XMASK + mask, total=True))
    value = lanes.join(value, lanes.across_rows(value, 0x76543210, 0xFEDCBA98))
    if context.wavefront_size == 64:
        if context.target.name in _HALVES:
            value = lanes.join(value, lanes.call("permlane64", value))
        else:
            value = lanes.join(lanes.lane(value, 0), lanes.lane(value, 32))
    return lanes.result(value)


def _total_by_mirrors(lanes: Combination, value: Any) -> Any:
    """Return the total of a wave of 64 lanes. Where groups of lanes have the same value already, a
    group's values in reverse order are those of the other half of the group."""
    for control in (_OTHER_OF_TWO, _OTHER_OF_FOUR, _HALF_MIRROR, _MIRROR):
        value = lanes.join(value, lanes.moved(value, control, total=True))
    rows = [lanes.lane(value, lane) for lane in (0, 16, 32, 48)]
    return lanes.join(lanes.join(rows[0], rows[1]), lanes.join(rows[2], rows[3]))


def _scan(lanes: Combination, value: Any, join: _Join) -> Any:
    """Combine each lane with all lanes below it.

    join(below, own, reach) combines a lane's value with that of a lane below it: the lane `reach`
    back for 1, 2, 4 and 8, the last lane of the row before for 16, the last lane of the lower half
    for 32."""
    for count in (1, 2, 4, 8):
        value = join(lanes.moved(value, _ROW_SHR + count), value, count)
    if not lanes.exchanges_rows:
        value = join(lanes.moved(value, _ROW_BEFORE, rows=0b1010), value, 16)
        return join(lanes.moved(value, _LOWER_HALF, rows=0b1100), value, 32)
    last_of_row = lanes.across_rows(value, 0xFFFFFFFF, 0xFFFFFFFF)
    # Rows 1 and 3 take the value of the last lane of rows 0 and 2.
    value = join(lanes.moved(last_of_row, _SAME_LANES, rows=0b1010), value, 16)
    if lanes.context.wavefront_size == 64:
        value = join(lanes.moved(lanes.lane(value, 31), _SAME_LANES, rows=0b1100), value, 32)
    return value


def _shifted(lanes: Combination, value: Any) -> Any:
    """Move the values one lane up; lane 0 gets the filler."""
    if not lanes.exchanges_rows:
        return lanes.moved(value, _WAVE_SHR)
    result = lanes.moved(value, _ROW_SHR + 1)
    for lane in range(16, lanes.context.wavefront_size, 16):
        result = lanes.call("writelane", lanes.lane(value, lane - 1), lanes.word(lane), result)
    return result


def emit_scan(context: EmitContext, value: Any, operation: str, *, exclusive: bool) -> Any:
    """Combine the values of the active lanes up to each lane, its own included unless exclusive."""

    def combine(lanes: Combination, element: Any) -> Any:
        totals = _scan(
            lanes, lanes.all_lanes(element), lambda below, own, _: lanes.join(below, own)
        )
        return lanes.result(_shifted(lanes, totals) if exclusive else totals)

    return _by_elements(context, value, operation, combine, exclusive)


def emit_segmented(
    context: EmitContext, value: Any, head: Any, operation: str, *, exclusive: bool
) -> Any:
    """Scan within segments: a lane keeps its value where a step would reach past the start of its
    segment."""
    builder = context.builder
    lane = _number_in_all_lanes(context)
    start = _segment_start(context, head, lane)

    def combine(lanes: Combination, element: Any) -> Any:
        def join(below: Any, own: Any, reach: int) -> Any:
            # Within a row, a step reaches that many lanes back. Beyond it, a step reaches the lane
            # just below the nearest multiple of 16 or 32.
            base = (
                builder.sub(lane, lanes.word(reach))
                if reach < 16
                else _before(context, lane, reach)
            )
            return builder.select(
                builder.icmp_signed("<=", start, base), lanes.join(below, own), own
            )

        result = _scan(lanes, lanes.all_lanes(element), join)
        if exclusive:
            first = builder.icmp_signed("==", start, lane)
            result = builder.select(first, lanes.neutral, _shifted(lanes, result))
        return lanes.result(result)

    return _by_elements(context, value, operation, combine, exclusive)


def _before(context: EmitContext, lane: Any, size: int) -> Any:
    """Return the last lane below this lane's row (size 16) or half (size 32)."""
    base = context.builder.and_(lane, context.constant(i32, -size))
    return context.builder.sub(base, context.constant(i32, 1))


def _number_in_all_lanes(context: EmitContext) -> Any:
    """Return the lane's number, computed where whole-wave mode is entered.

    LLVM computes whatever whole-wave code uses in this mode. The number that other code computed
    before would be in one of its registers from there on, through branches and loops.
    """
    zero = context.constant(i32, 0)
    entered = context.call("llvm.amdgcn.set.inactive.i32", zero.type, [zero, zero])
    return lane_number(context, entered)


def _segment_start(context: EmitContext, head: Any, lane: Any) -> Any:
    """Return the highest active lane at or below this one that is a head, or 0.

    The mask has the size of the wave: where LLVM pads a mask with 0 in whole-wave mode, it enters
    this mode also for other masks that it pads, and these have bits of lanes that are off
    (SIWholeQuadMode goes on to earlier definitions of a part of the register).
    """
    builder, word = context.builder, context.llvm_type(i32)
    type = i64 if context.wavefront_size == 64 else i32
    mask = context.llvm_type(type)
    flag = builder.zext(head, word)
    flag = context.call("llvm.amdgcn.set.inactive.i32", word, [flag, context.constant(i32, 0)])
    is_head = builder.icmp_signed("!=", flag, context.constant(i32, 0))
    heads = context.call(f"llvm.amdgcn.ballot.i{type.bits}", mask, [is_head])
    heads = builder.or_(heads, context.constant(type, 1))
    place = builder.zext(lane, mask) if type is i64 else lane
    below = builder.shl(heads, builder.sub(context.constant(type, type.bits - 1), place))
    none = context.constant(boolean, True)
    zeros = context.call(f"llvm.ctlz.i{type.bits}", mask, [below, none])
    return builder.sub(lane, builder.trunc(zeros, word) if type is i64 else zeros)
