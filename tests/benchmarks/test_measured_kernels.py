"""The kernels whose code quality is measured compute the right values with the intended
instructions."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import kernels
import mfma_gemm

import amdjit
from amdjit import f16, f32, i32, u8
from amdjit.intrinsics import matrix, wave
from amdjit.testing import isa

R = np.random.default_rng(0)
M = f32[:, :]


@pytest.fixture(autouse=True)
def emulator() -> Iterator[None]:
    with amdjit.use("emulator:gfx1201"):
        yield


def numbers(*shape: int, dtype: type = np.float32) -> np.ndarray:
    return R.random(shape).astype(dtype)


def test_saxpy_that_is_measured_is_right() -> None:
    x, y, out = numbers(1000), numbers(1000), np.zeros(1000, np.float32)
    kernels.saxpy_256[4, 256](np.float32(2), x, y, out)
    np.testing.assert_allclose(out, 2 * x + y, rtol=1e-6)
    out[:] = 0
    kernels.saxpy_4[1, 256](np.float32(2), x, y, out)
    np.testing.assert_allclose(out, 2 * x + y, rtol=1e-6)


def test_reductions_that_are_measured_are_right() -> None:
    x, out = numbers(512), np.zeros(2, np.float32)
    kernels.tree_reduction[2, 256](x, out)
    np.testing.assert_allclose(out, x.reshape(2, 256).sum(axis=1), rtol=1e-5)
    kernels.wave_reduction[2, 256](x[:500], out)
    np.testing.assert_allclose(out, [x[:256].sum(), x[256:500].sum()], rtol=1e-5)


def test_row_softmax_that_is_measured_is_right() -> None:
    x = numbers(5, 77)
    out = np.zeros_like(x)
    kernels.row_softmax[5, 32](x, out)
    powers = np.exp(x)
    np.testing.assert_allclose(out, powers / powers.sum(axis=1, keepdims=True), rtol=1e-4)


def test_the_stencil_that_is_measured_is_right() -> None:
    x = numbers(9, 77)
    out, expected = np.zeros_like(x), np.zeros_like(x)
    expected[1:-1, 1:-1] = (
        0.25 * (x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:]) - x[1:-1, 1:-1]
    )
    kernels.stencil[(3, 2), (32, 8)](x, out)
    np.testing.assert_allclose(out, expected, atol=1e-6)


def test_the_histogram_that_is_measured_is_right() -> None:
    x, counts = R.integers(0, 256, 1000).astype(np.uint8), np.zeros(256, np.int32)
    kernels.histogram[4, 256](x, counts)
    assert (counts == np.bincount(x, minlength=256)).all()


def test_matrix_products_that_are_measured_are_right() -> None:
    a, b, c = (
        numbers(20, 33, dtype=np.float16),
        numbers(33, 18, dtype=np.float16),
        np.zeros((20, 18), np.float32),
    )
    kernels.naive_gemm[(2, 2), (16, 16)](a, b, c)
    np.testing.assert_allclose(c, a.astype(np.float32) @ b.astype(np.float32), rtol=1e-4)
    left, right, product = numbers(32, 48), numbers(48, 32), np.zeros((32, 32), np.float32)
    kernels.tiled_matmul[(2, 2), (16, 16)](left, right, product)
    np.testing.assert_allclose(product, left @ right, rtol=1e-4)


COMPILED = {
    "tree_reduction": (f32[:], f32[:]),
    "wave_reduction": (f32[:], f32[:]),
    "histogram": (u8[:], i32[:]),
    "tiled_matmul": (M, M, M),
    "naive_gemm": (f16[:, :], f16[:, :], M),
    "row_softmax": (M, M),
    "stencil": (M, M),
}


@pytest.mark.parametrize("name", COMPILED)
def test_nothing_spills_and_barriers_for_lds_leave_the_caches_alone(name: str) -> None:
    code = isa(getattr(kernels, name).compile(*COMPILED[name], target="gfx1201"))
    code.no_spills().no_scratch().absent("global_inv")
    barriers = {"tree_reduction": 9, "tiled_matmul": 2}.get(name, code.count("s_barrier_signal"))
    code.count("s_barrier_wait", barriers)


def test_the_sum_of_a_workgroup_takes_64_instructions_and_one_barrier() -> None:
    code = isa(kernels.wave_reduction.compile(f32[:], f32[:], target="gfx1201"))
    code.count("*", at_most=64).count("s_barrier_wait", 1).absent("ds_bpermute*")


@amdjit.kernel
def reduce_waves(x, out):
    i = amdjit.grid(1)
    out[0, i] = wave.reduce_add(x[i])
    out[1, i] = wave.reduce_min(x[i])
    out[2, i] = wave.reduce_max(x[i])


@pytest.mark.parametrize(
    "dtype", [np.int16, np.int32, np.uint32, np.int64, np.float16, np.float32, np.float64]
)
def test_wave_reductions_of_every_type(dtype: type) -> None:
    x = R.integers(0, 30, 64).astype(dtype)
    out = np.zeros((3, 64), dtype)
    reduce_waves[1, 64](x, out)
    for row, function in enumerate((np.sum, np.min, np.max)):
        assert (out[row] == np.repeat(function(x.reshape(2, 32), axis=1), 32)).all()


def test_wave_reductions_of_64_lanes_add_one_step() -> None:
    code = isa(reduce_waves.compile(f32[:], M, target="gfx1201", wave_size=64))
    code.count("v_permlane64_b32", 3).absent("ds_bpermute_b32")


def test_products_of_many_fragments_that_are_measured_are_right() -> None:
    a, b = (R.integers(-3, 4, (128, 64)).astype(np.float16) for _ in range(2))
    d = np.zeros((128, 128), np.float32)
    kernels.many_fragments[(2, 2), 32](a, b, d)
    product = a.astype(np.float32) @ b.astype(np.float32).T
    np.testing.assert_array_equal(d.T, product)
    kernels.many_fragments_by_rows[(2, 2), 32](a, b, d)
    np.testing.assert_array_equal(d, product)


def test_the_gemm_with_mfma_that_is_measured_is_right() -> None:
    a, b = (R.standard_normal((128, 128)).astype(np.float16) for _ in range(2))
    c = np.zeros((128, 128), np.float32)
    with amdjit.use("emulator:gfx942"):
        mfma_gemm.gemm(a, b, c)
    wanted = matrix.reference("mfma_f32_32x32x8f16", a, b, np.zeros_like(c), target="gfx942")
    np.testing.assert_array_equal(c.view(np.uint32), wanted.view(np.uint32))
