"""Run a random C program on the host and on the emulator."""

from __future__ import annotations

import ctypes

import numpy as np

from tests.emulator.building import compile_for_host, compile_source, emulate
from tests.emulator.random_programs import Program

ITEMS = 96


def check(seed: int, levels: tuple[str, ...], *flags: str) -> None:
    source = Program(seed).source
    random = np.random.default_rng(seed)
    data = random.integers(-(1 << 63), 1 << 63, 4 * ITEMS, np.int64) >> random.integers(
        0, 63, 4 * ITEMS
    )
    expected = np.zeros(8 * ITEMS, np.int64)
    library = compile_for_host(source)
    lane = ctypes.c_uint.in_dll(library, "host_lane")
    for lane.value in range(ITEMS):
        library.fuzz(ctypes.c_void_p(expected.ctypes.data), ctypes.c_void_p(data.ctypes.data))
    for level in levels:
        found = np.zeros_like(expected)
        emulate(
            compile_source(source, level, "-ffp-contract=off", *flags),
            "fuzz",
            1,
            ITEMS,
            [found, data],
        )
        np.testing.assert_array_equal(found, expected, err_msg=f"{level}\n{source}")
