"""The captures of gfx1201 in tests/hardware: their rows, and the registers that their generators
describe."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Registers = NDArray[np.uint32]


@functools.cache
def capture(name: str) -> dict[str, Any]:
    """Return a file of captures."""
    folder = Path(__file__).parents[1] / "hardware"
    found: dict[str, Any] = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    return found


def of_gfx12(matrix: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what a gfx1201 gave for a matrix; other chips have captures of it, too."""
    return [captured for captured in matrix["captures"] if captured["arch"] == "gfx12"]


def numbers(texts: Sequence[str]) -> list[int]:
    """Return the numbers of hexadecimal texts."""
    return [int(text, 16) for text in texts]


def random_words(seed: int) -> Iterator[int]:
    """Yield what xorshift32 gives after its seed."""
    state = seed
    while True:
        state ^= state << 13 & 0xFFFFFFFF
        state ^= state >> 17
        state ^= state << 5 & 0xFFFFFFFF
        yield state


def digest(registers: Registers) -> str:
    """Return FNV-1a of registers by lanes."""
    value = 14695981039346656037
    for byte in np.ascontiguousarray(registers).astype("<u4").tobytes():
        value = (value ^ byte) * 1099511628211 % 2**64
    return f"{value:#018x}"


_INTEGER_C = (0, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x7FFFFF80, 0x80000080)


def integer_inputs(sample: int, lanes: int = 32) -> Registers:
    """Return six registers of factors and eight of C."""
    words = random_words(0xA3987412 + sample)
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
    words = random_words(seed)

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
