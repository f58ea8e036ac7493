"""Kernels in Gluon, whose authors choose layouts, shared memory and matrix instructions themselves,
on the emulator under all checks: against NumPy."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import amdjit
import amdjit.triton

pytest.importorskip("triton.experimental.gluon", reason="Triton is not installed")

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.amd import cdna3, cdna4, rdna3, rdna4

WAVES = {"gfx1201": 32, "gfx1100": 32, "gfx942": 64, "gfx950": 64}
ALL = ("memory", "race", "init", "sync")
# One of each family in every run.
PROCESSORS = [
    pytest.param(name, marks=() if name in ("gfx1201", "gfx950") else pytest.mark.foreign)
    for name in WAVES
]


@gluon.jit
def transposed(
    x, out, M: gl.constexpr, N: gl.constexpr, BLOCKED: gl.constexpr, SHARED: gl.constexpr
):
    rows = gl.arange(0, M, layout=gl.SliceLayout(1, BLOCKED))
    columns = gl.arange(0, N, layout=gl.SliceLayout(0, BLOCKED))
    block = gl.load(x + rows[:, None] * N + columns[None, :])
    shared = gl.allocate_shared_memory(x.dtype.element_ty, [M, N], SHARED)
    shared.store(block)
    turned = shared.permute((1, 0)).load(BLOCKED)
    rows = gl.arange(0, N, layout=gl.SliceLayout(1, BLOCKED))
    columns = gl.arange(0, M, layout=gl.SliceLayout(0, BLOCKED))
    gl.store(out + rows[:, None] * M + columns[None, :], turned)


@gluon.jit
def largest_of_rows(x, out, n, M: gl.constexpr, N: gl.constexpr, BLOCKED: gl.constexpr):
    rows = gl.arange(0, M, layout=gl.SliceLayout(1, BLOCKED))
    columns = gl.arange(0, N, layout=gl.SliceLayout(0, BLOCKED))
    inside = columns[None, :] < n
    block = gl.load(x + rows[:, None] * n + columns[None, :], mask=inside, other=-float("inf"))
    gl.store(out + rows, gl.max(block, 1))


@gluon.jit
def product(
    a, b, c, M: gl.constexpr, N: gl.constexpr, K: gl.constexpr, WAVE: gl.constexpr,
    MATRIX: gl.constexpr, K_WIDTH: gl.constexpr, FAMILY: gl.constexpr,
):  # fmt: skip
    blocked: gl.constexpr = gl.BlockedLayout([1, 4], [WAVE // 8, 8], [4, 1], [1, 0])
    rows = gl.arange(0, M, layout=gl.SliceLayout(1, blocked))
    inner = gl.arange(0, K, layout=gl.SliceLayout(0, blocked))
    inner_rows = gl.arange(0, K, layout=gl.SliceLayout(1, blocked))
    columns = gl.arange(0, N, layout=gl.SliceLayout(0, blocked))
    left = gl.load(a + rows[:, None] * K + inner[None, :])
    right = gl.load(b + inner_rows[:, None] * N + columns[None, :])
    left = gl.convert_layout(left, gl.DotOperandLayout(0, MATRIX, K_WIDTH))
    right = gl.convert_layout(right, gl.DotOperandLayout(1, MATRIX, K_WIDTH))
    total = gl.zeros([M, N], gl.float32, layout=MATRIX)
    if FAMILY == "cdna3":
        total = cdna3.mfma(left, right, total)
    elif FAMILY == "cdna4":
        total = cdna4.mfma(left, right, total)
    elif FAMILY == "rdna3":
        total = rdna3.wmma(left, right, total)
    else:
        total = rdna4.wmma(left, right, total)
    m = gl.arange(0, M, layout=gl.SliceLayout(1, MATRIX))
    n = gl.arange(0, N, layout=gl.SliceLayout(0, MATRIX))
    gl.store(c + m[:, None] * N + n[None, :], total)


@gluon.jit
def shifted_by_buffers(x, out, n, SIZE: gl.constexpr, LAYOUT: gl.constexpr):
    offsets = gl.program_id(0) * SIZE + gl.arange(0, SIZE, layout=LAYOUT)
    values = cdna3.buffer_load(x, offsets, mask=offsets < n, other=7.0)
    cdna3.buffer_store(values + 1, out, offsets)


@gluon.jit
def copied_asynchronously(x, out, SIZE: gl.constexpr, LAYOUT: gl.constexpr, SHARED: gl.constexpr):
    offsets = gl.arange(0, SIZE, layout=LAYOUT)
    shared = gl.allocate_shared_memory(gl.float32, [2, SIZE], SHARED)
    cdna4.async_copy.buffer_load_to_shared(shared.index(0), x, offsets)
    cdna4.async_copy.commit_group()
    cdna4.async_copy.global_load_to_shared(shared.index(1), x + SIZE + offsets)
    cdna4.async_copy.commit_group()
    cdna4.async_copy.wait_group(0)
    first = cdna4.async_copy.load_shared_relaxed(shared.index(0), LAYOUT)
    second = cdna4.async_copy.load_shared_relaxed(shared.index(1), LAYOUT)
    gl.store(out + offsets, first - second)


def random(*shape: int, dtype: Any = np.float32, seed: int = 27) -> Any:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def launch(
    kernel: Any, processor: str, grid: int, *arguments: Any, checks: tuple[str, ...] = ALL
) -> None:
    with amdjit.triton.use(f"emulator:{processor}"), amdjit.sanitize(*checks):
        kernel[(grid,)](*arguments, num_warps=4)


@pytest.mark.parametrize("processor", PROCESSORS)
@pytest.mark.parametrize("dtype", [np.float32, pytest.param(np.float16, marks=pytest.mark.foreign)])
def test_a_block_is_transposed_in_shared_memory(processor: str, dtype: Any) -> None:
    wave = WAVES[processor]
    x, out = random(32, 64, dtype=dtype), np.zeros((64, 32), dtype)
    blocked = gl.BlockedLayout([1, 2], [4, wave // 4], [2, 2], [1, 0])
    shared = gl.SwizzledSharedLayout(4, 1, 8, [1, 0])
    launch(transposed, processor, 1, x, out, 32, 64, blocked, shared)
    np.testing.assert_array_equal(out, x.T)


@pytest.mark.parametrize("processor", PROCESSORS)
def test_rows_are_reduced(processor: str) -> None:
    x, out = random(32, 50), np.zeros(32, np.float32)
    blocked = gl.BlockedLayout([1, 4], [WAVES[processor] // 8, 8], [2, 2], [1, 0])
    launch(largest_of_rows, processor, 1, x, out, 50, 32, 64, blocked)
    np.testing.assert_array_equal(out, x.max(1))


MATRICES = {
    "gfx942": ("cdna3", gl.amd.AMDMFMALayout(3, [16, 16, 16], True, [2, 2]), 4),
    "gfx950": ("cdna4", gl.amd.AMDMFMALayout(4, [32, 32, 16], True, [2, 2]), 8),
    "gfx1100": ("rdna3", gl.amd.AMDWMMALayout(1, True, [[0, 1], [1, 0]]), 16),
    "gfx1201": ("rdna4", gl.amd.AMDWMMALayout(2, True, [[0, 1], [1, 0]]), 8),
}


@pytest.mark.parametrize("processor", PROCESSORS)
@pytest.mark.parametrize(
    "dtype", [np.float16, pytest.param(ml_dtypes.bfloat16, marks=pytest.mark.foreign)]
)
def test_products_by_matrix_instructions(processor: str, dtype: Any) -> None:
    family, matrix, width = MATRICES[processor]
    a, b, c = (
        random(64, 32, dtype=dtype),
        random(32, 64, dtype=dtype, seed=1),
        np.zeros((64, 64), np.float32),
    )
    launch(product, processor, 1, a, b, c, 64, 64, 32, WAVES[processor], matrix, width, family)
    np.testing.assert_allclose(c, a.astype(np.float64) @ b.astype(np.float64), rtol=1e-3, atol=1e-3)


@pytest.mark.foreign
@pytest.mark.parametrize("processor", ["gfx942", "gfx950"])
def test_buffers_load_and_store(processor: str) -> None:
    x, out = random(1000), np.zeros(1024, np.float32)
    launch(
        shifted_by_buffers, processor, 4, x, out, 1000, 256, gl.BlockedLayout([1], [64], [4], [0])
    )
    np.testing.assert_array_equal(out, np.concatenate([x, np.full(24, 7, np.float32)]) + 1)


def test_asynchronous_copies_to_shared_memory() -> None:
    x, out = random(2048), np.zeros(1024, np.float32)
    layout, shared = gl.BlockedLayout([4], [64], [4], [0]), gl.SwizzledSharedLayout(1, 1, 1, [0])
    launch(copied_asynchronously, "gfx950", 1, x, out, 1024, layout, shared)
    np.testing.assert_array_equal(out, x[:1024] - x[1024:])


@pytest.mark.foreign
def test_a_report_names_gluons_line() -> None:
    x, out = random(32, 49), np.zeros(32, np.float32)
    blocked = gl.BlockedLayout([1, 4], [4, 8], [2, 2], [1, 0])
    with pytest.raises(amdjit.SanitizerError) as caught:
        launch(
            largest_of_rows,
            "gfx1201",
            1,
            x[:31].copy(),
            out,
            49,
            32,
            64,
            blocked,
            checks=("memory",),
        )
    assert "test_gluon.py" in str(caught.value)
    assert "outside of x" in str(caught.value)
