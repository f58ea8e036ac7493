"""Kernels long enough to be scheduled in pieces compute what NumPy does."""

from __future__ import annotations

import numpy as np
import pytest

import amdjit
from amdjit import u32
from amdjit.backend.blocks import LONGEST_REGION

ROUNDS = 400


pytestmark = pytest.mark.usefixtures("emulator")


@amdjit.kernel(block=(32, 1, 1))
def mix(x, out):
    i = amdjit.grid(1)
    value = u32(i)
    for k in amdjit.static_range(ROUNDS):
        value = (value ^ x[i + k]) * 2654435761 + (value >> 7)
        if k % 40 == 39:
            out[i, k // 40] = value


def test_a_block_in_pieces_computes_the_same() -> None:
    x = np.arange(32 + ROUNDS, dtype=np.uint32) * 40503
    out = np.zeros((32, ROUNDS // 40), np.uint32)
    mix[1, 32](x, out)
    i = np.arange(32)
    value = i.astype(np.uint32)
    for k in range(ROUNDS):
        value = (value ^ x[i + k]) * np.uint32(2654435761) + (value >> np.uint32(7))
        if k % 40 == 39:
            assert (out[:, k // 40] == value).all()
    (compiled,) = mix.specialisations
    assert compiled.optimized_llvm.count("call void @llvm.amdgcn.sched.barrier(i32 0)") >= 1
    assert compiled.optimized_llvm.count("\n") > LONGEST_REGION
