"""Products of masked factors do not see the bits that the masks clear."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import i64, u64


def products(x, y, n, out):
    t = amdjit.threadIdx.x
    a, b, c = u64(x[t]), x[t] & u64(0xFFFFFF), y[t] & u64(0xFFFFFF)
    out[0, t] = b * c + y[t]
    out[1, t] = b * u64(1000) + y[t]
    out[2, t] = u64(7) - (u64(n & 0xFFFFFF) * c + a)
    out[3, t] = ((a << u64(8)) & u64(0xFFFF00)) * c + y[t]
    out[4, t] = (b ^ u64(77777)) * (c | u64(5)) + a
    half = a & u64(0x1FFFFFF)
    out[5, t] = (half >> u64(1)) * c + half
    out[6, t] = u64((i64(a) << i64(40)) >> i64(40)) * u64((i64(y[t]) << i64(44)) >> i64(44)) + a
    out[7, t] = b * c + a * (y[t] & u64(0x7FFFFF))


def expected(x: int, y: int, n: int) -> list[int]:
    b, c = x & 0xFFFFFF, y & 0xFFFFFF
    low = [((value & (1 << bits) - 1) ^ 1 << bits - 1) - (1 << bits - 1)
           for value, bits in ((x, 24), (y, 20))]  # fmt: skip
    return [
        b * c + y,
        b * 1000 + y,
        7 - ((n & 0xFFFFFF) * c + x),
        (x << 8 & 0xFFFF00) * c + y,
        (b ^ 77777) * (c | 5) + x,
        ((x & 0x1FFFFFF) >> 1) * c + (x & 0x1FFFFFF),
        low[0] * low[1] + x,
        b * c + x * (y & 0x7FFFFF),
    ]


@pytest.mark.covering(1)
@pytest.mark.parametrize("level", [0, 1, 3])
@pytest.mark.parametrize("processor", ["gfx908", "gfx942", "gfx1100", "gfx1201"])
def test_sums_of_products_use_the_masked_factors(processor: str, level: int) -> None:
    x, y = np.random.default_rng(level).integers(0, 1 << 63, (2, 64)).astype(np.uint64) * 2 + 1
    out = np.zeros((8, 64), np.uint64)
    with amdjit.use(f"emulator:{processor}"):
        amdjit.kernel(opt_level=level, warnings=False)(products)[1, 64](x, y, 0x7FEDCBA9, out)
    by_python: list[Any] = [
        [value % 2**64 for value in expected(int(a), int(b), 0x7FEDCBA9)]
        for a, b in zip(x, y, strict=True)
    ]
    assert out.T.tolist() == by_python


def test_the_sum_is_still_one_instruction() -> None:
    @amdjit.kernel
    def kernel(x: u64[:], y: u64[:], out: u64[:]):
        t = amdjit.threadIdx.x
        out[t] = (x[t] & u64(0xFFFFFF)) * (y[t] & u64(0xFFFFFF)) + x[t]

    code = kernel.compile(target="gfx1201").asm
    assert "v_mad_co_u64_u32" in code
    assert code.count("0xffffff") == 2
