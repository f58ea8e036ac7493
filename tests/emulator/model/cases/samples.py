"""Inputs: special patterns of the operands' types against each other, numbers of moderate size,
random bits."""

from __future__ import annotations

import numpy as np

from tests.emulator.model.cases.programs import INPUTS, Registers
from tests.emulator.model.values import FLOATS

_SPECIAL: dict[type, list[int]] = {
    np.uint16: [
        0x0000, 0x8000, 0x3C00, 0xBC00, 0x7C00, 0xFC00, 0x7E00, 0xFD01, 0x7BFF, 0xFBFF, 0x0001,
        0x83FF,
        0x7C01, 0xFE55, 0x0400, 0x8400, 0x3800, 0x3555, 0xFFFF, 0x7FFF, 0x00FF, 0x6400, 0x4248,
        0x0010, 0x5640, 0x3BFF,
    ],
    np.uint32: [
        0x00000000, 0x80000000, 0x3F800000, 0xBF800000, 0x7F800000, 0xFF800000, 0x7FC00000,
        0xFF812345,
        0x7F7FFFFF, 0xFF7FFFFF, 0x00000001, 0x807FFFFF, 0x00800000, 0x80800000, 0x3F000000,
        0x3EAAAAAB,
        0x4B000001, 0x4B800000, 0xBE99999A, 0x40490FDB, 0x7E967699, 0x0DA24260, 0x5F000000,
        0xCF000000,
        0x7FA00001, 0xFFC0BEEF, 0x4F800000, 0x33800000, 0xFFFFFFFF, 0x7FFFFFFF, 0x0000FFFF,
        0xFFFF0000,
        0x00008000, 0x0000001F,
    ],
    np.uint64: [
        0x0000000000000000, 0x8000000000000000, 0x3FF0000000000000, 0xBFF0000000000000,
        0x7FF0000000000000,
        0xFFF0000000000000, 0x7FF8000000000000, 0xFFF0000000000001, 0x7FEFFFFFFFFFFFFF,
        0xFFEFFFFFFFFFFFFF,
        0x7FF4000000000ABC, 0xFFF8000000012345,
        0x0000000000000001, 0x800FFFFFFFFFFFFF, 0x0010000000000000, 0x8010000000000000,
        0x3FE0000000000000,
        0x3FD5555555555555, 0x4330000000000001, 0x41DFFFFFFFC00000, 0xC1E0000000200000,
        0x41EFFFFFFFE00000,
        0xFFFFFFFFFFFFFFFF, 0x7FFFFFFFFFFFFFFF, 0x00000000FFFFFFFF, 0xFFFFFFFF00000000,
        0x000000000000003F,
    ],
}  # fmt: skip
_KINDS = {16: np.uint16, 32: np.uint32, 64: np.uint64}


def _column(size: int, lanes: int, random: np.random.Generator) -> np.ndarray:
    """One operand's patterns: special ones, floats of moderate size, random bits, small
    integers."""
    kind = _KINDS[size]
    quarter = lanes // 4
    special = random.choice(np.array(_SPECIAL[kind], kind), lanes - 3 * quarter)
    plain = (random.standard_normal(quarter) * random.choice([0.01, 3.0, 300.0], quarter)).astype(
        FLOATS[f"f{size}"]
    )
    noise = random.integers(0, 1 << size, quarter, kind, endpoint=False)
    small = random.integers(-40, 40, quarter).astype(kind)
    column = np.concatenate([special, plain.view(kind), noise, small])
    return random.permutation(column)


def inputs_for(size: int, lanes: int, seed: int) -> Registers:
    """Registers by lanes; `size` is the width of the elements: 16 (two in a register), 32, or 64
    (in pairs)."""
    random = np.random.default_rng(seed)
    rows = []
    while len(rows) < INPUTS:
        if size == 64:
            wide = _column(64, lanes, random)
            rows += [
                (wide & np.uint64(0xFFFFFFFF)).astype(np.uint32),
                (wide >> np.uint64(32)).astype(np.uint32),
            ]
        elif size == 16:
            low, high = (_column(16, lanes, random).astype(np.uint32) for _ in range(2))
            rows.append(low | high << np.uint32(16))
        else:
            rows.append(_column(32, lanes, random))
    return np.stack(rows)
