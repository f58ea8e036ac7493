"""Conversion between the elements of matrices and the registers that many waves hold, both as
bits."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from amdjit.probe.corpus.matrix.rows import Layout, places

Bits = NDArray[np.uint64]

_WORD = 32


def packed(layout: Layout, raw: Bits, selected: int = 0) -> NDArray[np.int32]:
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


def _bits(values: Bits, count: int) -> NDArray[np.uint8]:
    shifts = np.arange(count, dtype=np.uint64)
    return (values[..., None] >> shifts & np.uint64(1)).astype(np.uint8)


def unpacked(layout: Layout, registers: NDArray[np.int32], selected: int = 0) -> Bits:
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
