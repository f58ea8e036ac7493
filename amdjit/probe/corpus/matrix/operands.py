"""The complete operands of a row: what `data` draws, with the index of a sparse A and the scales of
a scaled product. They are returned as registers and as sums."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from amdjit.intrinsics.models.mfma_layouts import SCALED_TOGETHER
from amdjit.intrinsics.models.sums_of_products import NAN_SCALE
from amdjit.probe.corpus.matrix import data, integer_data
from amdjit.probe.corpus.matrix.results import Bits, Sums
from amdjit.probe.corpus.matrix.rows import Layout, Row, places

__all__ = ["Operands", "experiments_of", "operands_of", "registers_of", "sums_of"]


_PAIRS = ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3))
_BIAS, _NO_SCALE = 127, 255


@dataclass(frozen=True)
class Operands:
    """The operands of some waves, as bits."""

    a: Bits
    """A, with axes [waves, blocks, m, held k]."""
    b: Bits
    """B, with axes [waves, blocks, k, n]."""
    c: Bits
    """C, with axes [waves, blocks, m, n]; results have the same."""
    index: Bits | None = None
    """The index of a sparse A, from 0 to 3, with axes [waves, m, held k]."""
    scales: tuple[Bits, Bits] | None = None
    """The scales of a scaled product, with axes [waves, m, k / 32] and [waves, k / 32, n]."""


def experiments_of(row: Row) -> list[str]:
    """Return the names of a row's experiments, in the order in which they run."""
    names = tuple(integer_data.EXPERIMENTS) if row.instruction.is_integer else data.EXPERIMENTS
    more = ["any index"] if row.instruction.is_sparse else ["scales"] if row.is_scaled else []
    return [*names, *more]


def operands_of(row: Row, experiment: str) -> Operands:
    """Return an experiment's operands."""
    base = {"any index": "normal", "scales": "normal"}.get(experiment, experiment)
    if row.instruction.is_integer:
        drawn = integer_data.drawn(row, "any bits" if experiment == "any index" else base)
    else:
        drawn = data.drawn(row, base)
    random = np.random.default_rng(zlib.crc32(f"{row.name} {experiment}".encode()))
    if row.instruction.is_sparse:
        return _sparse(random, drawn, experiment == "any index")
    if row.is_scaled:
        scales = _scales(random, drawn, experiment)
        return Operands(drawn.a, drawn.b, drawn.c, None, scales)
    return Operands(drawn.a, drawn.b, drawn.c)


def _sparse(random: np.random.Generator, drawn: data.Drawn, any_index: bool) -> Operands:
    """Return the operands of a sparse product: B has more rows, and the index selects those that
    were drawn. any_index: the index may also select equal places, or places out of order, and all
    rows of B differ."""
    waves, _, m, held = drawn.a.shape
    if any_index:
        index = random.integers(0, 4, (waves, m, held)).astype(np.uint64)
        other = random.permuted(drawn.b, axis=2)
        rows = np.stack([drawn.b, other], axis=3).reshape(*drawn.b.shape[:2], -1, drawn.b.shape[3])
        return Operands(drawn.a, rows, drawn.c, index)
    # Of the two elements that a sparse A has of each four, the first selects row 0 or 1, the second
    # row 2 or 3.
    index = random.integers(0, 2, (waves, m, held)).astype(np.uint64)
    index += np.uint64(2) * (np.arange(held, dtype=np.uint64) & np.uint64(1))
    return Operands(drawn.a, np.repeat(drawn.b, 2, axis=2), drawn.c, index)


def _scales(random: np.random.Generator, drawn: data.Drawn, experiment: str) -> tuple[Bits, Bits]:
    waves, _, m, k = drawn.a.shape
    along, n = k // SCALED_TOGETHER, drawn.b.shape[3]
    spread = {"scales": 0, "wide": 12, "near": 1, "normal": 2, "C above": 1}.get(experiment, 0)
    found = []
    for shape in ((waves, m, along), (waves, along, n)):
        if experiment == "scales":
            chosen = np.array([127, 127, 126, 129, 0, 1, 60, 190, 254, 255])
            raw = chosen[random.integers(0, len(chosen), shape)]
        else:
            raw = random.integers(_BIAS - spread, _BIAS + spread + 1, shape)
        found.append(raw.astype(np.uint64))
    return found[0], found[1]


