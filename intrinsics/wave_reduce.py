"""Sums and other combinations over the lanes of one wave: whole, running, and by segments.

Lanes that are inactive take no part, wherever they are: the combination runs in all lanes of the machine (LLVM's
whole-wave mode), and those that are inactive hold the operator's neutral value. `operation` is one of "add", "mul",
"min", "max", and for integers "and", "or", "xor"; min and max of floats pass over NaN. Integers wrap. Floats are
combined in the order of a tree.

Sources: LLVM AMDGPU guide, "LLVM IR Intrinsics" (`set.inactive`, `strict.wwm`, `update.dpp`); RDNA4 ISA, "DPP16",
`v_permlanex16_b32`, `v_permlane64_b32`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Annotated, Any

import numpy as np

from amdjit.declarations import Emit, EmitContext, device_function, intrinsic
from amdjit.intrinsics.builtin_table import row_of
from amdjit.types import Choice, Scalar, TypeVariable, boolean, f16, f32, f64, i32, i64, u32, u64

__all__ = [
    "exclusive_scan",
    "inclusive_scan",
    "reduce",
    "segmented_exclusive_scan",
    "segmented_inclusive_scan",
]

NUMBER = TypeVariable("N", (i32, u32, i64, u64, f16, f32, f64))
INTEGER = TypeVariable("I", (i32, u32, i64, u64))
Arithmetic = Annotated[str, Choice("add", "mul", "min", "max")]
Bitwise = Annotated[str, Choice("and", "or", "xor")]

# Processors from gfx10 on exchange lanes within and between rows by instructions that gfx9 lacks.
_RDNA = row_of("permlanex16").targets
_HALVES = row_of("permlane64").targets
_ROW_SHR, _ROW_XMASK, _SAME_LANES = 0x110, 0x160, 0xE4
_REFERENCES: Mapping[str, np.ufunc] = MappingProxyType(
    {
        "add": np.add,
        "mul": np.multiply,
        "min": np.fmin,
        "max": np.fmax,
        "and": np.bitwise_and,
        "or": np.bitwise_or,
        "xor": np.bitwise_xor,
    }
)


def neutral(type: Scalar, operation: str) -> int | float:
    """Return the value that changes nothing under an operation."""
    if operation in ("min", "max"):
        if type.is_float:
            return float("inf") if operation == "min" else float("-inf")
        low = -(1 << (type.bits - 1)) if type.is_signed else 0
        return low + (1 << type.bits) - 1 if operation == "min" else low
    # -0 leaves the sign of a sum of zeros as it is.
    if operation == "add" and type.is_float:
        return -0.0
    return {"mul": 1, "and": -1 if type.is_signed else (1 << type.bits) - 1}.get(operation, 0)


@dataclass(frozen=True, slots=True)
class _Combination:
    """One operator on one type, in the IR of one kernel."""

    context: EmitContext
    type: Scalar
    operation: str

    @property
    def neutral(self) -> Any:
        return self.context.constant(self.type, neutral(self.type, self.operation))

    def call(self, name: str, *arguments: Any) -> Any:
        """Call an intrinsic that is overloaded by the lanes' type."""
        suffix = f"{'f' if self.type.is_float else 'i'}{self.type.bits}"
        return self.context.call(f"llvm.amdgcn.{name}.{suffix}", self.context.llvm_type(self.type), list(arguments))

    def word(self, value: int) -> Any:
        return self.context.constant(i32, value - 2**32 if value >= 2**31 else value)

    def join(self, left: Any, right: Any) -> Any:
        builder = self.context.builder
        name = {"and": "and_", "or": "or_"}.get(self.operation, self.operation)
        if self.operation in ("min", "max"):
            sign = "s" if self.type.is_signed else "u"
            function = f"{self.operation}num.f" if self.type.is_float else f"{sign}{self.operation}.i"
            llvm = self.context.llvm_type(self.type)
            return self.context.call(f"llvm.{function}{self.type.bits}", llvm, [left, right])
        return getattr(builder, f"f{name}" if self.type.is_float else name)(left, right)

    def all_lanes(self, value: Any) -> Any:
        """Give the lanes that are inactive the neutral value; what follows is computed in all lanes."""
        return self.call("set.inactive", value, self.neutral)

    def moved(self, value: Any, control: int, rows: int = 0xF, *, total: bool = False) -> Any:
        """Return the value of other lanes; the neutral one where there is none, or in other rows than these.

        total: each lane has a source; saying so lets LLVM make the exchange part of the instruction that uses it.
        """
        no = self.context.constant(boolean, total)
        return self.call("update.dpp", self.neutral, value, self.word(control), self.word(rows), self.word(0xF), no)

    def across_rows(self, value: Any, low: int, high: int) -> Any:
        """Return values of the neighbour row, lanes chosen by four bits each."""
        yes, no = self.context.constant(boolean, True), self.context.constant(boolean, False)
        return self.call("permlanex16", value, value, self.word(low), self.word(high), yes, no)

    def lane(self, value: Any, lane: int) -> Any:
        return self.call("readlane", value, self.word(lane))

    def result(self, value: Any) -> Any:
        """Leave whole-wave mode."""
        return self.call("strict.wwm", value)


