"""The first batch: kernels so simple that a device which fails them need not be asked anything
else."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

import amdjit
from amdjit import atomic, shared
from amdjit.intrinsics import sync
from amdjit.probe.case import Batch, Case, Group, Results
from amdjit.target import Target

__all__ = ["batches", "tiny"]

_BLOCK = 256
_FACTOR = 2.5


@amdjit.kernel
def _saxpy(a, x, y, out):
    i = amdjit.grid(1)
    if i < out.shape[0]:
        out[i] = a * x[i] + y[i]


@amdjit.kernel
def _reversed_blocks(x, out):
    i = amdjit.grid(1)
    values = shared.array(256, amdjit.f32)
    values[amdjit.threadIdx.x] = x[i]
    sync.lds_barrier()
    out[i] = values[amdjit.blockDim.x - 1 - amdjit.threadIdx.x]


@amdjit.kernel
def _histogram(values, counts):
    i = amdjit.grid(1)
    if i < values.shape[0]:
        atomic.add(counts, values[i], 1)


def tiny() -> bool:
    """Return whether the current device still computes: one wave adds two arrays."""
    x, out = np.arange(32, dtype=np.float32), np.zeros(32, np.float32)
    _saxpy[1, 32](np.float32(2), x, x, out)
    return bool((out == 3 * x).all())


def batches(target: Target) -> tuple[Batch, ...]:
    """Return the only batch of this module."""
    return (Batch("examples/basics", Group.EXAMPLES, 60, True, _cases, expected=2.0),)


def _cases(target: Target) -> Iterator[Case]:
    yield Case("saxpy", "saxpy", _run_saxpy, _numbers)
    yield Case("LDS", "LDS", _run_lds)
    yield Case("atomic add", "atomic add", _run_histogram)


def _saxpy_data() -> NDArray[np.float32]:
    return np.random.default_rng(1).standard_normal((2, 1000)).astype(np.float32)


def _numbers(result: int, element: int) -> str:
    x, y = _saxpy_data()[:, element].tolist()
    return f"{_FACTOR} * {x} + {y}"


def _run_saxpy() -> Results:
    x, y = _saxpy_data()
    out = np.zeros_like(x)
    _saxpy[4, _BLOCK](np.float32(_FACTOR), x, y, out)
    return (out,)


def _run_lds() -> Results:
    x = np.random.default_rng(2).standard_normal(1024).astype(np.float32)
    out = np.zeros_like(x)
    _reversed_blocks[4, _BLOCK](x, out)
    return (out,)


def _run_histogram() -> Results:
    values = np.random.default_rng(3).integers(0, 64, 4096).astype(np.int32)
    counts = np.zeros(64, np.int32)
    _histogram[16, _BLOCK](values, counts)
    return (counts,)
