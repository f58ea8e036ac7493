"""Kernels in C with arguments for each, which several tests run: on the host and on the
emulator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

GRID, BLOCK = 2, 256


COUNT = GRID * BLOCK


Arguments = list[Any]


@dataclass(frozen=True)
class Case:
    """A kernel of a file, and what makes its arguments."""

    file: str
    kernel: str
    arguments: Callable[[np.random.Generator], Arguments]
    block: int = BLOCK

    def __str__(self) -> str:
        return f"{self.kernel}-{self.block}"


def integers(random: np.random.Generator, kind: Any, count: int = COUNT + 16) -> Any:
    """Numbers of all magnitudes, zeros and extremes among them."""
    info = np.iinfo(kind)
    bits = random.integers(0, info.bits, count)
    values = random.integers(info.min, info.max, count, dtype=kind, endpoint=True) >> bits.astype(
        kind
    )
    values[::31] = info.max
    values[1::37] = info.min
    values[2::41] = 0
    return values.astype(kind)


def floats(random: np.random.Generator, kind: Any, count: int = COUNT + 16) -> Any:
    """Numbers of moderate size."""
    return (random.standard_normal(count) * 8).astype(kind)


def halves(random: np.random.Generator) -> Any:
    return floats(random, np.float16, 2 * (COUNT + 16))


CASES = [
    Case(
        "branches",
        "branches",
        lambda r: [integers(r, np.int32), r.integers(0, 20, COUNT, np.int32), np.int32(3)],
    ),
    Case(
        "branches",
        "branches",
        lambda r: [integers(r, np.int32), r.integers(0, 9, COUNT, np.int32), np.int32(9)],
        77,
    ),
    Case(
        "bytes",
        "bytes",
        lambda r: [
            integers(r, np.uint8),
            integers(r, np.int8),
            integers(r, np.uint16),
            integers(r, np.uint32),
        ],
    ),
    Case(
        "calls",
        "calls",
        lambda r: [integers(r, np.uint32), floats(r, np.float32), np.float32(0.25)],
        1,
    ),
    Case("divergent_loops", "collatz", lambda r: [r.integers(0, 100000, COUNT, np.uint32)]),
    Case("divergent_loops", "collatz", lambda r: [r.integers(0, 100000, COUNT, np.uint32)], 45),
    Case(
        "divergent_loops",
        "mandelbrot",
        lambda r: [np.zeros(COUNT, np.uint32), np.float32(0.011), np.uint32(200)],
    ),
    Case(
        "double_math",
        "double_math",
        lambda r: [floats(r, np.float64), np.abs(floats(r, np.float64)), floats(r, np.float32)],
    ),
    Case(
        "private_arrays",
        "private_arrays",
        lambda r: [integers(r, np.int32, 16 * COUNT), integers(r, np.int32), np.uint32(12)],
        1,
    ),
    Case(
        "saxpy",
        "saxpy",
        lambda r: [np.uint32(300), np.float32(1.3), floats(r, np.float32), floats(r, np.float32)],
    ),
    Case(
        "wide_integers",
        "wide_integers",
        lambda r: [
            integers(r, np.int64),
            np.abs(integers(r, np.int64)).astype(np.uint64),
            integers(r, np.int32),
            np.uint64(12345678901),
        ],
    ),
    Case(
        "half_precision",
        "half_precision",
        lambda r: [halves(r), halves(r), floats(r, np.float16), floats(r, "f")],
        1,
    ),
    Case(
        "half_precision",
        "short_integers",
        lambda r: [
            integers(r, np.int16, 2 * COUNT),
            integers(r, np.int16, 2 * COUNT),
            integers(r, np.int16),
        ],
    ),
]
