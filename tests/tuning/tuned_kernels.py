"""Kernels that the tests of tuning tune: cheap ones, and ones that go wrong in every way."""

from __future__ import annotations

import os
import time
from typing import Any

import numpy as np

import amdjit
from amdjit import Const
from amdjit.language.compile_time import compile_time


def grid(c: Any) -> int:
    """Workgroups of a launch over `n` elements."""
    return int(-(-c.n // (64 * c.per)))


@amdjit.kernel(block=(64, 1, 1))
def double(x, out, n, per: Const):
    first = amdjit.grid(1) * per
    for k in range(per):
        if first + k < n:
            out[first + k] = x[first + k] * 2


@compile_time
def accident(compilation, per, way):
    """Go wrong while the kernel is compiled, if `per` is 2."""
    if per == 2:
        if way == "exit":
            os._exit(7)
        if way == "hang":
            time.sleep(600)
        if way == "memory":
            kept = [np.empty(1 << 24) for _ in range(4096)]
            return len(kept)
        if way == "error":
            raise ZeroDivisionError("one of the user's own")
    return 0


@amdjit.kernel(block=(64, 1, 1))
def perilous(x, out, n, per: Const, way: Const):
    accident(per, way)
    first = amdjit.grid(1) * per
    for k in range(per):
        if first + k < n:
            out[first + k] = x[first + k] * 2


@amdjit.kernel(block=(64, 1, 1))
def mistaken(x, out, n, per: Const):
    first = amdjit.grid(1) * per
    for k in range(per):
        if first + k < n:
            out[first + k] = x[first + k] * (3 if per == 4 else 2)


@amdjit.kernel(block=(64, 1, 1))
def racing(x, out, n, per: Const):
    tile = amdjit.shared.array(64, amdjit.f32)
    i = amdjit.threadIdx.x
    tile[i] = x[i]
    if per != 2:
        amdjit.syncthreads()
    out[i] = tile[63 - i]


@amdjit.kernel(block=(64, 1, 1))
def accumulate(x, total, n, per: Const):
    first = amdjit.grid(1) * per
    for k in range(per):
        if first + k < n:
            total[first + k] += x[first + k]
