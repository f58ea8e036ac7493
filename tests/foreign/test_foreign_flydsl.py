"""GEMMs that FlyDSL compiled for gfx1201: as NumPy computes them, and clean under every check."""

from __future__ import annotations

import numpy as np
import pytest

from tests.foreign.foreign_compilers import compile_flydsl
from tests.foreign.foreign_data import DTYPES, Array, integers, normal, product_bound, wide
from tests.foreign.foreign_launches import Expected, Launch, record_launch
from tests.foreign.foreign_table import Record

pytestmark = pytest.mark.foreign

rng = np.random.default_rng(22)


def gemm(
    record: Record,
    a: Array,
    b: Array,
    kinds: tuple[str, str],
    waves: tuple[int, int],
    unrolled: bool,
    bound: Array | int,
) -> None:
    """Multiply A by the transpose of B in tiles of 32 x 32."""
    (m, k), n = a.shape, b.shape[0]
    code = compile_flydsl({"size": [m, n, k], "kinds": kinds, "waves": waves, "unrolled": unrolled})
    out = np.zeros((m, n), DTYPES[kinds[1]])
    launch = Launch((m // 32, n // 32), [a, b, out], [Expected(out, wide(a) @ wide(b).T, bound)])
    variant = f"{m}x{n}x{k}, {waves[0]}x{waves[1]} waves, {'unrolled' if unrolled else 'loop'}"
    record_launch(record, code, launch, f"GEMM {kinds[0]} to {kinds[1]}", variant)


@pytest.mark.parametrize("kinds", [("f16", "f32"), ("bf16", "f32"), ("fp8", "f32"), ("i8", "i32")])
@pytest.mark.parametrize(
    ("size", "waves", "unrolled"),
    [((64, 64, 48), (1, 1), True), ((32, 96, 128), (2, 1), False), ((96, 32, 64), (2, 2), True)],
)
def test_gemm_of_integers_is_exact(
    record: Record,
    kinds: tuple[str, str],
    size: tuple[int, int, int],
    waves: tuple[int, int],
    unrolled: bool,
) -> None:
    m, n, k = size
    a, b = integers(rng, (m, k), kinds[0]), integers(rng, (n, k), kinds[0])
    gemm(record, a, b, kinds, waves, unrolled, 0)


@pytest.mark.parametrize("kinds", [("f16", "f32"), ("bf16", "f32"), ("fp8", "f32")])
def test_gemm_of_random_numbers(record: Record, kinds: tuple[str, str]) -> None:
    a, b = normal(rng, (64, 160), kinds[0]), normal(rng, (32, 160), kinds[0])
    gemm(record, a, b, kinds, (1, 2), False, product_bound(a, b.T))
