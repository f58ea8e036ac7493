"""Parts of arrays are views, as in NumPy: the emulator against Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import amdjit
from amdjit import Const, f32, i32, local, shared, u8, u64
from tests.api.lanes import DEVICE, same_as_python

LANES = 12
RANDOM = np.random.default_rng(11)


def matrix(*shape: int) -> NDArray[Any]:
    return RANDOM.integers(-50, 50, shape).astype(np.int32)


def total(values):
    result = 0
    for k in range(values.shape[0]):
        result += values[k]
    return result


def put(values, k, x):
    values[k] = x


def rows_and_columns(i, a, out):
    row = a[i]
    out[i, 0] = total(row)
    out[i, 1] = total(a[:, i % 5])
    out[i, 2] = row[-1] + a[i][2] + a[:][i][1]
    out[i, 3] = len(row) + row.shape[0] * 10 + row.ndim * 100
    put(out[i], 4, row[0])
    out[i][5] = 7
    out[i][6:][0] += i


def steps(i, a, out):
    out[i, 0] = total(a[i][::2])
    out[i, 1] = total(a[i, ::-1][:2])
    out[i, 2] = total(a[::3, 1])
    out[i, 3] = a[::-1, ::-1][0, 0] + a[::-2][1, 3]
    out[i, 4] = total(a[8:1:-3, 2])


def run_time_bounds(i, a, out):
    out[i, 0] = total(a[i - 3 : i, 1])
    out[i, 1] = len(a[i:]) + 100 * len(a[:-i])
    out[i, 2] = total(a[2, : i - 5])
    out[i, 3] = len(a[i - 8 : i - 20 : -2]) + 100 * len(a[20 : i - 8 : -1])


def three_and_four_axes(i, a, out):
    cube = a[i]
    out[i, 0] = cube[1, 2] + a[i, 1][2] + a[i, ..., 2][1] + a[..., 0, 1][i]
    out[i, 1] = total(a[i, 1]) + total(a[i, :, 0])
    out[i, 2] = len(a[...]) + cube.size


def chosen_rows(i, a, out):
    row = a[i] if i % 2 == 0 else a[i - 1]
    for k in range(3):
        if row[0] > 0:
            row = a[(i + k) % 12]
    out[i, 0] = total(row)


@pytest.mark.parametrize(
    "function", [rows_and_columns, steps, run_time_bounds, chosen_rows], ids=lambda f: f.__name__
)
@pytest.mark.parametrize("order", ["C", "F"])
def test_views_of_matrices_are_those_of_python(function, order) -> None:
    same_as_python(
        function, np.asarray(matrix(12, 5), order=order), np.zeros((12, 8), np.int32), lanes=LANES
    )


def test_views_of_three_axes() -> None:
    same_as_python(three_and_four_axes, matrix(12, 2, 3), np.zeros((12, 8), np.int32), lanes=LANES)
    big = matrix(24, 4, 6)[::2, 1:3, ::-2]
    same_as_python(three_and_four_axes, big, np.zeros((12, 8), np.int32), lanes=LANES)


@amdjit.kernel
def in_lds_and_private(a, out):
    i = amdjit.grid(1)
    tile = shared.array((32, 5), i32)
    own = local.array((3, 4), i32)
    mine = tile[i]
    column = own[:, 1]
    for k in range(5):
        mine[k] = a[i, k]
    for k in range(len(column)):
        column[k] = mine[k + 1]
        own[k, 2] = -1
    amdjit.syncthreads()
    out[i, 0] = total(tile[(i + 1) % 32])
    out[i, 1] = total(tile[::-8, 0])
    out[i, 2] = total(own[:, 1]) * len(own[1:])
    out[i, 3] = total(own[2])
    out[i, 4] = total(tile[i : i + 2, 3])


def test_views_of_lds_and_private_arrays() -> None:
    a, out = matrix(32, 5), np.zeros((32, 5), np.int32)
    with amdjit.use(DEVICE):
        in_lds_and_private[1, 32](a, out)
    assert (out[:, 0] == np.roll(a, -1, 0).sum(1)).all()
    assert (out[:, 1] == a[::-8, 0].sum()).all()
    assert (out[:, 2] == a[:, 1:4].sum(1) * 2).all()
    assert (out[:, 4] == [a[i : i + 2, 3].sum() for i in range(32)]).all()


@amdjit.kernel
def scatter(index, a, out):
    i = amdjit.grid(1)
    row = out[index[i]]
    row[0] = a[i]


def test_only_what_is_written_through_a_view_counts_as_written() -> None:
    from_bounds = scatter.compile(i32[:], f32[:], f32[:, :])
    assert from_bounds.written == (False, False, True)
    index, a = np.arange(32, dtype=np.int32)[::-1].copy(), np.arange(32, dtype=np.float32)
    for array in (index, a):
        array.flags.writeable = False
    out = np.zeros((32, 2), np.float32)
    with amdjit.use(DEVICE):
        scatter[1, 32](index, a, out)
    assert (out[:, 0] == a[::-1]).all()


@amdjit.kernel
def written_by_a_helper(a, out):
    put(out[1:, 0], amdjit.grid(1), a[0])


def test_writes_in_a_helper_through_a_view() -> None:
    out = np.zeros((33, 2), np.int32)
    with amdjit.use(DEVICE):
        written_by_a_helper[1, 32](np.full(1, 5, np.int32), out)
    assert (out[1:, 0] == 5).all()
    assert out.sum() == 5 * 32


@amdjit.kernel
def cut(a, lower, upper, out, step: Const, kind: Const):
    part = a[kind(lower) : kind(upper) : step]
    out[0] = len(part)
    for k in range(len(part)):
        out[k + 1] = part[k]


@amdjit.kernel
def cut_private(out, lower, upper, known_lower: Const, known_upper: Const, step: Const):
    own = local.array(7, i32)
    for k in range(7):
        own[k] = k
    for number, part in enumerate((own[known_lower:known_upper:step], own[lower:upper:step])):
        out[number, 0] = len(part)
        for k in range(len(part)):
            out[number, k + 1] = part[k]


BOUNDS = st.integers(-10, 10)
STEPS = st.sampled_from([1, 2, 3, -1, -2, -5])


@given(BOUNDS, BOUNDS, STEPS, st.integers(1, 8), st.sampled_from([i32, amdjit.i64, amdjit.i8]))
@settings(max_examples=60, deadline=None)
def test_slices_are_cut_as_python_cuts_them(lower, upper, step, size, kind) -> None:
    a, out = np.arange(100, 100 + size, dtype=np.int32), np.zeros(20, np.int32)
    expected = a[lower:upper:step]
    with amdjit.use(DEVICE):
        cut[1, 1](a, lower, upper, out, step, kind)
    assert out[0] == len(expected)
    assert (out[1 : len(expected) + 1] == expected).all()


@pytest.mark.parametrize("kind", [u8, u64])
def test_unsigned_bounds_of_views_are_those_of_python(kind) -> None:
    a, out = np.arange(9, dtype=np.int32), np.zeros(20, np.int32)
    with amdjit.use(DEVICE):
        cut[1, 1](a, np.uint64(3), np.uint64(2**64 - 1), out, 2, kind)
    assert list(out[:4]) == [3, 3, 5, 7]


@given(BOUNDS, BOUNDS, STEPS)
@settings(max_examples=15, deadline=None)
def test_slices_of_known_arrays(lower, upper, step) -> None:
    out = np.zeros((2, 20), np.int32)
    expected = np.arange(7)[lower:upper:step]
    with amdjit.use(DEVICE):
        cut_private[1, 1](out, lower, upper, lower, upper, step)
    for row in out:
        assert row[0] == len(expected)
        assert (row[1 : len(expected) + 1] == expected).all()


def test_a_row_of_a_row_costs_no_more_than_two_indices() -> None:
    @amdjit.kernel
    def two_indices(a, out):
        i = amdjit.grid(1)
        out[i] = a[i, 3]

    @amdjit.kernel
    def one_by_one(a, out):
        i = amdjit.grid(1)
        out[i] = a[i][3]

    sizes = [k.compile(f32[:, :], f32[:]).resources.instructions for k in (two_indices, one_by_one)]
    assert sizes[0] == sizes[1]


@amdjit.kernel
def reverse_quarters(x, out):
    i = 4 * amdjit.grid(1)
    out.store(i, amdjit.shuffle(x.load(i, 4), x.load(i, 4), (3, 2, 1, 0)))


def test_wide_accesses_of_strided_arrays_follow_the_strides() -> None:
    x = np.arange(64, dtype=np.float32)
    with amdjit.use(DEVICE):
        from_device, out = amdjit.to_device(x), amdjit.to_device(np.zeros(64, np.float32))
        reverse_quarters[1, 8](from_device[::2], out[::2])
        result = out.copy_to_host()
    assert (result[::2].reshape(8, 4) == x[::2].reshape(8, 4)[:, ::-1]).all()
    assert (result[1::2] == 0).all()
