"""Exchange of values between the lanes of a wave, without LDS memory or barriers.

Sources: LLVM AMDGPU guide, "LLVM IR Intrinsics"; RDNA4 ISA, `ds_bpermute_b32`, `v_readlane_b32`,
`v_mbcnt`. The reference models take whole waves: an array with one row per lane.
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from amdjit.declarations import (
    Emit,
    EmitContext,
    Form,
    LlvmCall,
    SpecialForm,
    device_function,
    intrinsic,
)
from amdjit.intrinsics.builtins.irregular import differing
from amdjit.intrinsics.builtins.table import row_of
from amdjit.intrinsics.lanes.active_lanes import lane_number, of_active_lane
from amdjit.intrinsics.lanes.dpp import (
    by_words,
    dpp,
    permlane16,
    permlane64,
    permlanex16,
    permute8,
    quad_perm,
    row_half_mirror,
    row_mirror,
    row_ror,
    row_share,
    row_shl,
    row_shr,
    row_xmask,
    swizzle,
    writelane,
)
from amdjit.intrinsics.lanes.reduce import (
    exclusive_scan,
    inclusive_scan,
    reduce,
    segmented_exclusive_scan,
    segmented_inclusive_scan,
)
from amdjit.intrinsics.numbers.integers import clz, ctz
from amdjit.intrinsics.type_variables import LANE_VALUE
from amdjit.intrinsics.workitem import emit_lane_id, lane_id, wave_id, wavefront_size
from amdjit.language.compile_time import Compilation, compile_time
from amdjit.target import TARGETS
from amdjit.types import Immediate, bf16, boolean, i32, u8, u16, u32, u64

__all__ = [
    "all",
    "any",
    "ballot",
    "ballot64",
    "broadcast",
    "dpp",
    "exclusive_scan",
    "inclusive_scan",
    "lane_id",
    "match_all",
    "match_any",
    "permlane16",
    "permlane64",
    "permlanex16",
    "permute",
    "permute8",
    "quad_perm",
    "readfirstlane",
    "readlane",
    "reduce",
    "reduce_add",
    "reduce_max",
    "reduce_min",
    "row_half_mirror",
    "row_mirror",
    "row_ror",
    "row_share",
    "row_shl",
    "row_shr",
    "row_xmask",
    "segmented_exclusive_scan",
    "segmented_inclusive_scan",
    "segmented_reduce",
    "shuffle",
    "shuffle_down",
    "shuffle_up",
    "shuffle_xor",
    "swap_in_rows",
    "swap_rows",
    "swizzle",
    "wave_id",
    "wavefront_size",
    "writelane",
]

_bitcast = SpecialForm(Form.BITCAST, "the same bits read as another type")
_ROW_XMASK = 0x160
Width = Annotated[int, Immediate(1, 64, (1, 2, 4, 8, 16, 32, 64))]
# From gfx10 on, processors have instructions that exchange lanes within and between rows; gfx9
# lacks them.
_RDNA = row_of("permlanex16").targets
_HALF_WIDE = tuple(target.name for target in TARGETS if not target.has_wave_wide_permutes)


def _emit_shuffle(context: EmitContext, value: Any, lane: Any, width: int) -> Any:
    if width < context.wavefront_size:
        within = context.builder.and_(lane, context.constant(i32, width - 1))
        lane = context.builder.or_(
            context.builder.and_(emit_lane_id(context), context.constant(i32, -width)), within
        )
    # A byte address: RDNA4 ISA, "DS_BPERMUTE_B32".
    address = context.builder.shl(lane, context.constant(i32, 2))
    return by_words(context, value, lambda part: emit_bpermute(context, address, part, width))


def _emit_permute(context: EmitContext, value: Any, lane: Any) -> Any:
    address = context.builder.shl(lane, context.constant(i32, 2))
    word = context.llvm_type(i32)

    def send(part: Any) -> Any:
        part = differing(context, part)
        return context.call("llvm.amdgcn.ds.permute", word, [address, part])

    return by_words(context, value, send)


def _emit_readlane(context: EmitContext, value: Any, lane: Any) -> Any:
    word = context.llvm_type(i32)
    # What is computed from the number is scalar, too.
    lane = context.call("llvm.amdgcn.readfirstlane.i32", word, [lane])

    def read(part: Any) -> Any:
        taken = context.call("llvm.amdgcn.readlane.i32", word, [part, lane])
        return of_active_lane(context, taken, lane)

    return by_words(context, value, read)


def _emit_readfirstlane(context: EmitContext, value: Any) -> Any:
    word = context.llvm_type(i32)
    return by_words(
        context, value, lambda part: context.call("llvm.amdgcn.readfirstlane.i32", word, [part])
    )


def _emit_swap_in_rows(context: EmitContext, value: Any, mask: int) -> Any:
    word, zero = context.llvm_type(i32), context.constant(i32, 0)
    # ROW_XMASK of all rows and banks, 0 for lanes that are inactive: RDNA4 ISA, "DPP16".
    every, yes = context.constant(i32, 0xF), context.constant(boolean, True)
    control = context.constant(i32, _ROW_XMASK + mask)

    def swap(part: Any) -> Any:
        return context.call(
            "llvm.amdgcn.update.dpp.i32", word, [zero, part, control, every, every, yes]
        )

    return by_words(context, value, swap)


def _emit_swap_rows(context: EmitContext, value: Any) -> Any:
    word = context.llvm_type(i32)
    no, yes = context.constant(boolean, False), context.constant(boolean, True)
    # Lane i of a row takes lane i of its neighbour row: one four-bit selector per lane.
    lanes = [context.constant(i32, 0x76543210), context.constant(i32, 0xFEDCBA98 - 2**32)]

    def swap(part: Any) -> Any:
        return context.call("llvm.amdgcn.permlanex16.i32", word, [part, part, *lanes, no, yes])

    return by_words(context, value, swap)


@intrinsic(Emit(_emit_swap_in_rows), isa="row_xmask", targets=_RDNA, alternative="wave.shuffle_xor")
def swap_in_rows(value: LANE_VALUE, mask: Annotated[int, Immediate(1, 15)]) -> LANE_VALUE:
    """Return the value of the lane whose number differs in the constant bits `mask`, 1 to 15,
    without the LDS hardware.

    `shuffle_xor` in one cycle, often as part of the instruction that uses it
    (`llvm.amdgcn.update.dpp`, ROW_XMASK).
    """
    return np.asarray(value)[np.arange(np.shape(value)[0]) ^ mask]


@intrinsic(
    Emit(_emit_swap_rows), isa="v_permlanex16_b32", targets=_RDNA, alternative="wave.shuffle_xor"
)
def swap_rows(value: LANE_VALUE) -> LANE_VALUE:
    """Return the value of the lane whose number differs by 16 (`llvm.amdgcn.permlanex16`)."""
    return np.asarray(value)[np.arange(np.shape(value)[0]) ^ 16]


@intrinsic(Emit(_emit_shuffle), isa="ds_bpermute_b32")
def shuffle(value: LANE_VALUE, lane: i32, width: Width = 64) -> LANE_VALUE:
    """Return the value of another lane, chosen by each lane, modulo the wave size
    (`llvm.amdgcn.ds.bpermute`).

    Inactive lanes supply 0. width: size of the groups in which lanes are numbered from 0, a power
    of two.
    """
    count = np.shape(value)[0]
    own, width = np.arange(count), min(width, count)
    return np.take(value, own - own % width + np.mod(lane, width), axis=0)


@intrinsic(
    Emit(_emit_permute),
    isa="ds_permute_b32",
    wave32_targets=_HALF_WIDE,
    alternative="wave.shuffle",
)
def permute(value: LANE_VALUE, lane: i32) -> LANE_VALUE:
    """Send the value to another lane, modulo the wave size; lanes that nothing is sent to get 0
    (`llvm.amdgcn.ds.permute`).

    If several lanes send to the same lane, the highest one's value arrives. On RDNA 2 and 3 only in
    waves of 32 lanes: their instruction does not leave a half of a wave64.
    """
    value = np.asarray(value)
    result: Any = np.zeros_like(value)
    for source, target in enumerate(np.broadcast_to(lane, len(value)).tolist()):
        result[target % len(value)] = value[source]
    return result


@intrinsic(Emit(_emit_readlane), isa="v_readlane_b32")
def readlane(value: LANE_VALUE, lane: i32) -> LANE_VALUE:
    """Return one lane's value in all lanes; the lane number must be the same in all
    (`llvm.amdgcn.readlane`)."""
    value = np.asarray(value)
    return np.broadcast_to(value[int(np.ravel(lane)[0]) % len(value)], value.shape)


@intrinsic(Emit(_emit_readfirstlane), isa="v_readfirstlane_b32")
def readfirstlane(value: LANE_VALUE) -> LANE_VALUE:
    """Return the first active lane's value in all lanes, in scalar registers
    (`llvm.amdgcn.readfirstlane`)."""
    return np.broadcast_to(np.asarray(value)[0], np.shape(value))


@intrinsic(
    LlvmCall("llvm.amdgcn.ballot.i32"), isa="v_cmp", wave_sizes=(32,), alternative="wave.ballot64"
)
def ballot(predicate: boolean) -> u32:
    """Return one bit per lane, set where the lane is active and the predicate true
    (`__builtin_amdgcn_ballot_w32`)."""
    return np.full(32, _mask(predicate), np.uint32)


@intrinsic(LlvmCall("llvm.amdgcn.ballot.i64"), isa="v_cmp")
def ballot64(predicate: boolean) -> u64:
    """Return one bit per lane, in either wave size; wave32 leaves the upper half 0
    (`__builtin_amdgcn_ballot_w64`)."""
    return np.full(np.shape(predicate)[0], _mask(predicate), np.uint64)


def _mask(predicate: Any) -> int:
    return sum(1 << int(lane) for lane in np.flatnonzero(predicate))


@device_function
def any(predicate):
    """Return whether the predicate is true in at least one active lane."""
    return ballot64(bool(predicate)) != 0


@device_function
def all(predicate):
    """Return whether the predicate is true in every active lane."""
    return ballot64(not predicate) == 0


@device_function
def match_any(value):
    """Return, as `ballot64`, the active lanes whose value has the same bits as this lane's.

    Takes one iteration of a loop per distinct value.
    """
    bits = _bits(value)
    found = u64(0)
    pending = True
    while pending:
        if bits == readfirstlane(bits):
            found = ballot64(True)
            pending = False
    return found


@device_function
def match_all(value):
    """Return whether the values of all active lanes have the same bits."""
    bits = _bits(value)
    return all(bits == readfirstlane(bits))


@compile_time
def _is_constant(compilation: Compilation, value: Any) -> bool:
    """Return whether a value is known when compiling: it has no type of its own."""
    return value is None or isinstance(value, (bool, int, float, complex, str))


@device_function
def _bits(value):
    if _is_constant(value):
        return readfirstlane(value)
    if isinstance(value, np.float64):
        return _bitcast(value, u64)
    if isinstance(value, np.float32):
        return _bitcast(value, u32)
    if isinstance(value, np.float16):
        return _bitcast(value, u16)
    if value.dtype == bf16:
        return _bitcast(value, u16)
    if value.dtype.storage_only:
        return _bitcast(value, u8)
    return value


@device_function
def broadcast(value, lane):
    """Return one lane's value in all lanes; the lane number is the first active lane's. See
    `readlane`."""
    return readlane(value, readfirstlane(lane))


@device_function
def shuffle_xor(value, mask):
    """Return the value of the lane whose number differs in the bits of `mask`; masks below 16 stay
    within groups of 16 lanes."""
    return shuffle(value, lane_id() ^ mask)


@device_function
def shuffle_up(value, delta, width=64):
    """Return the value of the lane `delta` below; the lowest lanes keep their own. width: see
    `shuffle`."""
    lane = lane_id()
    source = (lane & (width - 1)) - delta
    return shuffle(value, source if source >= 0 else lane, width)


@device_function
def shuffle_down(value, delta, width=64):
    """Return the value of the lane `delta` above; the highest lanes keep their own. width: see
    `shuffle`."""
    lane = lane_id()
    source = (lane & (width - 1)) + delta
    return shuffle(value, source if source < width and source < wavefront_size else lane, width)


@device_function
def segmented_reduce(value, head, operation="add"):
    """Return the combination of this lane's segment, in all its active lanes. See
    `segmented_inclusive_scan`."""
    above = (ballot64(head) >> u64(lane_id())) >> u64(1)
    here = ballot64(True)
    if above != 0:
        here &= (u64(2) << u64(lane_id()) << ctz(above)) - u64(1)
    return shuffle(segmented_inclusive_scan(value, head, operation), i32(63 - clz(here)))


@device_function
def reduce_add(value):
    """Return the sum over the active lanes of the wave, in all of them: `reduce(value, "add")`."""
    return reduce(value, "add")


@device_function
def reduce_max(value):
    """Return the largest value of the active lanes of the wave, in all of them: `reduce(value,
    "maximum")`."""
    return reduce(value, "maximum")


@device_function
def reduce_min(value):
    """Return the smallest value of the active lanes of the wave, in all of them: `reduce(value,
    "minimum")`."""
    return reduce(value, "minimum")


# Exchanges between all lanes of a wave64 on processors whose `ds_bpermute_b32` stays in a half.
#
# Sources: RDNA 3 ISA, DS_BPERMUTE_B32 and V_PERMLANE64_B32; LLVM AMDGPU guide, "LLVM IR Intrinsics"
# (`set.inactive`, `strict.wwm`).

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
