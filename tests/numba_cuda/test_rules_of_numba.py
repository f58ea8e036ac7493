"""Rules of Numba's dialect, each with the values that numba-cuda returns."""

from __future__ import annotations

import enum
import math
import pdb
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import numba_cuda as cuda

pytestmark = pytest.mark.filterwarnings("ignore::amdjit.CompileWarning")


def returned(function: Callable[..., Any], *arguments: Any, count: int = 8) -> list[Any]:
    """Return what a kernel of one work-item writes to its last argument."""
    out = np.zeros(count)
    cuda.jit(function, warnings=False)[1, 1](*arguments, out)
    return out.tolist()


def test_negation_wraps_in_the_width_of_its_operand() -> None:
    def kernel(a, b, c, d, out):
        out[0] = -a[0]
        out[1] = -b[0]
        out[2] = -c[0]
        out[3] = -d[0]
        out[4] = ~a[0]
        out[5] = ~d[0]
        out[6] = -(a[0] > 1)
        out[7] = -np.uint8(a[0])

    given = [np.array([value], kind) for value, kind in ((5, "u1"), (5, "u2"), (5, "u4"))]
    found = returned(kernel, *given, np.array([-128], np.int8))
    assert found == [251, 65531, 4294967291, -128, 250, 127, -1, 251]


def test_floor_ceil_and_trunc_leave_floats_floats() -> None:
    def kernel(x, n, out):
        for i in range(5):
            out[i] = math.floor(x[i])
        out[5] = math.ceil(x[4]) + math.trunc(x[4])
        out[6] = math.floor(n[0]) / 2
        out[7] = math.floor(2.5) / 2 + math.ceil(2.5)

    x = np.array([1.5, np.nan, np.inf, -np.inf, 1e20])
    found = returned(kernel, x, np.array([3], np.uint8))
    assert np.array_equal(found, [1, np.nan, np.inf, -np.inf, 1e20, 2e20, 1.5, 4], equal_nan=True)


def test_integers_of_loops_have_a_sign_beside_u64() -> None:
    def kernel(a, out):
        for j in range(6):
            out[j] = a[0] * (j - 3)
        out[6] = a[0] + -3
        out[7] = min(a[0], -3)

    found = returned(kernel, np.array([2], np.uint64))
    assert found == [-6, -4, -2, 0, 2, 4, -1, -3]


def test_u64_and_a_signed_integer_are_compared_as_floats() -> None:
    def kernel(a, b, out):
        out[0] = a[0] == b[0]
        out[1] = a[0] > b[0]
        out[2] = a[0] >= b[1]
        out[3] = 1 if a[0] < -70000 else 2

    a, b = np.array([2**62 + 1], np.uint64), np.array([2**62, -1], np.int64)
    assert returned(kernel, a, b)[:4] == [1, 0, 1, 2]


def test_a_known_comparison_decides_on_no_type() -> None:
    def kernel(a, b, out):
        out[0] = (b[0] if a[0] < -70000 else a[1]) + 0

    assert returned(kernel, np.array([1, 2**63], np.uint64), np.array([1]))[0] == 2.0**63


def test_range_of_unsigned_bounds_counts_unsigned() -> None:
    def kernel(n, step, out):
        last = 0
        for j in range(n[0]):
            last = (j + 1) * n[1]
            out[j] = -j
        out[4] = last % n[2]
        for k in range(n[0], n[3], step[0]):
            out[5] += k
        for k in range(n[0], n[3], -2):
            out[6] += k
        for _ in range(2.7):
            out[7] += 1

    given = np.array([3, 1234567890123456789, 1000, 0], np.uint64)
    found = returned(kernel, given, np.array([-1]))
    assert found[:3] == [0.0, float(2**64 - 1), float(2**64 - 2)]
    assert found[4:] == [3 * 1234567890123456789 % 1000, 6, 4, 2]


def test_literals_drop_the_bits_that_do_not_fit() -> None:
    def kernel(h, small, out):
        out[0] = np.uint32(-1)
        out[1] = np.int8(200)
        small[0] = 300
        out[2] = small[0]
        out[3] = h[0] ^ 0x9E3779B97F4A7C15
        out[4] = np.abs(-3) + abs(h[0] > 0)
        out[5] = 2 ** np.uint64(5)

    found = returned(kernel, np.array([7]), np.zeros(1, np.uint8))
    assert found[:6] == [2**32 - 1, -56, 44, float((7 ^ 0x9E3779B97F4A7C15) - 2**64), 4, 32]


class Shape(enum.Enum):
    ROUND = 3
    SQUARE = 8
    FLAT = -1