def sums_of(row: Row, operands: Operands) -> Sums:
    """Return the sums that the operands specify, in the order of the elements of the results."""
    waves, blocks, m, k = operands.a.shape
    n = operands.c.shape[3]
    shape = (waves, blocks, m, n, k)
    a = np.broadcast_to(operands.a[:, :, :, None, :], shape)
    if operands.index is not None:
        rows = 4 * (np.arange(k) // 2) + operands.index.astype(np.int64)
        wave = np.arange(waves)[:, None, None]
        picked = operands.b[:, 0].transpose(0, 1, 2)[wave, rows]  # [waves, m, k, n]
        b = picked.transpose(0, 1, 3, 2)[:, None]
    else:
        b = np.broadcast_to(operands.b.transpose(0, 1, 3, 2)[:, :, None], shape)
    flat_a, flat_b = (np.ascontiguousarray(each).reshape(-1, k) for each in (a, b))
    scale = _scale_of(operands, shape)
    return Sums(flat_a, flat_b, operands.c.reshape(-1), row.kinds, scale)


def _scale_of(operands: Operands, shape: tuple[int, ...]) -> NDArray[np.int64] | None:
    if operands.scales is None:
        return None
    left, right = (each.astype(np.int64) for each in operands.scales)
    left = np.repeat(left, SCALED_TOGETHER, axis=2)[:, None, :, None, :]
    right = np.repeat(right, SCALED_TOGETHER, axis=1).transpose(0, 2, 1)[:, None, None]
    is_nan = (left == _NO_SCALE) | (right == _NO_SCALE)
    scale = np.where(is_nan, NAN_SCALE, left + right - 2 * _BIAS)
    return np.broadcast_to(scale, shape).reshape(-1, shape[-1])


def registers_of(
    row: Row, operands: Operands, selected: int = 0, key: int = 0,
    scale_bytes: tuple[int, int] = (0, 0),
) -> tuple[NDArray[np.int32], ...]:  # fmt: skip
    """Return the registers of A, B, C and of the instruction's other operands, i32 [waves, lanes,
    registers]. selected: the half of a 16-bit C of gfx11; key: the part of the index."""
    a, b = packed(row.layout("a"), operands.a), packed(row.layout("b"), operands.b)
    c = packed(row.layout("c"), operands.c, selected)
    if operands.index is not None:
        return a, b, c, packed(row.layout("index"), operands.index[:, None], key)
    if operands.scales is not None:
        both = [
            packed(row.layout(f"scale_{side}"), scale[:, None], byte)
            for side, scale, byte in zip("ab", operands.scales, scale_bytes, strict=True)
        ]
        return a, b, c, np.concatenate(both, axis=2)
    return a, b, c, np.zeros((len(a), row.lanes, 1), np.int32)


# Conversion between the elements of matrices and the registers that many waves hold, both as bits.


WaveBits = NDArray[np.uint64]

_WORD = 32


def packed(layout: Layout, raw: WaveBits, selected: int = 0) -> NDArray[np.int32]:
    """Return the registers of waves, i32 [waves, lanes, registers].

    raw: the bits of elements, [waves, blocks, rows, columns]. selected: which of the operand's sets
    of registers is filled; the others are 0.
    """
    block, row, column = places(layout)
    held = raw[:, block, row, column]
    waves = len(raw)
    whole = np.zeros((waves, layout.wave_size, held.shape[2]), np.uint64)
    whole[:, : held.shape[1]] = held
    bits = _bits(whole, layout.bits)
    slot = getattr(layout, "slot_bits", 0) or layout.bits
    lanes = np.zeros((waves, layout.wave_size, _WORD * layout.registers), np.uint8)
    for element in range(held.shape[2]):
        first = element * slot + selected * (layout.bits if slot > layout.bits else layout.set_bits)
        lanes[:, :, first : first + layout.bits] = bits[:, :, element]
    return np.packbits(lanes, axis=2, bitorder="little").view(np.int32)


def _bits(values: WaveBits, count: int) -> NDArray[np.uint8]:
    shifts = np.arange(count, dtype=np.uint64)
    return (values[..., None] >> shifts & np.uint64(1)).astype(np.uint8)


def unpacked(layout: Layout, registers: NDArray[np.int32], selected: int = 0) -> WaveBits:
    """Return the bits of the elements that waves hold, [waves, blocks, rows, columns]. registers:
    [waves, lanes, registers]."""
    waves = len(registers)
    words = np.ascontiguousarray(registers.reshape(waves, layout.wave_size, layout.registers))
    bits = np.unpackbits(words.view(np.uint8), axis=2, bitorder="little").astype(np.uint64)
    block, row, column = places(layout)
    count, slot = block.shape[1], getattr(layout, "slot_bits", 0) or layout.bits
    shifts = np.arange(layout.bits, dtype=np.uint64)
    shape = (int(block.max()) + 1, layout.rows, layout.columns)
    found = np.zeros((waves, *shape), np.uint64)
    for element in range(count):
        first = element * slot + selected * layout.bits
        value = (bits[:, : len(block), first : first + layout.bits] << shifts).sum(
            axis=2, dtype=np.uint64
        )
        found[:, block[:, element], row[:, element], column[:, element]] = value
    return found
