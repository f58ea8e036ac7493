"""Exchanges between lanes in a pattern that is part of the instruction: DPP, row permutations,
swizzles.

A row is 16 lanes. A DPP pattern costs no instruction where it can be folded into the instruction
that uses the value.

Sources: LLVM AMDGPU guide, "LLVM IR Intrinsics"; RDNA4 ISA, "DPP16", "DPP8", `v_permlane16_b32`,
`ds_swizzle_b32`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Annotated, Any

import numpy as np

from amdjit.declarations import Emit, EmitContext, intrinsic
from amdjit.intrinsics.builtins.irregular import moved_of_eight
from amdjit.intrinsics.builtins.table import row_of
from amdjit.intrinsics.lanes.active_lanes import lane_number, of_active_partner
from amdjit.intrinsics.type_variables import LANE_VALUE
from amdjit.types import Immediate, Scalar, Vector, boolean, i16, i32, u8, u32

__all__ = [
    "by_words",
    "dpp",
    "permlane16",
    "permlane64",
    "permlanex16",
    "permute8",
    "quad_perm",
    "row_half_mirror",
    "row_mirror",
    "row_ror",
    "row_share",
    "row_shl",
    "row_shr",
    "row_xmask",
    "swizzle",
    "writelane",
]


# gfx10 and later have row_share, row_xmask, DPP8 and the row permutations; gfx11 and later exchange
# halves. The other patterns of rows are also gfx9's (CDNA3 ISA, "DPP").
_RDNA = row_of("permlanex16").targets
_HALVES = row_of("permlane64").targets
_ROW_SHL, _ROW_SHR, _ROW_ROR, _MIRROR, _HALF_MIRROR, _SHARE, _XMASK = (
    0x100,
    0x110,
    0x120,
    0x140,
    0x141,
    0x150,
    0x160,
)
_CONTROLS = (
    *range(0x100),
    *(base + count for base in (_ROW_SHL, _ROW_SHR, _ROW_ROR) for count in range(1, 16)),
    _MIRROR,
    _HALF_MIRROR,
    *range(_SHARE, _XMASK + 16),
)

Control = Annotated[int, Immediate(0, 0x16F, _CONTROLS)]
Mask = Annotated[int, Immediate(0, 15)]
Flag = Annotated[bool, Immediate(0, 1)]
Quad = Annotated[int, Immediate(0, 3)]
Eight = Annotated[int, Immediate(0, 7)]
Count = Annotated[int, Immediate(1, 15)]
Lane = Annotated[int, Immediate(0, 15)]
Five = Annotated[int, Immediate(0, 31)]


def _word(context: EmitContext, value: int) -> Any:
    return context.constant(i32, value)


def _emit_dpp(
    context: EmitContext, old: Any, value: Any, control: int, rows: int, banks: int, zero: bool
) -> Any:
    word = context.llvm_type(i32)
    constants = [
        _word(context, control),
        _word(context, rows),
        _word(context, banks),
        context.constant(boolean, zero),
    ]

    def move(kept: Any, part: Any) -> Any:
        return context.call("llvm.amdgcn.update.dpp.i32", word, [kept, part, *constants])

    return by_words_of_two(context, old, value, move)


def _emit_moved(context: EmitContext, value: Any, control: int) -> Any:
    word, zero = context.llvm_type(i32), _word(context, 0)
    constants = [
        _word(context, control),
        _word(context, 15),
        _word(context, 15),
        context.constant(boolean, True),
    ]
    return by_words(
        context,
        value,
        lambda part: context.call("llvm.amdgcn.update.dpp.i32", word, [zero, part, *constants]),
    )


def _emit_quad_perm(context: EmitContext, value: Any, *lanes: int) -> Any:
    return _emit_moved(context, value, sum(lane << (2 * place) for place, lane in enumerate(lanes)))


def _emit_row_shl(context: EmitContext, value: Any, count: int) -> Any:
    return _emit_moved(context, value, _ROW_SHL + count)


def _emit_row_shr(context: EmitContext, value: Any, count: int) -> Any:
    return _emit_moved(context, value, _ROW_SHR + count)


def _emit_row_ror(context: EmitContext, value: Any, count: int) -> Any:
    return _emit_moved(context, value, _ROW_ROR + count)


def _emit_row_share(context: EmitContext, value: Any, lane: int) -> Any:
    return _emit_moved(context, value, _SHARE + lane)


def _emit_row_xmask(context: EmitContext, value: Any, mask: int) -> Any:
    return _emit_moved(context, value, _XMASK + mask)


def _emit_row_mirror(context: EmitContext, value: Any) -> Any:
    return _emit_moved(context, value, _MIRROR)


def _emit_row_half_mirror(context: EmitContext, value: Any) -> Any:
    return _emit_moved(context, value, _HALF_MIRROR)


def _emit_permute8(context: EmitContext, value: Any, *lanes: int) -> Any:
    selectors = sum(lane << (3 * place) for place, lane in enumerate(lanes))
    return by_words(context, value, lambda part: moved_of_eight(context, part, selectors))


def _emit_permlane(context: EmitContext, value: Any, low: Any, high: Any, name: str) -> Any:
    word = context.llvm_type(i32)
    # Lanes that are off supply 0: RDNA4 ISA, "V_PERMLANE16_B32", bound_ctrl.
    no, yes = context.constant(boolean, False), context.constant(boolean, True)
    return by_words(
        context, value, lambda part: context.call(name, word, [part, part, low, high, no, yes])
    )


def _emit_permlane16(context: EmitContext, value: Any, low: Any, high: Any) -> Any:
    return _emit_permlane(context, value, low, high, "llvm.amdgcn.permlane16.i32")


def _emit_permlanex16(context: EmitContext, value: Any, low: Any, high: Any) -> Any:
    return _emit_permlane(context, value, low, high, "llvm.amdgcn.permlanex16.i32")


def _emit_permlane64(context: EmitContext, value: Any) -> Any:
    word = context.llvm_type(i32)

    def exchange(part: Any) -> Any:
        taken = context.call("llvm.amdgcn.permlane64.i32", word, [part])
        return of_active_partner(context, taken)

    return by_words(context, value, exchange)


def _emit_swizzle(
    context: EmitContext, value: Any, and_mask: int, or_mask: int, xor_mask: int
) -> Any:
    word, pattern = context.llvm_type(i32), _word(context, xor_mask << 10 | or_mask << 5 | and_mask)
    return by_words(
        context, value, lambda part: context.call("llvm.amdgcn.ds.swizzle", word, [part, pattern])
    )


def _emit_writelane(context: EmitContext, old: Any, value: Any, lane: Any) -> Any:
    builder, word = context.builder, context.llvm_type(i32)
    if context.has_all_lanes:

        def write(kept: Any, part: Any) -> Any:
            return context.call("llvm.amdgcn.writelane.i32", word, [part, lane, kept])

    else:
        # The instruction also writes to a lane that is off, whose register may hold another value.
        place = builder.and_(lane, _word(context, context.wavefront_size - 1))
        is_there = builder.icmp_signed("==", lane_number(context), place)

        def write(kept: Any, part: Any) -> Any:
            part = context.call("llvm.amdgcn.readfirstlane.i32", word, [part])
            return builder.select(is_there, part, kept)

    return by_words_of_two(context, old, value, write)


def _from(value: Any, source: Any) -> Any:
    """Return each lane's value from another lane, 0 where the source is negative."""
    value, source = np.asarray(value), np.asarray(source)
    taken = value[np.maximum(source, 0)]
    return np.where((source >= 0).reshape(-1, *[1] * (value.ndim - 1)), taken, np.zeros_like(value))


