"""Products of matrices as MFMA and SMFMAC compute them: of whole matrices, and of a wave's
registers.

Floats: by the rules of `isa.matrix_rounding`. Integers are exact and wrap, or
saturate once with `clamp`. Two things are models that nobody has published: sparse products add
their kept products in steps as dense ones do, and gfx950 computes as gfx942 does. Its dense
products of twice the K are twice as many steps; a scaled product takes two scales into the
exponents of its products, and 16 products a step, as those of 8-bit floats. The sign of a zero
result is not known but for gfx90a and for f32 and f64; it is + here. Which NaN gfx908 and gfx90a
make nobody has published; it is 0x7fc00000 here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from amdjit.intrinsics.models.matrix_layouts import index_rows
from amdjit.intrinsics.models.mfma_instructions import (
    CDNA,
    MfmaInstruction,
    broadcast_blocks,
    lanes_of_b,
    mfma_instructions,
)
from amdjit.intrinsics.models.mfma_layouts import (
    DTYPES,
    FORMATS,
    SCALED_TOGETHER,
    Array,
    MfmaLayout,
)
from amdjit.intrinsics.models.sums_of_products import NAN_SCALE, multiply_accumulate
from amdjit.isa.matrix_rounding import Rule, mfma_rule

# E8M0 (OCP Microscaling Formats 1.0).
_SCALE_BIAS, _NAN_BYTE = 127, 255
_KINDS: Mapping[np.dtype[Any], str] = MappingProxyType({DTYPES[each]: each for each in FORMATS})


@dataclass(frozen=True, slots=True)
class Modifiers:
    """Modifiers of an instruction, by the names of clang's arguments."""

    cbsz: int = 0
    abid: int = 0
    blgp: int = 0
    clamp: bool = False


def rule_of(instruction: MfmaInstruction) -> Rule:
    """Return the rule by which an instruction of floats adds."""
    elements = instruction.layout("a").elements
    return mfma_rule(instruction.target, instruction.a, instruction.held_k, elements)


def product(
    instruction: MfmaInstruction,
    a: Array,
    b: Array,
    c: Array,
    places: Array | None = None,
    scales: tuple[Array, Array] | None = None,
    *,
    clamp: bool = False,
) -> Array:
    """Return c + a b of one block, computed by as many instructions in sequence as k takes.

    a: [m, k], sparse [m, k / 2]; b: [k, n]; c: [m, n], in their types. places: which row of b each
    element of a sparse a is multiplied with. scales: of a scaled product, e8m0 [m, k / 32] and [k /
    32, n].
    """
    if instruction.is_integer:
        return _integers(instruction, a, b=b, c=c, places=places, clamp=clamp)
    kinds = (instruction.a, instruction.b, instruction.result)
    shifts = None
    if scales is not None:
        kinds = (_KINDS[a.dtype], _KINDS[b.dtype], instruction.result)
        shifts = _shifts(scales[0], axis=1), _shifts(scales[1], axis=0)
    return multiply_accumulate(
        rule_of(instruction), a, b, c, kinds, places=places, shifts=shifts
    )  # fmt: skip


def _shifts(scales: Array, axis: int) -> Array:
    """Return what scales add to the exponents of each element along k."""
    raw = scales.view(np.uint8).astype(np.int64)
    return np.repeat(
        np.where(raw == _NAN_BYTE, NAN_SCALE, raw - _SCALE_BIAS), SCALED_TOGETHER, axis
    )


def _integers(
    instruction: MfmaInstruction, a: Array, b: Array, c: Array, places: Array | None, clamp: bool
) -> Array:
    """Return c + a b as i32."""
    left, right, total = a.astype(np.float64), b.astype(np.float64), c.astype(np.int64)
    length = instruction.held_k if clamp else a.shape[1]
    for first in range(0, a.shape[1], length):
        k = slice(first, first + length)
        if places is None:
            total = total + (left[:, k] @ right[k]).astype(np.int64)
        else:
            picked = np.einsum("mk,mkn->mn", left[:, k], right[places[:, k]])
            total = total + picked.astype(np.int64)
        if clamp:
            limits = np.iinfo(np.int32)
            total = np.clip(total, limits.min, limits.max)
    return total.astype(np.int32)


def wave_product(
    instruction: MfmaInstruction,
    a: Array,
    b: Array,
    c: Array,
    *more: Array,
    modifiers: Modifiers = Modifiers(),
    scale_bytes: tuple[int, int] = (0, 0),
) -> Array:
    """Return what an instruction computes of a wave's registers: u32 [64, registers of d].

    a, b, c: registers, [64, bytes of a lane] of any type. more: the registers of a sparse product's
    index, or of a scaled product's scales of A and of B. scale_bytes: which byte of these is used.
    Raises ValueError for modifiers that the instruction has not.
    """
    formats = (0, 0)
    lanes = np.arange(64)
    blocks_of_a = np.arange(instruction.blocks)
    selected = 0
    if instruction.is_scaled:
        formats = (modifiers.cbsz, modifiers.blgp)
    elif instruction.is_sparse:
        selected = _selected_set(instruction, modifiers)
    else:
        blocks_of_a = broadcast_blocks(instruction, modifiers.cbsz, modifiers.abid)
        lanes = lanes_of_b(instruction, modifiers.blgp)
    left = _blocks(instruction.layout("a", _format(formats[0])), a)[blocks_of_a]
    right = _blocks(instruction.layout("b", _format(formats[1])), np.asarray(b)[lanes])
    added = _blocks(instruction.layout("c"), c)
    if instruction.negates:
        left, right, added = (
            -each if modifiers.blgp >> bit & 1 else each
            for bit, each in enumerate((left, right, added))
        )
    places = scales = None
    if instruction.is_sparse:
        places = index_rows(_blocks(instruction.layout("index"), more[0], selected)[0])
    if instruction.is_scaled:
        scales = (
            _blocks(instruction.layout("scale_a"), more[0], scale_bytes[0])[0],
            _blocks(instruction.layout("scale_b"), more[1], scale_bytes[1])[0],
        )
    total = np.stack(
        [
            product(instruction, *block, places, scales, clamp=modifiers.clamp)
            for block in zip(left, right, added, strict=True)
        ]
    )
    layout = instruction.layout("d")
    return pack_bits(layout, layout.scatter(total))


