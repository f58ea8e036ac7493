"""The addresses of a buffer instruction's lanes on gfx9, and which of them are inside the buffer.

Fields of the resource (CDNA 3 ISA, "Buffer Resource Descriptor"): stride 29:16 of dword 1, swizzle
31; of dword 3: number format 14:12, data format 18:15, index stride 22:21, add thread id 23, type
31:30. What is checked against what, and that a lane's number is not added to an index of the
instruction unless the buffer is swizzled, is what AMD measured on a gfx950 (ROCm/rocm-systems,
rocjitsu, `addr_calc_buffer.h`).
"""

from __future__ import annotations

from amdjit.emulator.host.builder import Value, constant, sequence
from amdjit.emulator.host.function import V64, NativeFunction, i32, i64
from amdjit.emulator.instructions.buffers.addresses import (
    CONVERTS,
    HIGH_OFFSET,
    INDEXED,
    MASKS_OFFSET,
    PARAMETERS,
    PlaceFunction,
    finish,
    give_raw,
    own_offset,
    payload,
)
from amdjit.emulator.layout import (
    PRIVATE_APERTURE_HIGH,
    SCRATCH_BASE,
    BufferRefusal,
    Context,
    FaultKind,
)
from amdjit.late_methods import dataclass

GFX9_PLACE = "aj_buffer_place_gfx9"
# TYPE, which must be 0 for buffers, and ADD_TID_ENABLE (CDNA 3 ISA, "Buffer Resource Descriptor").
_KIND_BITS = 0xC0000000 | 1 << 23
_ELEMENT = 4


@dataclass(frozen=True, slots=True)
class _Buffer:
    """The resource, and what the instruction makes of it; `stride` is an i64, the others i1."""

    stride: Value
    swizzled: Value
    adds: Value
    adds_lane: Value


def gfx9_place_text(attributes: str) -> str:
    """Return the function that does for gfx9 what `aj_buffer_place` does for other families."""
    f = PlaceFunction(GFX9_PLACE, "i32", PARAMETERS)
    plain = f.compare("eq", f.and_(f.parameter("word3"), i32(_KIND_BITS)), i32(0))
    give_raw(f, f.and_(plain, f.compare("ne", f.field(3, 15, 4), i32(0))))
    buffer = _buffer(f)
    offset = f.resize(own_offset(f), 64)
    masks = [_inside(f, buffer, offset, part) for part in range(4)]
    some = masks[0]
    for mask in masks[1:]:
        some = f.or_(some, mask)
    finish(f, _refusal(f, buffer, offset, some), masks, _addresses(f, buffer, offset))
    return f.text(attributes)


def _buffer(f: PlaceFunction) -> _Buffer:
    swizzled = f.compare("ne", f.field(1, 31, 1), i32(0))
    adds = f.compare("ne", f.field(3, 23, 1), i32(0))
    adds_lane = f.and_(adds, f.or_(swizzled, f.not_(f.is_set(INDEXED))))
    # Where lanes are added and no format is needed, its bits extend the stride.
    more = f.and_(adds_lane, f.not_(f.is_set(CONVERTS)))
    extension = f.select(more, f.shift("shl", f.field(3, 15, 4), 14), i32(0))
    stride = f.resize(f.or_(f.field(1, 16, 14), extension), 64)
    return _Buffer(stride, swizzled, adds, adds_lane)


def _inside(f: PlaceFunction, buffer: _Buffer, offset: Value, part: int) -> Value:
    """Return the lanes whose dword `part` is inside the buffer; 0 if the payload has no such
    dword."""
    records = f.resize(f.parameter("word2"), 64)
    end = f.add(offset, f.splat(f.add(f.resize(payload(f, part), 64), f.wide("soffset"))))
    raw = f.compare("ule", end, f.splat(records))
    in_records = f.compare("ult", f.resize(f.parameter("index"), 64), f.splat(records))
    own_stride = f.compare("ne", f.field(1, 16, 14), i32(0))
    result = f.select(f.and_(f.is_set(INDEXED), own_stride), in_records, raw)
    unchecked = f.and_(buffer.adds, f.not_(f.is_set(INDEXED)))
    lanes = f.or_(f.mask_bits(result), f.select(unchecked, i32(-1), i32(0)))
    exists = f.compare("ult", i32(4 * part), f.parameter("size"))
    return f.select(exists, f.and_(lanes, f.parameter("exec")), i32(0))


def _addresses(f: PlaceFunction, buffer: _Buffer, offset: Value) -> Value:
    """Return the addresses: linear, or swizzled, where groups of records are interleaved dword by
    dword. The scalar offset is added last."""
    lanes = f.add(sequence("i64", range(32)), f.splat(f.context(Context.LANE_BASE)))
    added = f.select(buffer.adds_lane, lanes, constant(V64, 0))
    index = f.add(f.resize(f.parameter("index"), 64), added)
    base = f.concat_bits(f.parameter("word0"), f.mask(f.parameter("word1"), 16))
    start, stride = f.splat(f.add(base, f.wide("soffset"))), f.splat(buffer.stride)
    linear = f.add(f.mul(index, stride), offset)
    shift = f.splat(f.resize(f.add(f.field(3, 21, 2), i32(3)), 64))
    group = f.shift("lshr", index, shift)
    in_group = f.sub(index, f.shift("shl", group, shift))
    dword = f.and_(offset, f.const(offset, -_ELEMENT))
    rows = f.shift("shl", f.add(f.mul(group, stride), dword), shift)
    place = f.add(f.shift("shl", in_group, 2), f.mask(offset, 2))
    return f.add(start, f.select(buffer.swizzled, f.add(rows, place), linear))


