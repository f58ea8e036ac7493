"""Addresses of tables behind masks in wave64 of gfx11, at which LLVM 22 ends."""

from __future__ import annotations

import numpy as np
import pytest

import amdjit
from amdjit.target import EMULATED

_RDNA3 = [target.name for target in EMULATED if target.isa[0] == 11]
FIRST = np.arange(32, dtype=np.int32) * 3
SECOND = np.arange(32, dtype=np.int32) ** 2
THIRD = np.arange(32, dtype=np.int32)[::-1].copy()


@pytest.mark.parametrize("level", [0, 1, 2, 3])
@pytest.mark.parametrize("cpu", _RDNA3)
def test_tables_are_read_behind_masks(cpu: str, level: int) -> None:
    @amdjit.kernel(opt_level=level, wave_size=64)
    def looked_up(keys, out):
        i = amdjit.grid(1)
        key = keys[i]
        total = 1 if key < 3 else 7
        if key & 1:
            total += FIRST[key & 31] if key > 5 else 2
            if total & 2:
                total = SECOND[(key + total) & 31] if key * total > 40 else total
        if total % 3 == 1:
            total += THIRD[key & 31] if key - total > 5 else 2
        out[i] = total

    def expected(key: int) -> int:
        total = 1 if key < 3 else 7
        if key & 1:
            total += FIRST[key & 31] if key > 5 else 2
            if total & 2:
                total = SECOND[(key + total) & 31] if key * total > 40 else total
        if total % 3 == 1:
            total += THIRD[key & 31] if key - total > 5 else 2
        return total

    keys, out = np.arange(64, dtype=np.int32), np.zeros(64, np.int32)
    with amdjit.use(f"emulator:{cpu}"):
        looked_up[1, 64](keys, out)
    assert out.tolist() == [expected(int(key)) for key in keys]
