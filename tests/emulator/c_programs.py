"""The C programs of kernels/program_*.c, all with one signature, and the words that they read."""

from __future__ import annotations

import re

import numpy as np

from tests.emulator.building import KERNELS

FILES = (
    *("program_integers", "program_calls", "program_floats"),
    *("program_recursion", "program_trees", "program_more"),
)


GRID, BLOCK = 2, 256


def programs() -> list[tuple[str, str]]:
    """File and name of each."""
    found = []
    for file in FILES:
        text = (KERNELS / f"{file}.c").read_text()
        found += [(file, name) for name in re.findall(r"^PROGRAM\((\w+)\)", text, re.MULTILINE)]
    return found


PROGRAMS = programs()


def words(seed: int) -> np.ndarray:
    """Patterns of all magnitudes, zeros and extremes among them; twice as many as there are
    work-items."""
    random = np.random.default_rng(seed)
    count = 2 * GRID * BLOCK
    values = random.integers(0, 1 << 32, count, np.uint32) >> random.integers(
        0, 32, count, np.uint32
    )
    values[::31], values[1::37], values[2::41], values[3::43] = (
        0xFFFFFFFF,
        0x80000000,
        0,
        0x7FFFFFFF,
    )
    return values
