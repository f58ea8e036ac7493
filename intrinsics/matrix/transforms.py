"""Fragments seen as others: transposed, for another layout in memory, as another operand, as plain registers.

Where the lanes hold the same elements in the same order already, the result is the fragment itself under another kind:
it shares its registers, and nothing is moved. Else `apply_fragment` returns a fragment of its own, whose elements the
lanes have exchanged.

Source: rocWMMA's API reference, rocwmma_transforms.hpp.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from amdjit.compile_time import Compilation, Refused, compile_time
from amdjit.declarations import device_function
from amdjit.intrinsics.arithmetic import perm
from amdjit.intrinsics.lds import local
from amdjit.intrinsics.matrix.fragments import Fragment
from amdjit.intrinsics.matrix.kinds import DataLayout, FragmentKind, Use, fragment_kind, type_name
from amdjit.intrinsics.matrix.memory import put_registers, registers, static_range
from amdjit.intrinsics.wave import lane_id, shuffle, swap_in_rows
from amdjit.types import Type, u32, vector


class Motion(Enum):
    """What becomes of a block's elements: nothing, groups of lanes swap all of theirs, or rows become columns."""

    NONE = "none"
    GROUPS = "groups"
    TRANSPOSE = "transpose"


@dataclass(frozen=True)
class Transform:
    """How a fragment becomes one of another kind. words: of a lane's elements of a block; word_type: all of them."""

    kind: FragmentKind
    motion: Motion
    words: int
    word_type: Type


@compile_time
def _transposed(compilation: Compilation, kind: FragmentKind) -> FragmentKind:
    opposite = {Use.MATRIX_A: Use.MATRIX_B, Use.MATRIX_B: Use.MATRIX_A}.get(kind.use)
    if opposite is None:
        raise Refused(f"{kind} has no transpose without a move", "transpose a matrix_a or a matrix_b")
    layout = DataLayout.COL_MAJOR if kind.layout is DataLayout.ROW_MAJOR else DataLayout.ROW_MAJOR
    return replace(kind, use=opposite, m=kind.n, n=kind.m, layout=layout)


@compile_time
def _laid_out(compilation: Compilation, kind: FragmentKind, layout: Any) -> FragmentKind:
    if not isinstance(layout, DataLayout):
        raise Refused(f"the layout is {layout}", "write matrix.row_major or matrix.col_major")
    return replace(kind, layout=layout)


@compile_time
def _register_file(compilation: Compilation, kind: FragmentKind) -> FragmentKind:
    if kind.is_sparse:
        raise Refused(f"{kind} has an index beside its elements", "store it, and load it and its index again")
    return FragmentKind(Use.MATRIX_B, 16, 16 * kind.own, kind.depth, kind.dtype, DataLayout.COL_MAJOR, kind.wave_size)


@compile_time
def _from_register_file(compilation: Compilation, held: FragmentKind, *parameters: Any) -> FragmentKind:
    kind: FragmentKind = fragment_kind.function(compilation, *parameters)
    file: FragmentKind = _register_file.function(compilation, kind)
    if file != held:
        raise Refused(f"{kind} is not what {held} was made of", f"its register file is {file}")
    return kind