def _selected_set(instruction: MfmaInstruction, modifiers: Modifiers) -> int:
    sets = instruction.layout("index").sets
    if modifiers.blgp:
        raise ValueError(f"blgp={modifiers.blgp}: {instruction.name} has none")
    if not 0 <= modifiers.abid < sets:
        raise ValueError(f"abid={modifiers.abid}: {instruction.name} takes 0 to {sets - 1}")
    return modifiers.abid if modifiers.cbsz == 0 else 0


def _format(number: int) -> str:
    if not 0 <= number < len(FORMATS):
        raise ValueError(f"format {number}: there are 0 to {len(FORMATS) - 1}")
    return FORMATS[number]


def _blocks(layout: MfmaLayout, registers: Array, selected: int = 0) -> Array:
    """Return an operand as [blocks, rows, columns], in its type; positions as i64."""
    held = typed(layout, unpack_bits(layout, registers, selected))
    return layout.gather(held).reshape(layout.blocks, layout.rows, layout.columns)


def typed(layout: MfmaLayout, raw: Array) -> Array:
    """Return elements' bits, u64, as numbers of their type; positions as i64."""
    if layout.kind == "position":
        return raw.astype(np.int64)
    size = DTYPES[layout.kind].itemsize
    return raw.astype(f"u{size}").view(DTYPES[layout.kind])


def unpack_bits(layout: MfmaLayout, registers: Array, selected: int = 0) -> Array:
    """Return the bits of each element that a wave holds: u64 [64, elements]. registers: [64, bytes
    of a lane], or more of them, of any type."""
    lanes = np.ascontiguousarray(registers).reshape(layout.wave_size, -1)
    bits = np.unpackbits(lanes.view(np.uint8), axis=1, bitorder="little")
    first = selected * layout.set_bits
    mine = bits[:, first : first + layout.set_bits]
    mine = mine.reshape(layout.wave_size, layout.elements, layout.bits).astype(np.uint64)
    return (mine << np.arange(layout.bits, dtype=np.uint64)).sum(axis=2, dtype=np.uint64)


def pack_bits(layout: MfmaLayout, held: Array, selected: int = 0) -> Array:
    """Return the registers of a wave: u32 [64, registers]. held: numbers of the operand's type, or
    positions, [64, elements]; other sets are 0."""
    if layout.kind == "position":
        raw = held.astype(np.uint64)
    else:
        numbers = np.ascontiguousarray(held.astype(DTYPES[layout.kind]))
        raw = numbers.view(f"u{numbers.dtype.itemsize}").astype(np.uint64)
    bits = (raw[..., None] >> np.arange(layout.bits, dtype=np.uint64) & np.uint64(1)).astype(
        np.uint8
    )
    words = np.zeros((layout.wave_size, 32 * layout.registers), np.uint8)
    first = selected * layout.set_bits
    words[:, first : first + layout.set_bits] = bits.reshape(layout.wave_size, -1)
    return np.packbits(words, axis=1, bitorder="little").view(np.uint32)


# Reference models of clang's MFMA and SMFMAC builtins that one processor has: a call does not say
# which one it is for, and they add differently.


def builtin_product(name: str, *arguments: Any) -> Array | None:
    """Return what a builtin computes; None if several processors have it. Its arguments and result
    are a wave's: arrays with one row per lane, in clang's order of arguments."""
    known = [mfma_instructions(target).get(name) for target in CDNA]
    instruction, *elsewhere = [each for each in known if each is not None]
    if elsewhere:
        return None
    a, b, c, *others = arguments
    more: list[Any] = []
    scale_bytes = (0, 0)
    if instruction.is_scaled:
        format_a, format_b, byte_a, scale_a, byte_b, scale_b = others
        modifiers = Modifiers(cbsz=format_a, blgp=format_b)
        more, scale_bytes = [scale_a, scale_b], (byte_a, byte_b)
    elif instruction.is_sparse:
        index, cbsz, abid = others
        modifiers = Modifiers(cbsz, abid)
        more = [index]
    else:
        modifiers = Modifiers(*others)
    found = wave_product(instruction, a, b, c, *more, modifiers=modifiers, scale_bytes=scale_bytes)
    added = np.asarray(c)
    return found.view(added.dtype).reshape(added.shape)
