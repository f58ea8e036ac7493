"""Fragments of other types: the same matrix with each element converted, in the lane where that
type has it.

This unpacks 4-bit elements from their words, for weights that memory holds in 4 bits and kernels
scale and multiply as f16. Lanes exchange them while they are still small: one step (`exchanges`)
where blocks are 32 deep.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from amdjit.declarations import device_function
from amdjit.intrinsics.lds import local
from amdjit.intrinsics.matrix.fragments import Fragment
from amdjit.intrinsics.matrix.operands.kinds import FragmentKind
from amdjit.intrinsics.matrix.operands.parameters import Nibble, type_name
from amdjit.intrinsics.matrix.transfers.exchanges import (
    Place,
    Swap,
    exchange,
    places_of,
    swaps_between,
)
from amdjit.intrinsics.matrix.transfers.memory import (
    bitcast,
    put_registers,
    registers,
    static_range,
)
from amdjit.intrinsics.matrix.views.transforms import Transform, moved, plan
from amdjit.intrinsics.models.matrix_layouts import Generation
from amdjit.language.compile_time import Compilation, Refused, compile_time
from amdjit.types import SCALARS, Scalar, Type, f16, i32, u32, vector

_ONE_UP = (Swap(Place(True, 4), Place(True, 5)),)


@dataclass(frozen=True)
class Conversion:
    """How a fragment becomes one of another type."""

    kind: FragmentKind
    swaps: tuple[Swap, ...]
    """What lanes exchange, before the conversion if `before` and otherwise after it."""
    before: bool
    words: int
    """How many words a lane's elements of a block have where they are exchanged."""
    between: FragmentKind | None = None
    """What lanes exchange on CDNA: elements of the wider type in the order of the narrower one."""
    is_twofold: bool = False
    """Whether elements of 4 bits become f16 first, which holds them all."""

    @property
    def word_type(self) -> Type:
        """A lane's elements of a block that are exchanged."""
        return vector(u32, self.words) if self.words > 1 else u32


