"""Exchanges between all lanes of a wave64 on processors whose `ds_bpermute_b32` stays in a half.

Sources: RDNA 3 ISA, DS_BPERMUTE_B32 and V_PERMLANE64_B32; LLVM AMDGPU guide, "LLVM IR Intrinsics"
(`set.inactive`, `strict.wwm`).
"""

from __future__ import annotations

from typing import Any

from amdjit.declarations import EmitContext
from amdjit.intrinsics.builtins.irregular import differing
from amdjit.intrinsics.builtins.table import row_of
from amdjit.intrinsics.lanes.active_lanes import lane_number
from amdjit.types import i32

__all__ = ["emit_bpermute"]

_HALVES = row_of("permlane64").targets
_HALF, _WAVE = 32, 64


def emit_bpermute(context: EmitContext, address: Any, word: Any, width: int) -> Any:
    """Emit the word of another lane, 0 for an inactive one.

    address: the lane's number times 4. width: lanes of the groups that exchange.

    Where a half of the wave does not reach the other, each lane asks both: in whole-wave mode the
    halves change places, so that all values are there, whichever lanes are active.
    """
    has_all = context.target.has_wave_wide_permutes or context.wavefront_size <= _HALF
    if has_all or width <= _HALF:
        if context.has_all_lanes:
            return _bpermute(context, address, word)
        # LLVM would read a lane's register where its number is the same for all lanes.
        return _bpermute(context, context.opaque(address), context.opaque(word))
    zero = context.constant(i32, 0)
    every = differing(context, _in_all(context, context.opaque(word)))
    # LLVM would compute the address in all lanes from its beginnings, and thereby in both sides of
    # branches that choose it (SIWholeQuadMode).
    place = _in_all(context, address)
    near = _of_active(context, _bpermute(context, place, every))
    far = _of_active(context, _bpermute(context, place, _exchanged(context, every)))
    own = context.builder.shl(lane_number(context), context.constant(i32, 2))
    way = context.builder.xor(address, own)
    crosses = context.builder.and_(way, context.constant(i32, 4 * _HALF))
    return context.builder.select(context.builder.icmp_signed("!=", crosses, zero), far, near)


def _bpermute(context: EmitContext, address: Any, word: Any) -> Any:
    return context.call("llvm.amdgcn.ds.bpermute", word.type, [address, word])


def _in_all(context: EmitContext, word: Any) -> Any:
    """Return the word for whole-wave mode, 0 in lanes that are off."""
    zero = context.constant(i32, 0)
    return context.call("llvm.amdgcn.set.inactive.i32", word.type, [word, zero])


def _of_active(context: EmitContext, word: Any) -> Any:
    return context.call("llvm.amdgcn.strict.wwm.i32", word.type, [word])


def _exchanged(context: EmitContext, word: Any) -> Any:
    """Return the word of the lane 32 places away."""
    if context.target.name in _HALVES:
        return context.call("llvm.amdgcn.permlane64.i32", word.type, [word])
    result = word
    for number in range(_WAVE):
        source, place = (context.constant(i32, n) for n in (number ^ _HALF, number))
        value = context.call("llvm.amdgcn.readlane.i32", word.type, [word, source])
        result = context.call("llvm.amdgcn.writelane.i32", word.type, [value, place, result])
    return result
