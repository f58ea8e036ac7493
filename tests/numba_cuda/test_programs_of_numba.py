"""Programs written for Numba run with `amdjit.numba_cuda` in its place."""

from __future__ import annotations

import math

import numpy as np
import pytest

from amdjit import KernelFault, LaunchError
from amdjit import numba_cuda as cuda
from amdjit.numba_cuda import float32, int32, uint32

pytestmark = pytest.mark.filterwarnings("ignore:f64 arithmetic")

TILE = 8


@cuda.jit
def matmul(A, B, C):
    sA = cuda.shared.array(shape=(TILE, TILE), dtype=float32)
    sB = cuda.shared.array(shape=(TILE, TILE), dtype=float32)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    tmp = float32(0.0)
    for i in range(cuda.gridDim.x):
        sA[ty, tx] = 0
        sB[ty, tx] = 0
        if y < A.shape[0] and (tx + i * TILE) < A.shape[1]:
            sA[ty, tx] = A[y, tx + i * TILE]
        if x < B.shape[1] and (ty + i * TILE) < B.shape[0]:
            sB[ty, tx] = B[ty + i * TILE, x]
        cuda.syncthreads()
        for j in range(TILE):
            tmp += sA[ty, j] * sB[j, tx]
        cuda.syncthreads()
    if y < C.shape[0] and x < C.shape[1]:
        C[y, x] = tmp


def test_a_tiled_product_of_matrices() -> None:
    generator = np.random.default_rng(5)
    a, b = (generator.random(shape, np.float32) for shape in ((20, 13), (13, 9)))
    c = np.zeros((20, 9), np.float32)
    matmul[(3, 3), (TILE, TILE)](a, b, c)
    np.testing.assert_allclose(c, a @ b, rtol=1e-5)


@cuda.jit(device=True)
def potential(dx, dy, softening):
    return 1 / math.sqrt(dx * dx + dy * dy + softening)


@cuda.jit("void(float64[:, :], float64[:], float64)")
def energies(bodies, out, softening):
    i = cuda.grid(1)
    if i >= bodies.shape[0]:
        return
    total = 0.0
    for j in range(bodies.shape[0]):
        if i != j:
            dx = bodies[i, 0] - bodies[j, 0]
            dy = bodies[i, 1] - bodies[j, 1]
            total += bodies[j, 2] * potential(dx, dy, softening)
    out[i] = -total * bodies[i, 2]


def test_the_energies_of_bodies() -> None:
    bodies = np.random.default_rng(7).random((40, 3))
    out = np.zeros(40)
    energies.forall(40)(bodies, out, 1e-3)
    away = bodies[:, None, :2] - bodies[None, :, :2]
    inverse = 1 / np.sqrt((away**2).sum(2) + 1e-3)
    np.fill_diagonal(inverse, 0)
    np.testing.assert_allclose(out, -bodies[:, 2] * (inverse @ bodies[:, 2]), rtol=1e-12)


K = np.uint32(0x9E3779B9)


@cuda.jit("uint32(uint32, uint32)", device=True)
def rotate(value, count):
    return (value << count) | (value >> (32 - count))


@cuda.jit
def mixed(words, rounds, digest):
    i = cuda.grid(1)
    state = uint32(words[i])
    for r in range(rounds):
        state = rotate(uint32(state * K + r), 5 + r % 7) ^ state
        state &= 0xFFFFFFFF
    digest[i] = state
    cuda.atomic.add(digest, digest.size - 1, 1)


def test_arithmetic_of_words() -> None:
    words = np.random.default_rng(3).integers(0, 2**32, 64, np.uint32)
    digest = np.zeros(65, np.uint32)
    mixed[2, 32](words, 11, digest)
    for word, found in zip(words.tolist(), digest.tolist(), strict=False):
        state = word
        for r in range(11):
            value, count = (state * int(K) + r) % 2**32, 5 + r % 7
            state ^= ((value << count) | (value >> (32 - count))) % 2**32
        assert state == found
    assert digest[64] == 64