_Join = Callable[[Any, Any, int], Any]


def _combination(context: EmitContext, operation: str) -> _Combination:
    type = context.types[0]
    if not isinstance(type, Scalar):
        raise TypeError(f"{type} does not live in one lane")
    return _Combination(context, type, operation)


def _emit_reduce(context: EmitContext, value: Any, operation: str) -> Any:
    lanes = _combination(context, operation)
    value = lanes.all_lanes(value)
    for mask in (1, 2, 4, 8):
        value = lanes.join(value, lanes.moved(value, _ROW_XMASK + mask, total=True))
    value = lanes.join(value, lanes.across_rows(value, 0x76543210, 0xFEDCBA98))
    if context.wavefront_size == 64:
        if context.target.name in _HALVES:
            value = lanes.join(value, lanes.call("permlane64", value))
        else:
            value = lanes.join(lanes.lane(value, 0), lanes.lane(value, 32))
    return lanes.result(value)


def _scan(lanes: _Combination, value: Any, join: _Join) -> Any:
    """Combine each lane with all below it. join(below, own, reach): reach lanes back, or 0 for the last of a row."""
    for count in (1, 2, 4, 8):
        value = join(lanes.moved(value, _ROW_SHR + count), value, count)
    last_of_row = lanes.across_rows(value, 0xFFFFFFFF, 0xFFFFFFFF)
    # Rows 1 and 3 take what stands in the last lane of rows 0 and 2.
    value = join(lanes.moved(last_of_row, _SAME_LANES, rows=0b1010), value, 16)
    if lanes.context.wavefront_size == 64:
        value = join(lanes.moved(lanes.lane(value, 31), _SAME_LANES, rows=0b1100), value, 32)
    return value


def _shifted(lanes: _Combination, value: Any) -> Any:
    """Return the values one lane higher; the neutral one in lane 0."""
    result = lanes.moved(value, _ROW_SHR + 1)
    for lane in range(16, lanes.context.wavefront_size, 16):
        result = lanes.call("writelane", lanes.lane(value, lane - 1), lanes.word(lane), result)
    return result


def _emit_scan(context: EmitContext, value: Any, operation: str, *, exclusive: bool) -> Any:
    lanes = _combination(context, operation)
    value = _scan(lanes, lanes.all_lanes(value), lambda below, own, _: lanes.join(below, own))
    return lanes.result(_shifted(lanes, value) if exclusive else value)


def _emit_segmented(context: EmitContext, value: Any, head: Any, operation: str, *, exclusive: bool) -> Any:
    """Scan as above, and keep a lane's own value where the step would reach over the start of its segment."""
    lanes, builder = _combination(context, operation), context.builder
    start = _segment_start(context, head)
    lane = _lane_number(context)

    def join(below: Any, own: Any, reach: int) -> Any:
        # Within a row a step is of so many lanes; to the rows before it is to the lane before a multiple of 16 or 32.
        base = builder.sub(lane, lanes.word(reach)) if reach < 16 else _before(context, lane, reach)
        return builder.select(builder.icmp_signed("<=", start, base), lanes.join(below, own), own)

    result = _scan(lanes, lanes.all_lanes(value), join)
    if exclusive:
        first = builder.icmp_signed("==", start, lane)
        result = builder.select(first, lanes.neutral, _shifted(lanes, result))
    return lanes.result(result)


