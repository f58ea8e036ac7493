"""Conditions only test for truth, as in Python, whatever the types of their operands."""

from __future__ import annotations

import numpy as np
import pytest

import amdjit
from amdjit import atomic, i32, threadIdx


def all_tested(i, a, b, c, out):
    if a[i] and b[i]:
        out[i] = 1
    if not (b[i] or c[i]):
        out[i] += 2
    out[i] += 4 if (a[i] or b[i]) and not c[i] else 8
    w = 0
    while c[i] and (w < 3 and a[i]):
        w += 1
    out[i] += w * 16
    if a[i] if b[i] else c[i]:
        out[i] += 64
    match w:
        case 3 if b[i] or c[i]:
            out[i] += 128
    assert a[i] or b[i] or c[i] or out[i] == 10
    out[i] += 256 * (not (c[i] and b[i]))


def test_what_is_only_tested_may_have_several_types() -> None:
    @amdjit.kernel
    def kernel(a, b, c, out):
        all_tested(threadIdx.x, a, b, c, out)

    lanes = np.arange(8)
    a, b = (lanes & 1).astype(np.int8), (lanes >> 1 & 1).astype(np.uint64)
    c = np.where(lanes & 4, np.float32(1e-40), np.float32(-0.0))
    expected, out = np.zeros(8, np.int32), np.zeros(8, np.int32)
    for lane in lanes:
        all_tested(lane, a, b, c, expected)
    with amdjit.use("emulator:gfx1201"):
        kernel[1, 8](a, b, c, out)
    assert out.tolist() == expected.tolist()


def test_what_decides_a_test_of_several_types_keeps_the_rest_from_being_evaluated() -> None:
    @amdjit.kernel
    def kernel(a, b, calls, out):
        i = threadIdx.x
        if a[i] and (atomic.add(calls, 0, 1) or b[i]) and (atomic.add(calls, 1, 1) >= 0 or b[i]):
            out[i] = 1
        if a[i] or not (b[i] and atomic.add(calls, 2, 1) >= 0):
            out[i] += 2

    a, b = np.array([0, 1, 0, 1], np.int8), np.array([0, 0, 7, 7], np.uint16)
    calls, out = np.array([1, 0, 0], np.int32), np.zeros(4, np.int32)
    with amdjit.use("emulator:gfx1201"):
        kernel[1, 4](a, b, calls, out)
    assert calls.tolist() == [3, 2, 1]
    assert out.tolist() == [2, 3, 0, 3]


def test_the_value_of_and_keeps_one_type() -> None:
    @amdjit.kernel
    def kernel(a, b, out):
        out[0] = a[0] and b[0]

    with pytest.raises(amdjit.TypeCheckError, match="AJ0215"):
        kernel.compile(amdjit.i64[:], amdjit.u64[:], i32[:], target="gfx1201")