@compile_time
def _transform(compilation: Compilation, kind: FragmentKind, *parameters: Any) -> Transform:
    """Choose how a fragment becomes another one. Refused where it is no fragment of the same matrix."""
    wanted: FragmentKind = fragment_kind.function(compilation, *parameters)
    if wanted.dtype != kind.dtype:
        remedy = f"convert x[i] one by one into a fragment of {type_name(wanted.dtype)}"
        raise Refused(f"{kind} does not hold {type_name(wanted.dtype)}", remedy)
    if wanted.shape != kind.shape or wanted.turns != kind.turns:
        shapes = (" x ".join(map(str, each.shape)) for each in (kind, wanted))
        problem = "{}, not {}".format(*shapes) if wanted.turns == kind.turns else "other waves share it"
        raise Refused(f"{kind} is no {wanted}: {problem}", "give the same rows and columns, shared by the same waves")
    motion = _motion(kind, wanted)
    words = max(1, kind.access_bytes // 4)
    return Transform(wanted, motion, words, vector(u32, words) if words > 1 else u32)


def _motion(kind: FragmentKind, wanted: FragmentKind) -> Motion:
    if kind.per_block > 1:
        raise Refused(f"{kind} has k in an order of its own", "load it without wide_k")
    if (kind.is_left, kind.steps, kind.depth) == (wanted.is_left, wanted.steps, wanted.depth):
        return Motion.NONE
    if kind.is_nibble or kind.is_sparse or wanted.is_sparse or kind.waves > 1:
        what = "4-bit elements" if kind.is_nibble else "sparse or shared fragments"
        raise Refused(f"the lanes exchange no {what}: {kind} to {wanted}", "store it to LDS and load it from there")
    return Motion.GROUPS if kind.is_left == wanted.is_left else Motion.TRANSPOSE


@device_function
def apply_transpose(fragment):
    """Return A as the B of its transpose, or B as such an A, of the opposite layout: the same registers."""
    return Fragment(_transposed(fragment.kind), fragment.x, fragment.index)


@device_function
def apply_data_layout(fragment, layout):
    """Return the fragment as one that lies row_major or col_major in memory: the same registers.

    Which lane holds which element does not depend on the layout, so nothing moves.
    """
    return Fragment(_laid_out(fragment.kind, layout), fragment.x, fragment.index)


@device_function
def to_register_file(fragment):
    """Return the fragment as a `matrix_b` of the same registers that is stored and loaded as it lies in them.

    It has 16 rows (4-bit elements: as many as a block of the fragment is deep) and 16 columns for each block. It lies
    col_major: an LDS array of (columns, rows) takes it in wide accesses without conflicts, whatever the fragment's own
    layout is. What is loaded into it is in the fragment.
    """
    return Fragment(_register_file(fragment.kind), fragment.x, None)


@device_function
def from_register_file(fragment, use, m, n, k, dtype, layout=None, schedule=None):
    """Return what `to_register_file` was given, of the kind that `matrix.fragment` takes: the same registers."""
    kind = _from_register_file(fragment.kind, use, m, n, k, dtype, layout, schedule)
    return Fragment(kind, fragment.x, None)


@device_function
def apply_fragment(fragment, use, m, n, k, dtype, layout=None, schedule=None):
    """Return the same matrix as a fragment of another kind, whose parameters are those of `matrix.fragment`.

    The matrix is m by k of `matrix_a`, k by n of `matrix_b`, m by n of accumulators. Where the lanes hold the same
    elements, it is the same registers: always for the same use, in wave32 for accumulators and B, in wave64 unless the
    elements have 16 bits. Else the lanes exchange elements: A with B or an accumulator takes a transpose of each block.
    """
    transform = _transform(fragment.kind, use, m, n, k, dtype, layout, schedule)
    if transform.motion is Motion.NONE:
        return Fragment(transform.kind, fragment.x, fragment.index)
    result = Fragment(transform.kind, local.array(transform.kind.size, transform.kind.item), None)
    lane = _source_lane(fragment.kind, transform.kind, transform.motion)
    for across in static_range(transform.kind.blocks_across):
        for along in static_range(transform.kind.blocks_along):
            number = across * transform.kind.blocks_along + along
            source = along * fragment.kind.blocks_along + across if transform.motion is Motion.TRANSPOSE else number
            put_registers(result, number, _moved(fragment, transform, source, lane))
    return result


@device_function
def _moved(fragment, transform, block, lane):
    """Return what a block is after its motion, as words. lane: whose words, transposed among neighbours, are wanted."""
    words = local.array(transform.words, u32)
    held = registers(fragment, block, transform.word_type)
    for i in static_range(transform.words):
        words[i] = held[i] if transform.words > 1 else held
    if transform.motion is Motion.TRANSPOSE:
        _transpose_neighbours(words, fragment.kind.item.bits, fragment.kind.held)
    if transform.words == 1:
        return shuffle(words[0], lane)
    result = transform.word_type()
    for i in static_range(transform.words):
        result[i] = shuffle(words[i], lane)
    return result


@device_function
def _transpose_neighbours(words, bits, held):
    """Swap element number and lane number of `held` elements in `held` neighbouring lanes, bit by bit."""
    for bit in static_range(3):
        distance = 1 << bit
        if distance < held:
            if bits * distance < 32:
                _swap_within_words(words, bits * distance, distance)
            else:
                _swap_words(words, bits * distance // 32, distance)


@device_function
def _swap_words(words, step, distance):
    """Swap a bit of the lane's number and the bit `step` of words' numbers."""
    is_upper = lane_id() & distance != 0
    for i in static_range(len(words)):
        if i // step % 2 == 0:
            sent = words[i] if is_upper else words[i + step]
            got = swap_in_rows(sent, distance)
            words[i] = got if is_upper else words[i]
            words[i + step] = words[i + step] if is_upper else got


@device_function
def _swap_within_words(words, width, distance):
    """Swap a bit of the lane's number and that of elements, or pairs of bytes, of `width` bits in each word.

    The selectors of `perm` count the lane's own bytes from 0 on, those of the other lane from 4 on.
    """
    lower = u32(0x05040100) if width == 16 else u32(0x06020400)
    upper = u32(0x03020706) if width == 16 else u32(0x03070105)
    selectors = upper if lane_id() & distance != 0 else lower
    for i in static_range(len(words)):
        words[i] = perm(swap_in_rows(words[i], distance), words[i], selectors)


@device_function
def _source_lane(source, target, motion):
    """Return the lane that has what this one is to hold.

    After the transpose among neighbours, as before a motion of groups, a lane has the right elements for another lane,
    whose number within its group, below `held`, is the same.
    """
    odd, upper = target.steps
    row = lane_id() % 16
    first = lane_id() // 16 % 2 * odd + lane_id() // 32 * upper
    if motion is Motion.GROUPS:
        return 16 * _group(source, first) + row
    return 16 * _group(source, row // source.held * source.held) + first + row % source.held


@device_function
def _group(kind, first):
    """Return which 16 lanes hold rows from `first` on."""
    odd, upper = kind.steps
    return first // odd % 2 + (2 * (first // upper % 2) if upper > 0 else 0)
