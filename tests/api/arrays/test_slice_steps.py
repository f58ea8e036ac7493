"""Slices whose steps are known only at run time: the emulator against Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import i32, local
from tests.api.lanes import DEVICE, same_as_python

RANDOM = np.random.default_rng(3)
EDGES = [2**31 - 1, -(2**31), -(2**31) + 1, 1, -1, 8, -8, 9]


def bounds(lanes: int, kind: Any) -> np.ndarray[Any, Any]:
    """Return start, stop and step for each lane."""
    found = RANDOM.integers(-12, 12, (lanes, 3))
    found[found[:, 2] == 0, 2] = 3
    found[: len(EDGES), 2] = EDGES
    found[len(EDGES) : 2 * len(EDGES), 0] = EDGES
    return found.astype(kind)


def cut(i, a, limits, out):
    start, stop, step = limits[i]
    for part in (a[start:stop:step], a[::step], a[start::step], a[:stop:step], a[2:-1:step]):
        out[i] = out[i] * 10 + len(part)
        for x in part:
            out[i] = out[i] * 3 + x
    own = local.array(8, i32)
    for k in range(8):
        own[k] = a[k]
    own[start:stop:step] = 100
    own[:2:step] += 50
    out[i] = out[i] * 7 + own[::-1].sum() + own[3] + 5 * own[::step][::step].sum()


@pytest.mark.sample(1)
@pytest.mark.parametrize("kind", [np.int32, np.int64])
def test_slices_are_cut_as_python_cuts_them_with_any_step(kind: Any) -> None:
    a = np.arange(1, 9, dtype=np.int32)
    same_as_python(cut, a, bounds(300, kind), np.zeros(300, np.int64), lanes=300)


def of_matrices(i, a, limits, out):
    start, stop, step = limits[i]
    part = a[start:stop:step, ::-step]
    out[i, 0] = part.shape[0] + 100 * part.shape[1]
    out[i, 1] = part.sum()
    for k in range(len(part)):
        out[i, 2] = out[i, 2] * 3 + part[k, -1] + part.T[0, k]
    out[i, 3] = a[i % 6, start:stop:step].sum()


@pytest.mark.parametrize("order", ["C", "F"])
def test_matrices_are_cut_along_both_axes(order: Any) -> None:
    a = np.asarray(RANDOM.integers(-9, 9, (6, 8)).astype(np.int32), order=order)
    limits = np.clip(bounds(96, np.int32), -12, 12)
    same_as_python(of_matrices, a, limits, np.zeros((96, 4), np.int64), lanes=96)


def all_of(a, step, out):
    out[0] = len(a[::step])
    out[1] = 1


@pytest.mark.parametrize("kind", [np.uint8, np.uint64])
def test_unsigned_steps(kind: Any) -> None:
    a, out = np.zeros(9, np.int32), np.zeros(2, np.int32)
    for step in (1, 4, 200, np.iinfo(kind).max):
        with amdjit.use(DEVICE):
            amdjit.kernel(all_of)[1, 1](a, kind(step), out)
        assert out[0] == len(a[:: int(step)])


def test_a_step_of_0_is_pythons_error() -> None:
    a, out = np.zeros(9, np.int32), np.full(2, 7, np.int32)
    with amdjit.use(DEVICE):
        with pytest.raises(amdjit.KernelFault, match="ValueError: slice step cannot be zero"):
            amdjit.kernel(all_of)[1, 1](a, np.int32(0), out)
        amdjit.kernel(asserts=False)(all_of)[1, 1](a, np.int32(0), out)
    assert list(out) == [0, 1]
