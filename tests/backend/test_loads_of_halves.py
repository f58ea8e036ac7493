"""Loads of 16 bits whose results are stored beside each other, which LLVM 22 dropped on gfx11."""

from __future__ import annotations

import numpy as np
import pytest

import amdjit
from amdjit import bitcast, i8, i16
from amdjit.target import EMULATED


@pytest.mark.sample(8)
@pytest.mark.parametrize("level", [1, 2, 3])
@pytest.mark.parametrize("cpu", [target.name for target in EMULATED])
def test_a_load_in_a_branch_reaches_the_store_beside_another(cpu: str, level: int) -> None:
    @amdjit.kernel(opt_level=level)
    def chosen(flags, halves, numbers, small, words):
        i = amdjit.grid(1)
        number = numbers[i] & i16(1)
        word = bitcast(halves[1], i16) if flags[1] else i16(1)
        small[i * 4] = i8(1)
        words[i * 4] = word
        words[i * 4 + 1] = number

    numbers, words = np.arange(32, dtype=np.int16), np.zeros((32, 4), np.int16)
    halves, flags = np.full(32, 2, np.float16), np.full(32, 6, np.int8)
    with amdjit.use(f"emulator:{cpu}"):
        chosen[1, 32](flags, halves, numbers, np.zeros(128, np.int8), words.reshape(-1))
    np.testing.assert_array_equal(words[:, 0], halves.view(np.int16))
    np.testing.assert_array_equal(words[:, 1], numbers & 1)