@compile_time
def _conversion(compilation: Compilation, kind: FragmentKind, dtype: Any) -> Conversion:
    """Choose how to convert. Refused if there is no such fragment, or only part of one."""
    if not isinstance(dtype, Scalar) or dtype not in SCALARS or dtype.nbytes > 8:
        raise Refused(
            f"elements cannot become {type_name(dtype)}", "give a type such as f16, f32 or i8"
        )
    wanted = replace(kind, dtype=dtype)
    if kind.is_sparse or (kind.blocks.per_block, wanted.blocks.per_block) not in ((1, 1), (2, 2)):
        what = "wide_k" if kind.wide_k else "an index"
        raise Refused(
            f"{kind} has {what}", f"load it without {what}" if kind.wide_k else "convert a matrix_a"
        )
    if kind.generation.is_cdna:
        return _on_cdna(kind, wanted)
    is_gfx11 = kind.generation is Generation.GFX11
    if kind.blocks.is_nibble and is_gfx11:
        return Conversion(wanted, (), True, kind.blocks.access_bytes // 4)
    if kind.blocks.is_nibble:
        if kind.blocks.lanes < kind.wave_size:
            raise Refused(
                f"half a wave holds copies of {kind}", "give a k that is a multiple of 32"
            )
        rows, columns = (16, kind.blocks.depth) if kind.is_left else (kind.blocks.depth, 16)
        swaps = swaps_between(
            places_of(kind.blocks, rows, columns),
            places_of(wanted.blocks, rows, columns, element=4),
        )
        assert swaps is not None
        return Conversion(wanted, swaps, True, kind.blocks.access_bytes // 4)
    swaps = () if kind.blocks.steps == wanted.blocks.steps else _ONE_UP
    before = kind.blocks.access_bytes <= wanted.blocks.access_bytes
    return Conversion(
        wanted, swaps, before, min(kind.blocks.access_bytes, wanted.blocks.access_bytes) // 4
    )


def _on_cdna(kind: FragmentKind, wanted: FragmentKind) -> Conversion:
    """Choose how to convert where blocks of other types are of other sizes."""
    if kind.blocks.is_nibble:
        own, other = kind.blocks, wanted.blocks
        across, along = max(own.side, other.side), max(own.depth, other.depth)
        rows, columns = (across, along) if kind.is_left else (along, across)
        swaps = swaps_between(
            places_of(own, rows, columns), places_of(other, rows, columns, element=4)
        )
        if swaps is None or along > own.depth or own.side != other.side:
            return Conversion(wanted, (), True, 0, is_twofold=True)
        return Conversion(wanted, swaps, True, own.access_bytes // 4)
    is_wider = wanted.blocks.item.bits >= kind.blocks.item.bits
    between = replace(wanted, like=kind.dtype) if is_wider else replace(kind, like=wanted.dtype)
    return Conversion(wanted, (), not is_wider, 0, between)


@compile_time
def _exchanged(compilation: Compilation, kind: FragmentKind, wanted: FragmentKind) -> Transform:
    """Return how lanes exchange elements of one type in the order of another."""
    return plan(kind, wanted, False)


@device_function
def _elementwise(fragment, kind):
    """Return a fragment of another type in the same order."""
    result = Fragment(kind, local.array(kind.size, kind.blocks.item), None)
    for i in static_range(kind.size):
        result.x[i] = kind.blocks.item(fragment.x[i])
    return result


@device_function
def _through_the_wider(fragment, conversion):
    """Convert, and exchange elements as the wider of both types."""
    between, wanted = conversion.between, conversion.kind
    if conversion.before:
        return _elementwise(moved(fragment, _exchanged(fragment.kind, between)), wanted)
    return moved(_elementwise(fragment, between), _exchanged(between, wanted))


@device_function
def convert(fragment, dtype):
    """Return the same matrix as a new fragment of another type, with each element converted.

    In wave64, k of 4-bit elements must be a multiple of 32. dtype: of 8 bits or more.
    """
    conversion = _conversion(fragment.kind, dtype)
    if conversion.is_twofold:
        half = _unpacked(fragment, _conversion(fragment.kind, f16))
        return _through_the_wider(half, _conversion(half.kind, dtype))
    if fragment.kind.blocks.is_nibble:
        return _unpacked(fragment, conversion)
    if conversion.between is not None:
        return _through_the_wider(fragment, conversion)
    result = Fragment(conversion.kind, local.array(conversion.kind.size, dtype), None)
    source = fragment
    if conversion.before and len(conversion.swaps) > 0:
        source = Fragment(
            fragment.kind, local.array(fragment.kind.size, fragment.kind.blocks.item), None
        )
        for i in static_range(fragment.kind.size):
            source.x[i] = fragment.x[i]
        _exchange_all(source, conversion)
    for i in static_range(conversion.kind.size):
        result.x[i] = dtype(source.x[i])
    if not conversion.before:
        _exchange_all(result, conversion)
    return result


@device_function
def _exchange_all(fragment, conversion):
    """Move each block's elements between lanes."""
    words = local.array(conversion.words, u32)
    for block in static_range(fragment.kind.share.blocks):
        held = registers(fragment, block, conversion.word_type)
        for i in static_range(conversion.words):
            words[i] = held[i] if conversion.words > 1 else held
        exchange(words, conversion.swaps)
        put_registers(
            fragment, block, words.load(0, conversion.words) if conversion.words > 1 else words[0]
        )


@compile_time
def _number_in(
    compilation: Compilation, kind: FragmentKind, wanted: FragmentKind, block: int, element: int
) -> int:
    """Return which element a block's 4-bit element becomes, or -1 if it is beyond the other
    fragment's end."""
    across, along = divmod(block, kind.blocks.count_along)
    along = along * (kind.blocks.depth // wanted.blocks.depth) + element // wanted.blocks.held
    is_there = along < wanted.blocks.count_along
    return (
        (across * wanted.blocks.count_along + along) * wanted.blocks.held
        + element % wanted.blocks.held
        if is_there
        else -1
    )


@device_function
def _unpacked(fragment, conversion):
    """Return 4-bit elements as others."""
    kind, wanted = fragment.kind, conversion.kind
    result = Fragment(wanted, local.array(wanted.size, wanted.blocks.item), None)
    words = local.array(conversion.words, u32)
    for block in static_range(kind.share.blocks):
        held = registers(fragment, block, conversion.word_type)
        for i in static_range(conversion.words):
            words[i] = held[i] if conversion.words > 1 else held
        exchange(words, conversion.swaps)
        for word in static_range(conversion.words):
            for e in static_range(4):
                values = _pair(kind, wanted.blocks.item, words[word], e)
                for half in static_range(2):
                    number = _number_in(kind, wanted, block, 8 * word + 4 * half + e)
                    if number >= 0:
                        result.x[number] = values[half]
    return result


@device_function
def _pair(kind, dtype, word, e):
    """Return elements e and e + 4 of a word.

    As f16, both are converted at once: four bits placed in the low bits of 1024 are added to it.
    Signed elements are raised by 8 first.
    """
    signed = kind.dtype is Nibble.I4
    if dtype is f16:
        raised = word ^ u32(0x88888888) if signed else word
        base = f16(1032) if signed else f16(1024)
        both = bitcast(raised >> u32(4 * e) & u32(0x000F000F) | u32(0x64006400), vector(f16, 2))
        return both[0] - base, both[1] - base
    low, high = bitcast(word << u32(28 - 4 * e), i32), bitcast(word << u32(12 - 4 * e), i32)
    if signed:
        return dtype(low >> 28), dtype(high >> 28)
    return dtype(u32(low) >> u32(28)), dtype(u32(high) >> u32(28))