def _refusal(f: PlaceFunction, buffer: _Buffer, offset: Value, some: Value) -> Value:
    """Return a `BufferRefusal`, or 0 if the access is allowed."""
    size = f.wide("size")
    late = f.compare("ugt", f.add(f.mask(offset, 2), f.splat(size)), f.splat(i64(_ELEMENT)))
    crosses = f.compare("ne", f.and_(f.mask_bits(late), some), i32(0))
    unbound = f.and_(f.compare("eq", f.field(3, 15, 4), i32(0)), f.not_(buffer.adds))
    cases = (
        (BufferRefusal.TYPE, f.compare("ne", f.field(3, 30, 2), i32(0))),
        (BufferRefusal.UNBOUND, unbound),
        (BufferRefusal.SWIZZLED_RECORDS, f.and_(buffer.swizzled, f.not_(buffer.adds))),
        (BufferRefusal.ELEMENT, f.and_(buffer.swizzled, crosses)),
    )
    refusal = i32(0)
    for code, wrong in reversed(cases):
        refusal = f.select(wrong, i32(code), refusal)
    return f.select(f.compare("ne", some, i32(0)), refusal, i32(0))


# Scratch memory through gfx9's private segment buffer.
#
# On a GPU the buffer interleaves the lanes' dwords, so that dword d of lane l is 256 * d + 4 * l
# bytes after the wave's first: the resource adds the lane and swizzles its offset (CDNA 3 ISA,
# "Buffer Addressing"), and the scalar offset, which is added afterwards, counts for 64 lanes. Here
# each lane's scratch memory is contiguous; an access becomes one of the private aperture, where
# flat and scratch instructions find the same memory.


PRIVATE_PLACE = "aj_private_place"
_LANES = 64
# SWIZZLE_ENABLE in dword 1 and ADD_TID_ENABLE in dword 3 (CDNA 3 ISA, "Buffer Resource
# Descriptor").
_SWIZZLED, _ADDS_LANE = 1 << 31, 1 << 23
# A dword of each lane, between which offsets of the whole wave must point.
_ROW_BITS, _LANE_BITS = 8, 6


def private_place_text(attributes: str) -> str:
    """Return the function: what `aj_buffer_place_gfx9` does, for scratch memory and all other
    buffers. The addresses are flat ones."""
    f = NativeFunction(PRIVATE_PLACE, "i32", PARAMETERS)
    marks = [
        f.compare("ne", f.and_(f.parameter(word), i32(bit)), i32(0))
        for word, bit in (("word1", _SWIZZLED), ("word3", _ADDS_LANE))
    ]
    base = f.concat_bits(f.parameter("word0"), f.mask(f.parameter("word1"), 16))
    scratch = f.compare("uge", base, i64(SCRATCH_BASE))
    f.branch_if(f.and_(scratch, f.and_(*marks)), "private", "other")
    f.label("other")
    f.give(f.call(GFX9_PLACE, "i32", [f.parameter(name) for _, name in PARAMETERS]))
    f.label("private")
    start = _wave_offset(f, base)
    indexed = f.compare("ne", f.and_(f.parameter("flags"), i32(INDEXED)), i32(0))
    uneven = f.compare("ne", f.mask(start, _ROW_BITS), i64(0))
    f.branch_if(f.or_(indexed, uneven), "refused", "allowed")
    f.label("refused")
    kind, reason = i32(FaultKind.BUFFER), i64(BufferRefusal.PRIVATE)
    context, site = f.parameter("context"), f.parameter("site")
    f.call_void("aj_fault", [context, kind, site, i64(-1), reason, i32(0)])
    f.give(i32(0))
    f.label("allowed")
    own = f.add(f.parameter("ioffset"), f.resize(f.shift("ashr", start, _LANE_BITS), 32))
    out, execution = f.parameter("out"), f.parameter("exec")
    f.store(f.add(f.parameter("offset"), f.splat(own)), out, 64)
    f.store(f.splat(i32(PRIVATE_APERTURE_HIGH)), f.offset(out, HIGH_OFFSET), 64)
    for part in range(4):
        f.store(execution, f.offset(out, MASKS_OFFSET + 4 * part), 4)
    f.give(execution)
    return f.text(attributes)


def _wave_offset(f: NativeFunction, base: Value) -> Value:
    """Return the bytes from the start of the wave's scratch memory on that all lanes have in
    common."""
    lane_bytes = f.context(Context.SCRATCH_LANE_BYTES)
    distance = f.mul(f.context(Context.WAVE), f.mul(lane_bytes, i64(_LANES)))
    first = f.add(i64(SCRATCH_BASE), distance)
    return f.add(f.sub(base, first), f.resize(f.parameter("soffset"), 64))