def _before(context: EmitContext, lane: Any, size: int) -> Any:
    """Return the last lane before the lane's row (16) or half (32)."""
    base = context.builder.and_(lane, context.constant(i32, -size))
    return context.builder.sub(base, context.constant(i32, 1))


def _lane_number(context: EmitContext) -> Any:
    word, every = context.llvm_type(i32), context.constant(i32, -1)
    low = context.call("llvm.amdgcn.mbcnt.lo", word, [every, context.constant(i32, 0)])
    return low if context.wavefront_size == 32 else context.call("llvm.amdgcn.mbcnt.hi", word, [every, low])


def _segment_start(context: EmitContext, head: Any) -> Any:
    """Return the highest lane at or below this one that is active and a head; 0 if there is none."""
    builder, word, long = context.builder, context.llvm_type(i32), context.llvm_type(i64)
    flag = builder.zext(head, word)
    flag = context.call("llvm.amdgcn.set.inactive.i32", word, [flag, context.constant(i32, 0)])
    is_head = builder.icmp_signed("!=", flag, context.constant(i32, 0))
    heads = context.call("llvm.amdgcn.ballot.i64", long, [is_head])
    heads = builder.or_(heads, context.constant(i64, 1))
    distance = builder.sub(context.constant(i64, 63), builder.zext(_lane_number(context), long))
    below = builder.shl(heads, distance)
    zeros = context.call("llvm.ctlz.i64", long, [below, context.constant(boolean, True)])
    return builder.sub(_lane_number(context), builder.trunc(zeros, word))


def _reduced(value: Any, operation: str) -> Any:
    value = np.asarray(value)
    with np.errstate(over="ignore"):
        total = _REFERENCES[operation].reduce(value, axis=0, dtype=value.dtype)
    return np.broadcast_to(total, value.shape)


def _scanned(value: Any, operation: str, *, exclusive: bool) -> Any:
    value = np.asarray(value)
    with np.errstate(over="ignore"):
        totals = _REFERENCES[operation].accumulate(value, axis=0, dtype=value.dtype)
    if not exclusive:
        return totals
    kinds = {"i": (i32, i64), "u": (u32, u64), "f": (f16, f32, f64)}[value.dtype.kind]
    type = next(kind for kind in kinds if kind.bits == 8 * value.itemsize)
    return np.concatenate([np.full_like(value[:1], neutral(type, operation)), totals[:-1]])


def _segmented(value: Any, head: Any, model: Callable[[Any], Any]) -> Any:
    parts = np.split(np.asarray(value), np.flatnonzero(np.asarray(head)[1:]) + 1)
    return np.concatenate([model(part) for part in parts])


@intrinsic(Emit(_emit_reduce), isa="row_xmask", targets=_RDNA, alternative="wave.shuffle_xor in a loop")
def _reduce(value: NUMBER, operation: Arithmetic) -> NUMBER:
    """Combine the values of all active lanes by an operator of arithmetic."""
    return _reduced(value, operation)


@intrinsic(Emit(_emit_reduce), isa="row_xmask", targets=_RDNA, alternative="wave.shuffle_xor in a loop")
def _reduce_bits(value: INTEGER, operation: Bitwise) -> INTEGER:
    """Combine the values of all active lanes by an operator on bits."""
    return _reduced(value, operation)


@device_function
def reduce(value, operation="add"):
    """Return the combination of all active lanes' values, in all of them."""
    if operation in ("and", "or", "xor"):
        return _reduce_bits(value, operation)
    return _reduce(value, operation)


def _scans(exclusive: bool) -> Emit:
    return Emit(partial(_emit_scan, exclusive=exclusive))


