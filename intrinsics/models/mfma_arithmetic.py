"""Products of matrices as MFMA and SMFMAC compute them: of whole matrices, and of a wave's
registers.

Floats: `mfma_steps` has the rules of gfx908, gfx90a and gfx942. Integers are exact and wrap, or
saturate once with `clamp`. Two things are models that nobody has published: sparse products add
their kept products in steps as dense ones do, and gfx950 computes as gfx942 does. Its dense
products of twice the K are twice as many steps; a scaled product takes two scales into the
exponents of its products, and 16 products a step, as those of 8-bit floats.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from amdjit.intrinsics.models.mfma_instructions import (
    MfmaInstruction,
    broadcast_blocks,
    lanes_of_b,
)
from amdjit.intrinsics.models.mfma_layouts import (
    DTYPES,
    FORMATS,
    SCALED_TOGETHER,
    Array,
    MfmaLayout,
)
from amdjit.intrinsics.models.mfma_steps import (
    Factors,
    Step,
    Terms,
    chain,
    exact,
    grid,
    halves,
    pairs,
)

_TILE = 64  # rows and columns per turn, so that the products of a step stay in a core's cache
_SPARSE_ROWS = 16  # rows of a sparse A per turn: each picks its own rows of B
# The bits of xf32 that take part: the sign, 8 of the exponent and 10 of the fraction.
_XF32_MASK = np.uint32(0xFFFFE000)
_NAN: Mapping[str, int] = MappingProxyType(
    {"gfx908": 0x7FC00000, "gfx90a": 0x7FC00000, "gfx942": 0x7FFFFFFF, "gfx950": 0x7FFFFFFF}
)
_SCALE_BIAS = 127


@dataclass(frozen=True, slots=True)
class Modifiers:
    """Modifiers of an instruction, by the names of clang's arguments."""

    cbsz: int = 0
    abid: int = 0
    blgp: int = 0
    clamp: bool = False


def step_of(instruction: MfmaInstruction) -> tuple[Step, int]:
    """Return the rule by which an instruction of floats adds, and how many products a step has."""
    if instruction.a in ("f64", "f32"):
        return chain, 1
    if instruction.target == "gfx908":
        return exact, 4 if instruction.a == "f16" else 2
    if instruction.target == "gfx90a":
        is_older = instruction.a == "bf16" and not instruction.name.endswith("_1k")
        return pairs, 2 if is_older else 4
    if instruction.a in ("f16", "bf16"):
        return grid, min(8, instruction.held_k)
    return (grid, 4) if instruction.a == "xf32" else (halves, 16)


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
        return _integers(instruction, a, b, c, places, clamp)
    step, length = step_of(instruction)
    shifts = (None, None) if scales is None else _shifts(*scales)
    left = Factors.of(_cut(a) if instruction.a == "xf32" else a, shifts[0])
    right = Factors.of(_cut(b) if instruction.b == "xf32" else b, shifts[1])
    total = np.array(c)
    height, width = (_SPARSE_ROWS if places is not None else _TILE), _TILE
    for row in range(0, c.shape[0], height):
        rows = slice(row, row + height)
        for column in range(0, c.shape[1], width):
            columns = slice(column, column + width)
            part = total[rows, columns]
            for first in range(0, a.shape[1], length):
                k = slice(first, first + length)
                terms = _terms(left, right, rows, columns, k, places)
                part = step(terms, part)
            total[rows, columns] = part
    return _canonical(total, instruction.target)


def _terms(
    left: Factors, right: Factors, rows: slice, columns: slice, k: slice, places: Array | None
) -> Terms:
    if places is None:
        return Terms.of(left.part((rows, k)), right.part((k, columns)))
    # Each row of A has rows of B of its own: a product of [m, 1, k] and [m, k, n].
    kept = left.part((rows, None, k))
    terms = Terms.of(kept, right.part((places[rows, k], columns)))
    return Terms(
        terms.left[:, :, 0], terms.right[:, :, 0], terms.value[:, :, 0],
        terms.significand[:, :, 0], terms.exponent[:, :, 0], terms.fraction_bits,
        terms.smallest_normal,
    )  # fmt: skip


def _cut(numbers: Array) -> Array:
    """Return f32 numbers without the bits that xf32 has not; NaN stays NaN."""
    cut = (np.ascontiguousarray(numbers).view(np.uint32) & _XF32_MASK).view(np.float32)
    return np.where(np.isnan(numbers), numbers, cut)


def _shifts(scale_a: Array, scale_b: Array) -> tuple[Array, Array]:
    """Return the exponents that scales add to those of each element of A and of B."""
    left, right = (
        each.view(np.uint8).astype(np.int64) - _SCALE_BIAS for each in (scale_a, scale_b)
    )
    return np.repeat(left, SCALED_TOGETHER, axis=1), np.repeat(right, SCALED_TOGETHER, axis=0)


def _canonical(total: Array, target: str) -> Array:
    """Return sums with the processor's NaN."""
    if total.dtype != np.float32:
        return np.where(np.isnan(total), np.nan, total)
    bits = np.where(np.isnan(total), np.uint32(_NAN[target]), total.view(np.uint32))
    return bits.astype(np.uint32).view(np.float32)


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


def index_rows(index: Array) -> Array:
    """Return which row of B each kept element of A is multiplied with; index: 0 to 3, [m, k /
    2]."""
    return 4 * (np.arange(index.shape[1]) // 2) + index


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
