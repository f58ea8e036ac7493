"""Scratch memory through gfx9's private segment buffer.

On a GPU the buffer interleaves the lanes' dwords, so that dword d of lane l is 256 * d + 4 * l
bytes after the wave's first: the resource adds the lane and swizzles its offset (CDNA 3 ISA,
"Buffer Addressing"), and the scalar offset, which is added afterwards, counts for 64 lanes. Here
each lane's scratch memory is contiguous; an access becomes one of the private aperture, where flat
and scratch instructions find the same memory.
"""

from __future__ import annotations

from amdjit.emulator.host.builder import Value
from amdjit.emulator.host.function import NativeFunction, i32, i64
from amdjit.emulator.instructions.buffers.addresses import (
    HIGH_OFFSET,
    INDEXED,
    MASKS_OFFSET,
    PARAMETERS,
)
from amdjit.emulator.instructions.buffers.gfx9_addresses import GFX9_PLACE
from amdjit.emulator.layout import (
    PRIVATE_APERTURE_HIGH,
    SCRATCH_BASE,
    BufferRefusal,
    Context,
    FaultKind,
)

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
