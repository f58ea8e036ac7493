"""Assigning to parts of arrays: the emulator against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import amdjit
from amdjit import f32, i32, local, shared
from tests.api.lanes import DEVICE, same_as_python

LANES = 6
RANDOM = np.random.default_rng(5)


def fill(i, a, out):
    out[i] = 7
    out[i, 2:5] = a[i, 1]
    out[i, 8::2] = -1
    out[i, i : i + 2] = i
    out[i, 20:] = 99


def from_arrays(i, a, out):
    out[i, :8] = a[i]
    out[i, 11:7:-1] = a[i, 2:6]
    out[i, i:8] = a[i + 6, i:8]
    row = out[i]
    row[2:4] = a[i, 6:]


def updates(i, a, out):
    out[i, :8] += a[i]
    out[i, 2:4] *= 3
    out[i, :8] -= a[i + 6]
    out[i, ::3] //= 2
    out[i, i:] ^= 5


def lines_of_one_array(i, a, out):
    out[i, :8] = a[i]
    if i < 3:
        out[i] = out[i]


def small_arrays(i, a, out):
    tile = local.array((3, 4), i32)
    tile[:] = 0
    tile[1] = a[i, 2:6]
    tile[:, 3] += 2
    tile[2] = tile[1]
    tile[0, ::2] = i
    tile[1] += tile[0]
    out[i, :4], out[i, 4:8] = tile[1], tile[2]
    out[i, 8:] = tile[0]


@pytest.mark.parametrize(
    "function",
    [fill, from_arrays, updates, lines_of_one_array, small_arrays],
    ids=lambda f: f.__name__,
)
def test_parts_are_assigned_as_numpy_does(function) -> None:
    a = RANDOM.integers(-50, 50, (12, 8)).astype(np.int32)
    same_as_python(function, a, np.zeros((LANES, 12), np.int32), lanes=LANES)


def onto_a_named_part(a):
    w = a[0:4]
    a[1:5] = w


def named_part_of_itself(a):
    w = a[1:5]
    w[:] = a[0:4]


def chosen_part(a):
    w = a[0:4] if a[0] else a[4:8]
    a[1:5] = w


def part_of_a_loop(a):
    for w in (a[4:8], a[0:4]):
        a[1:5] = w


@pytest.mark.parametrize(
    "function",
    [onto_a_named_part, named_part_of_itself, chosen_part, part_of_a_loop],
    ids=lambda f: f.__name__,
)
def test_parts_that_may_overlap_are_refused_under_any_name(function) -> None:
    with (
        pytest.raises(amdjit.CompileError, match="may overlap the part that is assigned to"),
        amdjit.use(DEVICE),
    ):
        amdjit.kernel(function)[1, 1](np.arange(8, dtype=np.int32))


def exchanged(i, a, out):
    source, target = a[i], out[i]
    for k in (0, 1, 2):
        target[:] = source
        target[k] += 1
        source, target = target, source


def lines_under_names(i, a, out):
    first, second = a[i], a[(i + 1) % 12]
    row = out[i, :8]
    row[:] = second
    first = first if i % 2 else second
    row[:4] = first[4:]


@pytest.mark.parametrize("function", [exchanged, lines_under_names], ids=lambda f: f.__name__)
def test_other_parts_are_assigned_under_any_name(function) -> None:
    a = RANDOM.integers(-50, 50, (12, 8)).astype(np.int32)
    same_as_python(function, a, np.zeros((LANES, 8), np.int32), lanes=LANES)


@amdjit.kernel
def through_lds(a, out):
    tile = shared.array((4, 32), f32)
    lane = amdjit.threadIdx.x
    tile[:, lane] = a[lane]
    amdjit.syncthreads()
    out[lane] = tile[:, 31 - lane]


def test_whole_parts_are_copied_between_memories() -> None:
    a, out = RANDOM.random((32, 4), np.float32), np.zeros((32, 4), np.float32)
    through_lds[1, 32](a, out)
    assert (out == a[::-1]).all()


@amdjit.kernel(bounds_check=True)
def from_a_short_one(a, b):
    a[:] = b[2:]


def test_a_source_that_is_too_short_is_refused_with_both_shapes() -> None:
    with pytest.raises(ValueError, match=r"from shape \(3,\) into shape \(4,\)"):
        from_a_short_one[1, 1](np.zeros(4, np.float32), np.zeros(5, np.float32))


def test_without_assertions_it_is_an_index_fault_where_bounds_are_checked() -> None:
    unchecked = amdjit.kernel(from_a_short_one.function, bounds_check=True, asserts=False)
    with pytest.raises(amdjit.KernelFault) as caught:
        unchecked[1, 1](np.zeros(4, np.float32), np.zeros(5, np.float32))
    fault = caught.value
    assert (fault.kind, fault.array, fault.index, fault.shape) == ("index", "b[2:]", (3,), (3,))


def test_a_fill_of_a_register_array_needs_no_loop_and_no_scratch() -> None:
    @amdjit.kernel
    def sums(a: f32[:, :], out: f32[:]):
        i = amdjit.grid(1)
        four = local.array(4, f32)
        four[:] = a[i, :4]
        four[1:3] += 1.0
        out[i] = four[0] + four[1] + four[2] + four[3]

    resources = sums.compile().resources
    assert resources.scratch_bytes == 0


def test_a_known_index_of_a_view_is_tested_against_the_extent() -> None:
    @amdjit.kernel(bounds_check=True)
    def third_row(x, out):
        row = x[2]
        out[0] = row[1]

    out = np.zeros(1, np.float32)
    third_row[1, 1](np.arange(12, dtype=np.float32).reshape(3, 4), out)
    assert out[0] == 9
    with pytest.raises(IndexError, match="index 2 of axis 0"):
        third_row[1, 1](np.zeros((2, 4), np.float32), out)