@pytest.mark.parametrize("decorate", [cuda.jit, amdjit.kernel])
def test_members_of_enums_are_chosen_at_run_time(decorate: Any) -> None:
    def kernel(a, out):
        shape = Shape.ROUND if a[0] > 1 else Shape.SQUARE
        out[0] = 1 if shape == Shape.ROUND else 2
        if a[1] > 1:
            shape = Shape.FLAT
        out[1] = shape.value
        out[2] = 1 if shape is Shape.FLAT else 2
        other = Shape.ROUND
        for j in range(3):
            if a[j] == 3:
                other = Shape.SQUARE
            elif other == Shape.SQUARE:
                other = Shape.FLAT
        out[3] = other.value
        out[4] = 1 if shape in (Shape.FLAT, Shape.ROUND) else 0
        match shape:
            case Shape.FLAT:
                out[5] = 7
            case _:
                out[5] = 8
        out[6] = (Shape.ROUND, Shape.SQUARE)[a[0] & 1].value

    out = np.zeros(7)
    decorate(kernel)[1, 1](np.array([2, 3, 4], np.int32), out)
    assert out.tolist() == [1, -1, 1, -1, 1, 7, 3]


@pytest.mark.parametrize("kind", ["i1", "i8", "u4", "u8"])
def test_arrays_without_axes_are_indices(kind: str) -> None:
    def kernel(a, m, z, out):
        out[0] = a[z]
        out[z] = m[z, 0] + m[0, z]
        a[z] += 1
        out[1] = a[3]

    values, square = np.arange(8.0), np.arange(16.0).reshape(4, 4)
    assert returned(kernel, values, square, np.array(3, kind))[:4] == [3, 4, 0, 15]


def test_the_stops_of_debuggers_are_for_amdjits_own() -> None:
    def first(out):
        breakpoint()
        out[0] = 1

    def second(out):
        pdb.set_trace()
        out[0] = 1

    for function in (first, second):
        out = np.zeros(1)
        cuda.jit(function)[1, 1](out)
        assert out[0] == 1
        with amdjit.debug(cuda.jit(function)[1, 1], out) as debugger:
            assert debugger.resume() is None
            assert not debugger.has_ended
            assert "breakpoint" in debugger.where() or "set_trace" in debugger.where()


@pytest.mark.parametrize("name", ["gfx942", "gfx90a"])
def test_warps_of_64_lanes_have_masks_of_64_bits(name: str) -> None:
    @cuda.jit(warnings=False)
    def kernel(out, votes):
        i = cuda.grid(1)
        out[i, 0] = cuda.popc(cuda.activemask())
        out[i, 1] = cuda.shfl_sync(0xFFFFFFFF, i, 40)
        out[i, 2] = cuda.popc(cuda.lanemask_lt())
        out[i, 3] = cuda.all_sync(0xFFFFFFFFFFFFFFFF, i < 64) + 2 * cuda.any_sync(-1, i == 63)
        votes[i, 0] = cuda.ballot_sync(0xFFFFFFFF, i % 3 == 0)
        votes[i, 1] = cuda.match_any_sync(0xFFFFFFFF, np.int32(i % 2))

    out, votes = np.zeros((64, 4), np.int64), np.zeros((64, 2), np.uint64)
    with amdjit.use(f"emulator:{name}"):
        kernel[1, 64](out, votes)
        assert cuda.get_current_device().WARP_SIZE == 64
    assert out[:, :2].tolist() == [[64, 40]] * 64
    assert out[:, 2].tolist() == list(range(64))
    assert (out[:, 3] == 3).all()
    assert int(votes[0, 0]) == sum(1 << i for i in range(0, 64, 3))
    assert int(votes[1, 1]) == sum(1 << i for i in range(1, 64, 2))


def test_votes_of_32_lanes_are_signed() -> None:
    def kernel(out):
        out[0] = cuda.ballot_sync(0xFFFFFFFF, True)
        out[1] = cuda.activemask()

    out = np.zeros(2)
    cuda.jit(kernel)[1, 32](out)
    assert out.tolist() == [-1, 2**32 - 1]


def test_exact_signatures_win() -> None:
    @cuda.vectorize(["float64(float64, float64)", "int64(int64, int64)"])
    def added(x, y):
        return x + y

    @cuda.guvectorize(["void(float64[:], float64[:])", "void(int64[:], int64[:])"], "(n)->(n)")
    def copied(x, out):
        for i in range(x.shape[0]):
            out[i] = x[i]

    x = np.array([2**53 + 1, 2**62 + 1])
    assert added(x, np.ones(2, np.int64)).tolist() == (x + 1).tolist()
    assert copied(x).tolist() == x.tolist()
    assert copied(x).dtype == np.int64


def test_debug_with_fastmath_checks_no_divisor() -> None:
    @cuda.jit("void(float32[::1], float32, float32)", fastmath=True, debug=True, opt=False)
    def divide(out, a, b):
        out[0] = a / b

    out = np.zeros(1, np.float32)
    divide[1, 1](out, 1.0, 0.0)
    assert out[0] == np.inf


def test_compile_takes_a_signature() -> None:
    @cuda.jit
    def kernel(x):
        x[0] = 1

    for signature in ((cuda.float32[:],), "void(float64[:])", cuda.void(cuda.int32[:])):
        kernel.compile(signature)
    assert len(kernel.overloads) == 3