@cuda.jit
def wave_operations(x, out):
    lane = cuda.laneid
    value = x[lane]
    for offset in (16, 8, 4, 2, 1):
        value += cuda.shfl_down_sync(0xFFFFFFFF, value, offset)
    value = cuda.shfl_sync(0xFFFFFFFF, value, 0)
    half = cuda.ballot_sync(0xFFFFFFFF, lane % 2 == 0)
    if lane % 2 == 0:
        pair = cuda.shfl_xor_sync(half, x[lane], 2)
        out[lane, 0] = value
        out[lane, 1] = pair
        out[lane, 2] = cuda.popc(cuda.activemask() & cuda.lanemask_lt())
        out[lane, 3] = cuda.all_sync(half, x[lane] < 31) and not cuda.any_sync(half, x[lane] > 31)
    else:
        mask, same = cuda.match_all_sync(~half, lane % 2)
        out[lane, 0] = mask
        out[lane, 1] = same
        out[lane, 2] = cuda.match_any_sync(~half, lane // 16)
        out[lane, 3] = cuda.eq_sync(~half, lane > 3)


def test_operations_of_a_warp() -> None:
    x = np.arange(32, dtype=np.int64)
    out = np.zeros((32, 4), np.int64)
    wave_operations[1, 32](x, out)
    even, odd = np.arange(0, 32, 2), np.arange(1, 32, 2)
    assert (out[even] == np.stack([np.full(16, 496), even ^ 2, even // 2, np.ones(16)], 1)).all()
    upper = sum(1 << lane for lane in range(17, 32, 2))
    lower = sum(1 << lane for lane in range(1, 16, 2))
    assert (out[odd, 0] & 0xFFFFFFFF == 0xAAAAAAAA).all()  # the lanes are signed, as Numba's
    assert (out[odd, 1] == 1).all()
    assert (out[odd, 2] & 0xFFFFFFFF).tolist() == [lower] * 8 + [upper] * 8
    assert (out[odd, 3] == 0).all()


@cuda.jit
def wrong_mask(x, mask):
    if cuda.laneid < 8:
        x[cuda.laneid] = cuda.shfl_sync(mask, x[cuda.laneid], 0)


def test_a_mask_names_lanes_that_are_there() -> None:
    x = np.arange(32)
    wrong_mask[1, 32](x, 0xFF)
    assert (x[:8] == 0).all()
    with pytest.raises(KernelFault, match="a lane of the mask is elsewhere"):
        wrong_mask[1, 32](x, 0x1FF)
    wrong_mask[1, 8](np.arange(8), 0x1FF)  # the block has no ninth lane


@cuda.jit
def extremes(values, out):
    i = cuda.grid(1)
    cuda.atomic.max(out, 0, values[i])
    cuda.atomic.min(out, 1, values[i])
    cuda.atomic.max(out, 2, values[i])
    cuda.atomic.nanmax(out, 3, values[i])
    cuda.atomic.compare_and_swap(out[4:], -1, i)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_atomic_extremes_leave_nan_as_numba_does(dtype: type[np.floating]) -> None:
    values = np.array([np.nan, 3, -7, np.nan, 5, 0], dtype)
    out = np.array([0, 0, np.nan, np.nan, -1], dtype)
    extremes[1, 6](values, out)
    assert out[:2].tolist() == [5, -7]
    assert np.isnan(out[2])
    assert out[3] == 5
    assert out[4] in range(6)


@cuda.jit
def vectors(out):
    v = cuda.float32x2(1, 2.5)
    w = cuda.float4(v, cuda.int1(3), 4)
    out[0], out[1], out[2], out[3] = w.x, w.y, w.z, w.w
    out[4] = cuda.uchar2(200, 7).x


def test_short_vectors() -> None:
    out = np.zeros(5)
    vectors[1, 1](out)
    assert out.tolist() == [1, 2.5, 3, 4, 200]


@cuda.jit
def halves(a, b, out):
    out[0] = cuda.fp16.hfma(a[0], b[0], a[1])
    out[1] = cuda.fp16.hmax(a[0], b[0])
    out[2] = cuda.fp16.hexp(a[1])
    out[3] = cuda.fp16.hlt(a[0], b[0])
    out[4] = cuda.fp16.hne(a[0], b[0])
    out[5] = cuda.fp16.hne(a[0], math.nan)


def test_functions_of_f16() -> None:
    a, b = np.float16([1.5, -2]), np.float16([3, 4])
    out = np.ones(6, np.float16)
    halves[1, 1](a, b, out)
    assert out.tolist() == [2.5, 3, np.exp(np.float32(-2)).astype(np.float16), 1, 1, 0]


@cuda.jit
def dynamic(x):
    words = cuda.shared.array(0, int32)
    numbers = cuda.shared.array(0, float32)
    words[cuda.threadIdx.x] = 0x3F800000
    x[cuda.threadIdx.x] = numbers[cuda.threadIdx.x]


def test_the_shared_memory_of_a_launch() -> None:
    x = np.zeros(8, np.float32)
    dynamic[1, 8, 0, 32](x)
    assert (x == 1).all()


@cuda.jit
def waves(rows):
    group = cuda.cg.this_grid()
    column = cuda.grid(1)
    for row in range(1, rows.shape[0]):
        opposite = rows.shape[1] - column - 1
        rows[row, column] = rows[row - 1, opposite] + 1
        group.sync()


def test_a_kernel_whose_grid_waits() -> None:
    rows = np.zeros((5, 64), np.int32)
    waves[2, 32](rows)
    assert (rows == np.arange(5)[:, None]).all()


@cuda.jit
def drawn(states, out):
    i = cuda.grid(1)
    out[i] = cuda.random.xoroshiro128p_uniform_float32(states, i)
    cuda.stcg(out, i, cuda.ldca(out, i) + 1)


def test_random_numbers_and_hints_for_caches() -> None:
    states = cuda.random.create_xoroshiro128p_states(32, seed=1)
    out = np.zeros(32, np.float32)
    drawn[1, 32](states, out)
    assert ((out >= 1) & (out < 2)).all()
    assert len(set(out.tolist())) > 28


def test_refusals_have_a_remedy() -> None:
    with pytest.raises(LaunchError, match="LlvmCall"):
        cuda.declare_device("f", "int32(int32)")
    with pytest.raises(ValueError, match="launch configuration"):
        dynamic(np.zeros(1))
    with pytest.raises(AttributeError, match="no attribute 'float32x5'"):
        _ = cuda.float32x5