@intrinsic(_scans(False), isa="row_shr", targets=_RDNA, alternative="wave.shuffle_up in a loop")
def _inclusive(value: NUMBER, operation: Arithmetic) -> NUMBER:
    """Combine the values of the active lanes up to this one by an operator of arithmetic."""
    return _scanned(value, operation, exclusive=False)


@intrinsic(_scans(False), isa="row_shr", targets=_RDNA, alternative="wave.shuffle_up in a loop")
def _inclusive_bits(value: INTEGER, operation: Bitwise) -> INTEGER:
    """Combine the values of the active lanes up to this one by an operator on bits."""
    return _scanned(value, operation, exclusive=False)


@device_function
def inclusive_scan(value, operation="add"):
    """Return the combination of the values of the active lanes up to this one, its own among them."""
    if operation in ("and", "or", "xor"):
        return _inclusive_bits(value, operation)
    return _inclusive(value, operation)


@intrinsic(_scans(True), isa="row_shr", targets=_RDNA, alternative="wave.shuffle_up in a loop")
def _exclusive(value: NUMBER, operation: Arithmetic) -> NUMBER:
    """Combine the values of the active lanes below this one by an operator of arithmetic."""
    return _scanned(value, operation, exclusive=True)


@intrinsic(_scans(True), isa="row_shr", targets=_RDNA, alternative="wave.shuffle_up in a loop")
def _exclusive_bits(value: INTEGER, operation: Bitwise) -> INTEGER:
    """Combine the values of the active lanes below this one by an operator on bits."""
    return _scanned(value, operation, exclusive=True)


@device_function
def exclusive_scan(value, operation="add"):
    """Return the combination of the values of the active lanes below this one; the neutral value in the lowest."""
    if operation in ("and", "or", "xor"):
        return _exclusive_bits(value, operation)
    return _exclusive(value, operation)


def _segments(exclusive: bool) -> Emit:
    return Emit(partial(_emit_segmented, exclusive=exclusive))


@intrinsic(_segments(False), isa="row_shr", targets=_RDNA, alternative="wave.shuffle_up in a loop")
def _segmented_inclusive(value: NUMBER, head: boolean, operation: Arithmetic) -> NUMBER:
    """Combine the values of the segment's active lanes up to this one by an operator of arithmetic."""
    return _segmented(value, head, partial(_scanned, operation=operation, exclusive=False))


@intrinsic(_segments(False), isa="row_shr", targets=_RDNA, alternative="wave.shuffle_up in a loop")
def _segmented_inclusive_bits(value: INTEGER, head: boolean, operation: Bitwise) -> INTEGER:
    """Combine the values of the segment's active lanes up to this one by an operator on bits."""
    return _segmented(value, head, partial(_scanned, operation=operation, exclusive=False))


@device_function
def segmented_inclusive_scan(value, head, operation="add"):
    """`inclusive_scan` within segments: a new one begins at each active lane where `head` is true."""
    if operation in ("and", "or", "xor"):
        return _segmented_inclusive_bits(value, head, operation)
    return _segmented_inclusive(value, head, operation)


@intrinsic(_segments(True), isa="row_shr", targets=_RDNA, alternative="wave.shuffle_up in a loop")
def _segmented_exclusive(value: NUMBER, head: boolean, operation: Arithmetic) -> NUMBER:
    """Combine the values of the segment's active lanes below this one by an operator of arithmetic."""
    return _segmented(value, head, partial(_scanned, operation=operation, exclusive=True))


@intrinsic(_segments(True), isa="row_shr", targets=_RDNA, alternative="wave.shuffle_up in a loop")
def _segmented_exclusive_bits(value: INTEGER, head: boolean, operation: Bitwise) -> INTEGER:
    """Combine the values of the segment's active lanes below this one by an operator on bits."""
    return _segmented(value, head, partial(_scanned, operation=operation, exclusive=True))


@device_function
def segmented_exclusive_scan(value, head, operation="add"):
    """`exclusive_scan` within segments: a new one begins at each active lane where `head` is true."""
    if operation in ("and", "or", "xor"):
        return _segmented_exclusive_bits(value, head, operation)
    return _segmented_exclusive(value, head, operation)
