"""Exchanges of elements between lanes and registers, without LDS: each step swaps two bits of the
elements' places.

The place of an element of a tile is a number: its lane's number, 5 or 6 bits, and its position in
the lane's registers, counted in bits from the lowest bit of the first register. Layouts of
fragments differ only in which bit of a row's or column's number stands at which bit of the place.
One layout therefore becomes another by a permutation of bits, which is a series of swaps. A
transpose of 8 by 8 elements of 16 bits, for example, swaps three bits of the lane's number with
bits 4, 5 and 6 of the position. A swap takes one or two instructions per register: DPP is part of
the instruction that uses it.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from amdjit.declarations import device_function
from amdjit.intrinsics.builtins.table import row_of
from amdjit.intrinsics.lanes.dpp import (
    permlane64,
    permlanex16,
    quad_perm,
    row_half_mirror,
    row_mirror,
    row_ror,
    swizzle,
)
from amdjit.intrinsics.matrix.operands.blocks import Blocks
from amdjit.intrinsics.matrix.transfers.memory import static_range
from amdjit.intrinsics.numbers.integers import perm
from amdjit.intrinsics.wave import lane_id, shuffle_xor, swap_in_rows, swap_rows
from amdjit.language.compile_time import Compilation, compile_time
from amdjit.types import u32

# Selectors of `perm(other, own, ...)`: one word or the other as a whole.
_OWN, _OTHER = 0x03020100, 0x07060504


class Place(NamedTuple):
    """A bit of an element's place: of its lane's number, or of its position in the registers."""

    is_lane: bool
    bit: int


@dataclass(frozen=True)
class Swap:
    """A step: two bits that change places. Bits of the lane's number come first, then lower
    ones."""

    first: Place
    second: Place


def places_of(
    blocks: Blocks,
    rows: int,
    columns: int,
    is_transposed: bool = False,
    element: int | None = None,
) -> dict[Place, tuple[str, int]]:
    """Return what each bit of a tile's places means: ("row", 3) is bit 3 of the row's number.

    rows, columns: of the tile, powers of two, whole blocks; blocks along are neighbours in the
    registers. is_transposed: whether rows and columns are those of the transpose. element: the bits
    of an element, if not the fragment's.
    """
    names = ("row", "column") if blocks.is_left != is_transposed else ("column", "row")
    across, along = (rows, columns) if names[0] == "row" else (columns, rows)
    odd, upper = blocks.steps
    first = _log(element or blocks.access_bytes * 8 // blocks.held)
    stride = _log(blocks.stride)
    lanes_across = _log(blocks.side)
    found = {Place(True, bit): (names[0], bit) for bit in range(lanes_across)}
    if odd:
        found[Place(True, 4)] = (names[1], _log(odd))
    if upper:
        found[Place(True, 5)] = (names[1], _log(upper))
    rest = [
        (names[1], bit)
        for bit in (
            *range(stride, stride + _log(blocks.held)),
            *range(_log(blocks.depth), _log(along)),
        )
    ]
    rest += [(names[0], bit) for bit in range(lanes_across, _log(across))]
    return found | {Place(False, first + bit): name for bit, name in enumerate(rest)}


def _log(power_of_two: int) -> int:
    return power_of_two.bit_length() - 1


def repeated(places: Mapping[Place, tuple[str, int]], words: int) -> dict[Place, tuple[str, int]]:
    """Return the places after all groups of 16 lanes got each other's registers (`repeat_words`).

    words: a lane's registers before that, a power of two.
    """
    found = {place: name for place, name in places.items() if not place.is_lane or place.bit < 4}
    groups = [places[place] for place in (Place(True, 4), Place(True, 5)) if place in places]
    first = 5 + _log(words)
    return found | {Place(False, first + bit): name for bit, name in enumerate(groups)}


def swaps_between(
    source: Mapping[Place, tuple[str, int]],
    target: Mapping[Place, tuple[str, int]],
    within_lanes: bool = False,
) -> tuple[Swap, ...] | None:
    """Return the steps that turn one layout of a tile into another in the fewest instructions; None
    if no steps can. within_lanes: whether a step may swap elements of two words of a lane."""
    lanes = [place for place in target if place.is_lane and source.get(place) != target[place]]
    registers = [place for place in target if not place.is_lane]
    orders = (registers + list(order) for order in itertools.permutations(lanes))
    found = [
        swaps
        for order in orders
        if (swaps := _in_order(source, target, order, within_lanes)) is not None
    ]
    return min(found, key=lambda swaps: sum(map(_cost, swaps)), default=None)


def _in_order(
    source: Mapping[Place, tuple[str, int]],
    target: Mapping[Place, tuple[str, int]],
    order: list[Place],
    within_lanes: bool,
) -> tuple[Swap, ...] | None:
    """Put the right bit into each place in turn."""
    least = 3 if within_lanes else 5
    now, swaps = dict(source), []
    if set(now.values()) != set(target.values()):
        return None
    for place in order:
        found = next(where for where, name in now.items() if name == target[place])
        if found == place:
            continue
        if not (place.is_lane or found.is_lane) and (
            min(place.bit, found.bit) < least or max(place.bit, found.bit) < 5
        ):
            return None
        now[place], now[found] = now[found], now[place]
        swaps.append(Swap(*sorted((place, found), key=lambda each: (not each.is_lane, each.bit))))
    return tuple(swaps)


def _cost(swap: Swap) -> int:
    """Return approximately how many instructions a step takes per register."""
    if not swap.first.is_lane:
        return int(swap.first.bit < 5)
    return 1 + (swap.first.bit > 3) + (swap.second.is_lane and swap.second.bit > 3)


@device_function
def exchange(words, swaps):
    """Move the elements of a tile. words: the lane's registers, a local array of u32."""
    for number in static_range(len(swaps)):
        first, second = swaps[number].first, swaps[number].second
        if not first.is_lane and first.bit < 5:
            _swap_between_words(words, 1 << first.bit, 1 << (second.bit - 5))
        elif not first.is_lane:
            _swap_names(words, 1 << (first.bit - 5), 1 << (second.bit - 5))
        elif second.is_lane:
            _swap_lanes(words, first.bit, second.bit)
        elif second.bit < 5:
            _swap_within_words(words, first.bit, 1 << second.bit)
        else:
            _swap_words(words, first.bit, 1 << (second.bit - 5))


