"""What lanes read from lanes that are off, because they took another branch: 0.

`ds_bpermute_b32` and moves with DPP look at EXEC, but LLVM puts a constant, or a value that it
finds to be the same in all lanes, in the place of the whole exchange, or takes the result for one
that is the same in all lanes (UniformityAnalysis knows nothing of lanes that are off).
`v_readlane_b32` and `v_permlane64_b32` take what the register of such a lane holds, whatever that
is, and `v_writelane_b32` overwrites it (RDNA4 ISA, "EXECute Mask" and these instructions).
"""

from __future__ import annotations

from typing import Any

from amdjit.declarations import EmitContext
from amdjit.types import boolean, i32, i64

__all__ = ["lane_number", "of_active_lane", "of_active_partner"]


def of_active_lane(context: EmitContext, word: Any, lane: Any) -> Any:
    """Return a word that was read from the lane, whose number is the same in all lanes."""
    if context.has_all_lanes:
        return word
    builder, mask = context.builder, _active(context)
    place = builder.and_(lane, context.constant(i32, context.wavefront_size - 1))
    if mask.type != place.type:
        place = builder.zext(place, mask.type)
    is_on = builder.trunc(builder.lshr(mask, place), context.llvm_type(boolean))
    return builder.select(is_on, word, context.constant(i32, 0))


def of_active_partner(context: EmitContext, word: Any) -> Any:
    """Return a word that was read from the lane 32 places away."""
    if context.has_all_lanes:
        return word
    mask = _active(context)
    swapped = context.call("llvm.fshl.i64", mask.type, [mask, mask, context.constant(i64, 32)])
    is_on = context.call("llvm.amdgcn.inverse.ballot.i64", context.llvm_type(boolean), [swapped])
    return context.builder.select(is_on, word, context.constant(i32, 0))


def lane_number(context: EmitContext, zero: Any = None) -> Any:
    """Return the lane's number in its wave. zero: a value that is 0, of which it is computed."""
    word, every = context.llvm_type(i32), context.constant(i32, -1)
    zero = context.constant(i32, 0) if zero is None else zero
    low = context.call("llvm.amdgcn.mbcnt.lo", word, [every, zero])
    if context.wavefront_size == 32:
        return low
    return context.call("llvm.amdgcn.mbcnt.hi", word, [every, low])


def _active(context: EmitContext) -> Any:
    """Return the mask of the lanes that are on."""
    type = i64 if context.wavefront_size == 64 else i32
    name = f"llvm.amdgcn.ballot.i{type.bits}"
    return context.call(name, context.llvm_type(type), [context.constant(boolean, True)])
