"""Rows taken apart into names, and views with other axes: the emulator against Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import f32, i32, local
from tests.api.lanes import DEVICE, same_as_python

RANDOM = np.random.default_rng(9)


def rows(i, a, pairs, out):
    x, y, z = a[i]
    out[i, 0] = x + 10 * y + 100 * z
    (x, y), (z, _) = pairs[:2]
    out[i, 1] = x + 10 * y + 100 * z
    for p, q in pairs:
        out[i, 2] = out[i, 2] * 3 + p * q
    for k, (p, q) in enumerate(pairs):
        out[i, 3] += k * (p - q)
    for (p, q), r in zip(pairs, pairs[::-1, 1], strict=False):
        out[i, 4] += p * q * r
    a[i, 2], a[i, 0], a[i, 1] = a[i]
    own = local.array(4, i32)
    for k in range(4):
        own[k] = k + i
    first, *rest = own
    out[i, 5] = first + len(rest) * 10 + rest[2]
    [first, second] = own[2:]
    out[i, 6] = first * second


def test_rows_are_taken_apart() -> None:
    a, pairs = RANDOM.integers(-9, 9, (6, 3)), RANDOM.integers(-9, 9, (4, 2))
    same_as_python(
        rows, a.astype(np.int32), pairs.astype(np.int32), np.zeros((6, 7), np.int64), lanes=6
    )


@amdjit.kernel
def two_names(a, out):
    p, q = a[0, :]
    out[0] = p + q


@pytest.mark.parametrize("columns", [1, 3])
def test_another_number_of_values_is_pythons_error(columns: int) -> None:
    text = r"^two_names: ValueError: wrong number of values to unpack \(expected 2\)"
    with amdjit.use(DEVICE), pytest.raises(amdjit.KernelFault, match=text):
        two_names[1, 1](np.zeros((2, columns), np.float32), np.zeros(1, np.float32))


@amdjit.kernel
def three_of_two(out: f32[:]):
    p, q, r = local.array(2, f32)
    out[0] = p + q + r


def test_a_known_length_is_compared_when_compiling() -> None:
    with pytest.raises(amdjit.CompileError, match="2 values cannot be assigned to 3 names"):
        three_of_two.compile()


def axes(i, a, out):
    out[i, 0] = a.reshape(4, 6)[3, i] + a.reshape((2, 3, 4))[1, 2, i % 4]
    out[i, 1] = a.reshape(-1)[i] + a.ravel()[23 - i] + a.flat[i + 1]
    out[i, 2] = a.reshape(-1, 2, 2)[i, 1, 0] + a.T[i, 2] + a.T.T[2, i]
    out[i, 3] = a.transpose()[i, 1] + a[1:].T.shape[1] + a.T[i % 4 :, 1].sum()
    cube = a.reshape(2, 3, 4)
    out[i, 4] = cube.transpose(1, 0, 2)[i % 3, 1, 3] + cube.T[i % 4, 2, 1]
    out[i, 5] = a.ndim + a.size * 10 + a.itemsize * 1000 + a.nbytes * 10000 + len(a.T)
    out[i, 6] = a.strides[0] + 100 * a.T.strides[0] + 1000 * a[::2, ::3].strides[1]
    n = i % 2 + 1
    out[i, 7] = a.reshape(6 * n, 4 // n)[5, n - 1] + a.reshape(n, -1).shape[1]
    free = np.int32(-n // 2)
    out[i, 8] = a.reshape(free, 4).shape[0] * 100 + a.reshape((3, free))[1, i]
    k = 0
    for x in a.T[:3, 1:].flat:
        k = k * 3 + x
    out[i, 7] += k


def test_other_axes_are_views_of_the_same_memory() -> None:
    a = RANDOM.integers(-9, 9, (4, 6)).astype(np.int32)
    same_as_python(axes, a, np.zeros((6, 9), np.int64), lanes=6)


@amdjit.kernel
def write_through(a, out):
    a.T[1, :] = 7
    a.reshape(12)[-1] = 9
    a.flat[0] = 5
    own = local.array((2, 3), i32)
    own.ravel()[:] = 1
    own.T[2] = 8
    out[0] = own.sum()


def test_views_with_other_axes_write_to_the_array() -> None:
    a, right, out = np.zeros((3, 4), np.int32), np.zeros((3, 4), np.int32), np.zeros(1, np.int32)
    right.T[1, :] = 7
    right.flat[0], right.flat[-1] = 5, 9
    with amdjit.use(DEVICE):
        write_through[1, 1](a, out)
    assert (a == right).all()
    assert out[0] == 20


@amdjit.kernel
def in_pairs(a, n, out):
    out[0] = a.reshape(n, 2)[0, 1]


def test_a_shape_of_another_size_is_pythons_error() -> None:
    text = "^in_pairs: ValueError: cannot reshape an array into a shape with another size"
    with amdjit.use(DEVICE), pytest.raises(amdjit.KernelFault, match=text):
        in_pairs[1, 1](np.zeros(6, np.float32), 4, np.zeros(1, np.float32))


@amdjit.kernel
def as_words(bytes_, halves, out):
    i = amdjit.grid(1)
    out[i, 0] = bytes_[i : i + 4].view(np.int32)[0]
    out[i, 1] = halves[i].view(i32)[1]
    out[i, 2] = len(halves.view(np.int64)[i]) + 10 * halves.view(amdjit.u8).shape[1]


def test_memory_is_read_as_another_type() -> None:
    data, halves = RANDOM.integers(0, 256, 12).astype(np.uint8), np.arange(32, dtype=np.int16)
    halves, out = halves.reshape(8, 4), np.zeros((8, 3), np.int32)
    with amdjit.use(DEVICE):
        as_words[1, 8](data, halves, out)
    assert [data[i : i + 4].view(np.int32)[0] for i in range(8)] == list(out[:, 0])
    assert (out[:, 1] == halves.view(np.int32)[:, 1]).all()
    assert (out[:, 2] == 81).all()


@amdjit.kernel
def misfits(a, rows, which: amdjit.Const, out):
    out[0] = a.reshape(rows, 4)[0, 0] if which == "shape" else a[rows:].view(np.int32)[0]


@pytest.mark.parametrize(
    ("which", "rows"), [("shape", 2), ("shape", -3), ("shape", 5), ("bytes", 3)]
)
def test_what_does_not_fit_at_run_time_is_an_error(which: Any, rows: int) -> None:
    a, out = np.zeros(12, np.int16), np.zeros(1, np.int32)
    with amdjit.use(DEVICE), pytest.raises(amdjit.KernelFault, match=r"size|whole number"):
        misfits[1, 1](a, np.int32(rows), which, out)


@amdjit.kernel
def overlapping(a):
    a.T[:] = a


@amdjit.kernel
def overlapping_flat(a):
    a.ravel()[1:] = a.flat[:-1]


@pytest.mark.parametrize("kernel", [overlapping, overlapping_flat])
def test_parts_that_may_overlap_are_refused_through_other_axes(kernel: Any) -> None:
    with pytest.raises(amdjit.CompileError, match="overlap"):
        kernel.compile(f32[:, :])