def _in_rows(value: Any, place: Any, size: int = 16) -> Any:
    """Return values by their place in the lane's own row; 0 for places outside it."""
    lane = np.arange(np.shape(value)[0])
    places = np.broadcast_to(place(lane % size), lane.shape)
    return _from(value, np.where((places >= 0) & (places < size), lane - lane % size + places, -1))


def _by_selectors(value: Any, low: Any, high: Any, other: int) -> Any:
    lane = np.arange(np.shape(value)[0])
    bits = int(np.ravel(high)[0]) % 2**32 << 32 | int(np.ravel(low)[0]) % 2**32
    chosen = np.array([bits >> (4 * int(place)) & 15 for place in lane % 16])
    return np.asarray(value)[(lane - lane % 16 ^ other) + chosen]


@intrinsic(Emit(_emit_dpp), isa="quad_perm", targets=_RDNA, alternative="wave.shuffle")
def dpp(
    old: LANE_VALUE,
    value: LANE_VALUE,
    control: Control,
    row_mask: Mask = 15,
    bank_mask: Mask = 15,
    zero: Flag = False,
) -> LANE_VALUE:
    """Move values by a DPP control (`llvm.amdgcn.update.dpp`): `old` stays in rows and banks that
    are masked out.

    control: 0..0xff quad_perm, 0x100 + n row_shl, 0x110 + n row_shr, 0x120 + n row_ror, 0x140
    row_mirror, 0x141 row_half_mirror, 0x150 + n row_share, 0x160 + n row_xmask. row_mask,
    bank_mask: a bit for each row of 16 and each bank of 4 lanes. zero: lanes without a source
    become 0, not `old`.
    """
    old, value = np.asarray(old), np.asarray(value)
    lane = np.arange(len(value))
    source = _dpp_source(lane, control)
    taken = _from(value, source)
    chosen = (row_mask >> lane // 16 % 4 & bank_mask >> lane % 16 // 4 & 1) == 1
    chosen &= (source >= 0) | zero
    return np.where(chosen.reshape(-1, *[1] * (value.ndim - 1)), taken, old)


def _dpp_source(lane: Any, control: int) -> Any:
    """Return the source lane of each lane under a DPP control; -1 where it is outside the row."""
    place, count = lane % 16, control % 16
    kind = control - count
    if control < 0x100:
        return lane - lane % 4 + (control >> 2 * (lane % 4) & 3)
    if kind in (_ROW_SHL, _ROW_SHR):
        wanted = place + count if kind == _ROW_SHL else place - count
        return np.where((wanted >= 0) & (wanted < 16), lane - place + wanted, -1)
    within = {
        _ROW_ROR: (place - count) % 16, _MIRROR: place ^ (7 if count else 15), _SHARE: place * 0 +
        count, _XMASK: place ^ count,
    }  # fmt: skip
    return lane - place + within[kind]


@intrinsic(Emit(_emit_quad_perm), isa="quad_perm")
def quad_perm(
    value: LANE_VALUE, first: Quad, second: Quad, third: Quad, fourth: Quad
) -> LANE_VALUE:
    """Return values permuted within groups of four lanes. The arguments are the source, 0..3, of
    each lane (DPP `quad_perm`)."""
    lanes = np.array((first, second, third, fourth))
    return _in_rows(value, lambda place: lanes[place], 4)


@intrinsic(Emit(_emit_row_shl), isa="row_shl")
def row_shl(value: LANE_VALUE, count: Count) -> LANE_VALUE:
    """Return the value `count` lanes above in the row, 0 past its end (DPP `row_shl`)."""
    return _in_rows(value, lambda place: place + count)


@intrinsic(Emit(_emit_row_shr), isa="row_shr")
def row_shr(value: LANE_VALUE, count: Count) -> LANE_VALUE:
    """Return the value `count` lanes below in the row, 0 before its start (DPP `row_shr`)."""
    return _in_rows(value, lambda place: place - count)


@intrinsic(Emit(_emit_row_ror), isa="row_ror")
def row_ror(value: LANE_VALUE, count: Count) -> LANE_VALUE:
    """Return the value `count` lanes below, wrapping around within the row (DPP `row_ror`)."""
    return _in_rows(value, lambda place: (place - count) % 16)


@intrinsic(Emit(_emit_row_share), isa="row_share", targets=_RDNA, alternative="wave.shuffle")
def row_share(value: LANE_VALUE, lane: Lane) -> LANE_VALUE:
    """Return the value of one lane of the row, in all lanes of the row (DPP `row_share`)."""
    return _in_rows(value, lambda place: np.full_like(place, lane))


@intrinsic(Emit(_emit_row_xmask), isa="row_xmask", targets=_RDNA, alternative="wave.shuffle_xor")
def row_xmask(value: LANE_VALUE, mask: Count) -> LANE_VALUE:
    """Return the value of the lane whose number differs in the bits `mask` (DPP `row_xmask`)."""
    return _in_rows(value, lambda place: place ^ mask)


@intrinsic(Emit(_emit_row_mirror), isa="row_mirror")
def row_mirror(value: LANE_VALUE) -> LANE_VALUE:
    """Return the row's values in reverse order (DPP `row_mirror`)."""
    return _in_rows(value, lambda place: 15 - place)


@intrinsic(Emit(_emit_row_half_mirror), isa="row_half_mirror")
def row_half_mirror(value: LANE_VALUE) -> LANE_VALUE:
    """Return the values of each half of a row in reverse order (DPP `row_half_mirror`)."""
    return _in_rows(value, lambda place: 7 - place, 8)


@intrinsic(Emit(_emit_permute8), isa="dpp8", targets=_RDNA, alternative="wave.shuffle")
def permute8(
    value: LANE_VALUE,
    a: Eight,
    b: Eight,
    c: Eight,
    d: Eight,
    e: Eight,
    f: Eight,
    g: Eight,
    h: Eight,
) -> LANE_VALUE:
    """Return values permuted within groups of eight lanes. The arguments are the source, 0..7, of
    each lane (`llvm.amdgcn.mov.dpp8`)."""
    lanes = np.array((a, b, c, d, e, f, g, h))
    return _in_rows(value, lambda place: lanes[place], 8)


@intrinsic(
    Emit(_emit_permlane16), isa="v_permlane16_b32", targets=_RDNA, alternative="wave.shuffle"
)
def permlane16(value: LANE_VALUE, low: u32, high: u32) -> LANE_VALUE:
    """Return values permuted within rows: four bits choose each lane's source, those of lanes 0..7
    in `low` (`llvm.amdgcn.permlane16`).

    low, high: the same in all lanes.
    """
    return _by_selectors(value, low, high, 0)


@intrinsic(
    Emit(_emit_permlanex16), isa="v_permlanex16_b32", targets=_RDNA, alternative="wave.shuffle"
)
def permlanex16(value: LANE_VALUE, low: u32, high: u32) -> LANE_VALUE:
    """Return values of the neighbour row, chosen as by `permlane16` (`llvm.amdgcn.permlanex16`)."""
    return _by_selectors(value, low, high, 16)


def _half_exchange(target: str) -> str:
    """Return the remedy for a processor without `permlane64`. Waves of 32 lanes have no other half
    on any processor."""
    return "wave.shuffle_xor(value, 32)"


@intrinsic(
    Emit(_emit_permlane64),
    isa="v_permlane64_b32",
    targets=_HALVES,
    wave_sizes=(64,),
    alternative=_half_exchange,
)
def permlane64(value: LANE_VALUE) -> LANE_VALUE:
    """Return the value of the lane whose number differs by 32 (`llvm.amdgcn.permlane64`)."""
    return np.asarray(value)[np.arange(np.shape(value)[0]) ^ 32]


@intrinsic(Emit(_emit_swizzle), isa="ds_swizzle_b32")
def swizzle(value: LANE_VALUE, and_mask: Five, or_mask: Five, xor_mask: Five) -> LANE_VALUE:
    """Return the value of lane ((lane & and_mask) | or_mask) ^ xor_mask of the same 32 lanes;
    exists on every processor."""
    lane = np.arange(np.shape(value)[0])
    return np.asarray(value)[lane - lane % 32 + ((lane % 32 & and_mask | or_mask) ^ xor_mask)]


@intrinsic(Emit(_emit_writelane), isa="v_writelane_b32")
def writelane(old: LANE_VALUE, value: LANE_VALUE, lane: i32) -> LANE_VALUE:
    """Return `old` with `value` in one lane; value and lane are the same in all lanes
    (`llvm.amdgcn.writelane`)."""
    result: Any = np.array(old)
    result[int(np.ravel(lane)[0]) % len(result)] = np.asarray(value)[0]
    return result


# Operations on 32-bit words, applied to values of any type that lanes exchange.


_NARROW_INTEGERS: Mapping[int, Scalar] = MappingProxyType({1: boolean, 8: u8, 16: i16})


def by_words(context: EmitContext, value: Any, operation: Callable[[Any], Any]) -> Any:
    """Apply an operation on 32-bit words to a value of any lane type, register by register."""
    return _from_words(context, [operation(word) for word in _words(context, value)])


def by_words_of_two(
    context: EmitContext, one: Any, other: Any, operation: Callable[[Any, Any], Any]
) -> Any:
    """Apply an operation on pairs of 32-bit words to two values of the same lane type."""
    pairs = zip(_words(context, one), _words(context, other), strict=True)
    return _from_words(context, [operation(left, right) for left, right in pairs])


def _type(context: EmitContext) -> Scalar | Vector:
    type = context.types[0]
    if not isinstance(type, (Scalar, Vector)):
        raise TypeError(f"{type} does not live in registers")
    return type


def _words(context: EmitContext, value: Any) -> list[Any]:
    type, word = _type(context), context.llvm_type(i32)
    if type.bits < 32:
        narrow = context.llvm_type(_NARROW_INTEGERS[type.bits])
        return [context.builder.zext(context.bitcast(value, narrow), word)]
    if type.bits == 32:
        return [context.bitcast(value, word)]
    words = context.bitcast(value, context.llvm_type(Vector(i32, type.bits // 32)))
    numbers = range(type.bits // 32)
    return [
        context.builder.extract_element(words, context.constant(i32, number)) for number in numbers
    ]


def _from_words(context: EmitContext, words: list[Any]) -> Any:
    type = _type(context)
    result = context.llvm_type(type)
    if type.bits < 32:
        narrow = context.llvm_type(_NARROW_INTEGERS[type.bits])
        return context.bitcast(context.builder.trunc(words[0], narrow), result)
    if type.bits == 32:
        return context.bitcast(words[0], result)
    whole = Vector(i32, type.bits // 32)
    joined = context.undefined(whole)
    for number, word in enumerate(words):
        joined = context.builder.insert_element(joined, word, context.constant(i32, number))
    return context.bitcast(joined, result)
