"""Registers of gfx1201 that the generators of the captures in tests/hardware describe."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.captures import xorshift32

Registers = NDArray[np.uint32]


def of_gfx12(matrix: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what a gfx1201 computed for a matrix; there are captures of other chips, too."""
    return [captured for captured in matrix["captures"] if captured["arch"] == "gfx12"]


_INTEGER_C = (0, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x7FFFFF80, 0x80000080)


def integer_inputs(sample: int, lanes: int = 32) -> Registers:
    """Return six registers of factors and eight of C."""
    words = xorshift32(0xA3987412 + sample)
    factors = [[next(words) for _ in range(lanes)] for _ in range(6)]
    return np.array(
        [*factors, *[[_INTEGER_C[next(words) % 6] for _ in range(lanes)] for _ in range(8)]],
        np.uint32,
    )


SMALL = {
    "f16": (0xC000, 0xBC00, 0, 0x3C00, 0x4000),
    "bf16": (0xC000, 0xBF80, 0, 0x3F80, 0x4000),
    "fp8": (0xC0, 0xB8, 0, 0x38, 0x40),
    "bf8": (0xC0, 0xBC, 0, 0x3C, 0x40),
    "f32": (0xC0000000, 0xBF800000, 0, 0x3F800000, 0x40000000),
}
_INDICES = (4, 8, 12, 9, 13, 14)


def sparse_inputs(a: str, b: str, result: str, seed: int, lanes: int = 32) -> list[Registers]:
    """Return the registers of A, B, C and the index."""
    words = xorshift32(seed)

    def packed(kind: str) -> int:
        width = {"f32": 32, "fp8": 8, "bf8": 8}.get(kind, 16)
        return sum(SMALL[kind][next(words) % 5] << start for start in range(0, 32, width))

    def registers(count: int, kind: str) -> Registers:
        return np.array([[packed(kind) for _ in range(lanes)] for _ in range(count)], np.uint32)

    wide = 2 if a in ("f16", "bf16") else 1
    parts = [
        registers(2 * wide, a),
        registers(4 * wide, b),
        registers(8 if result == "f32" else 4, result),
    ]
    index = [
        sum(_INDICES[next(words) % 6] << start for start in range(0, 32, 4)) for _ in range(lanes)
    ]
    return [*parts, np.array([index], np.uint32)]


def sparse_kinds(instruction: str) -> tuple[str, str, str]:
    """Return the types of A, B and the result."""
    result, _, *factors = instruction.removeprefix("V_SWMMAC_").lower().split("_")
    return factors[0], factors[-1], result


def sparse_seed(row: dict[str, Any]) -> int:
    return 0x76895231 if row["kind"] == "sw16" else 0x7381A593 + int(row["sample"])


def negated_halves(neg: int) -> int:
    """Return the sign bits of pairs of products: B's elements are negated after their selection, as
    A's partners."""
    return (0x8000 if (neg ^ neg >> 1) & 1 else 0) | (
        0x80000000 if (neg >> 2 ^ neg >> 3) & 1 else 0
    )
