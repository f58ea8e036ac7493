"""Loads and stores with CUDA's cache hints: what they read and write, and what the machine is
told."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import f32, i32
from amdjit.intrinsics import cache_hints

TYPES = (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint64, np.float16, np.float32, float)
LOADS = {
    "ldca": (None, None), "ldcg": ("SCOPE_DEV", None), "ldcs": (None, "TH_LOAD_NT"),
    "ldlu": (None, "TH_LOAD_LU"), "ldcv": ("SCOPE_SYS", None),
}  # fmt: skip
STORES = {
    "stwb": (None, None), "stcg": ("SCOPE_DEV", None), "stcs": (None, "TH_STORE_NT"),
    "stwt": ("SCOPE_SYS", None),
}  # fmt: skip


def _hint(assembly: str, instruction: str) -> tuple[str | None, str | None]:
    (line,) = [line for line in assembly.splitlines() if instruction in line]
    words = dict(word.split(":") for word in line.split() if word.startswith(("scope", "th")))
    return words.get("scope"), words.get("th")


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", LOADS)
def test_loads(name: str) -> None:
    load = getattr(cache_hints, name)

    @amdjit.kernel
    def copy(out, x, m):
        i = amdjit.threadIdx.x
        out[i] = load(x, i)
        if i == 0:
            out[i] = load(m, (1, 0)) + load(x, (i,))

    for kind in TYPES:
        x = np.arange(3, 8).astype(kind)
        out = np.zeros_like(x)
        copy[1, 5](out, x, np.array([[1, 2], [30, 4]], kind))
        np.testing.assert_array_equal(out, [33, *x[1:]])

    @amdjit.kernel
    def one(out: f32[:], x: f32[:]):
        i = amdjit.threadIdx.x
        out[i] = load(x, i)

    assert _hint(one.compile(target="gfx1201").asm, "global_load") == LOADS[name]


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", STORES)
def test_stores(name: str) -> None:
    store = getattr(cache_hints, name)

    @amdjit.kernel
    def fill(out, m, x):
        i = amdjit.threadIdx.x
        store(out, i, x)
        store(m, (i, 1), i)

    for kind in TYPES:
        out, m = np.zeros(4, kind), np.zeros((3, 2), np.int32)
        fill[1, 3](out, m, np.asarray(7, kind)[()])
        np.testing.assert_array_equal(out, [7, 7, 7, 0])
        np.testing.assert_array_equal(m, [[0, 0], [0, 1], [0, 2]])

    @amdjit.kernel
    def one(out: f32[:], x: f32):
        store(out, amdjit.threadIdx.x, x)

    assert _hint(one.compile(target="gfx1201").asm, "global_store") == STORES[name]


@pytest.mark.parametrize("index", ["wrong", 1.5, (0, 0)])
def test_wrong_indices_are_refused(index: Any) -> None:
    @amdjit.kernel
    def kernel(out: i32[:]):
        out[0] = cache_hints.ldcg(out, index)

    with pytest.raises(amdjit.CompileError):
        kernel.compile()