@device_function
def repeat_words(words, count):
    """Give each group of 16 lanes the words of all of them: the first `count` words become as many
    for each group, in the order of the lanes' numbers."""
    held = count
    for bit in static_range(4, 4 + (len(words) // count).bit_length() - 1):
        for i in static_range(held):
            own, other = words[i], _of_other_lane(words[i], bit)
            words[i] = other if _is_upper(bit) else own
            words[i + held] = own if _is_upper(bit) else other
        held = 2 * held


@device_function
def _swap_between_words(words, width, step):
    """Swap the bit of elements of `width` bits, 8 or 16, in each word and the bit `step` of words'
    numbers."""
    low, high = (
        (u32(0x05040100), u32(0x07060302)) if width == 16 else (u32(0x06020400), u32(0x07030501))
    )
    for i in static_range(len(words)):
        if i // step % 2 == 0:
            first, second = words[i], words[i + step]
            words[i] = perm(second, first, low)
            words[i + step] = perm(second, first, high)


@device_function
def _swap_names(words, first, second):
    """Swap two bits of the words' numbers; this takes no instructions."""
    for i in static_range(len(words)):
        if i // first % 2 == 1 and i // second % 2 == 0:
            words[i], words[i - first + second] = words[i - first + second], words[i]


@device_function
def _of_other_lane(word, bit):
    """Return the word of the lane whose number differs in a bit."""
    return of_lane(word, 1 << bit)


@device_function
def _is_upper(bit):
    return lane_id() & (1 << bit) != 0


@device_function
def _either(lane, upper, lower):
    """Return the selectors of `perm(other, own, ...)` that take whole words: one in upper lanes,
    another in the rest.

    DPP is part of a `v_perm_b32`, but not of a `v_cndmask_b32`.
    """
    return u32(upper) if _is_upper(lane) else u32(lower)


@device_function
def _swap_words(words, lane, step):
    """Swap a bit of the lane's number and the bit `step` of words' numbers."""
    first, second = _either(lane, _OTHER, _OWN), _either(lane, _OWN, _OTHER)
    for i in static_range(len(words)):
        if i // step % 2 == 0:
            low, high = words[i], words[i + step]
            words[i] = perm(_of_other_lane(high, lane), low, first)
            words[i + step] = perm(_of_other_lane(low, lane), high, second)


@device_function
def _swap_within_words(words, lane, width):
    """Swap a bit of the lane's number and that of elements of `width` bits, 4, 8 or 16, in each
    word.

    The selectors of `perm` count the lane's own bytes from 0 on, those of the other lane from 4 on.
    """
    if width == 4:
        own = u32(0xF0F0F0F0) if _is_upper(lane) else u32(0x0F0F0F0F)
        turn = u32(4) if _is_upper(lane) else u32(28)
        for i in static_range(len(words)):
            other = _of_other_lane(words[i], lane)
            words[i] = words[i] & own | (other >> turn | other << (u32(32) - turn)) & ~own
    else:
        lower = u32(0x05040100) if width == 16 else u32(0x06020400)
        upper = u32(0x03020706) if width == 16 else u32(0x03070105)
        selectors = upper if _is_upper(lane) else lower
        for i in static_range(len(words)):
            words[i] = perm(_of_other_lane(words[i], lane), words[i], selectors)


@device_function
def _swap_lanes(words, first, second):
    """Swap two bits of the lane's number."""
    is_other = _is_upper(first) != _is_upper(second)
    selectors = u32(_OTHER) if is_other else u32(_OWN)
    for i in static_range(len(words)):
        other = _of_crossed_lane(words[i], first, second)
        if second == 4 or first == 4:
            words[i] = other if is_other else words[i]
        else:
            words[i] = perm(other, words[i], selectors)


@device_function
def _of_crossed_lane(word, first, second):
    """Return the word of the lane whose number differs in both bits."""
    return of_lane(word, 1 << first | 1 << second)


# The value of another lane, whose number differs in bits that are known when compiling, by what the
# processor has for it.
#
# From gfx10 on, DPP and the row permutations reach every lane of a half of the wave, from gfx11 on
# `v_permlane64_b32` the other half. gfx9 has the DPP of rows only: mirrors, rotations and
# permutations of four lanes. Other rows are reached through the LDS hardware (`ds_swizzle_b32`, and
# `ds_bpermute_b32` for the other half), which takes no memory.
#
# Sources: RDNA4 ISA, "DPP16", `v_permlanex16_b32`; CDNA3 ISA, "DPP", `ds_swizzle_b32`.


@compile_time
def _permutes_rows(compilation: Compilation) -> bool:
    """Whether there are instructions that exchange rows of 16 lanes."""
    return compilation.target.name in row_of("permlanex16").targets


@compile_time
def selectors_of_row(compilation: Compilation, mask: int) -> tuple[int, int]:
    """Return the selectors of `permlanex16` for the lane of the neighbour row whose number differs
    in a mask."""
    low, high = (
        sum((lane ^ mask) << 4 * (lane % 8) for lane in range(first, first + 8)) for first in (0, 8)
    )
    return low, high


@device_function
def of_lane(value, mask):
    """Return the value of the lane whose number differs in the bits of a constant mask."""
    if not _permutes_rows():
        return _of_lane_on_gfx9(value, mask)
    if mask < 16:
        return swap_in_rows(value, mask)
    if mask == 16:
        return swap_rows(value)
    if mask < 32:
        low, high = selectors_of_row(mask - 16)
        return permlanex16(value, u32(low), u32(high))
    if mask == 32:
        return permlane64(value)
    return (
        permlane64(swap_rows(value)) if mask == 48 else swap_in_rows(permlane64(value), mask - 32)
    )


@device_function
def _of_lane_on_gfx9(value, mask):
    """Return the same for a mask of bits of 16 lanes by DPP, in two steps at most."""
    if mask >= 32:
        return shuffle_xor(value, mask)
    if mask >= 16:
        return swizzle(value, 31, 0, mask)
    if mask < 4:
        return _in_fours(value, mask)
    if mask < 8:
        return _in_fours(row_half_mirror(value), mask ^ 7)
    return (
        _in_fours(row_ror(value, 8), mask ^ 8)
        if mask < 12
        else _in_fours(row_mirror(value), mask ^ 15)
    )


@device_function
def _in_fours(value, mask):
    if mask == 0:
        return value
    return quad_perm(value, mask, 1 ^ mask, 2 ^ mask, 3 ^ mask)
