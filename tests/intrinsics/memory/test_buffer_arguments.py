"""A buffer is a start and a size: arrays that may have gaps are refused."""

from __future__ import annotations

import numpy as np
import pytest

import amdjit
from amdjit import f32, threadIdx
from amdjit.intrinsics import memory


@amdjit.kernel
def first_elements(x, out):
    t = threadIdx.x
    out[t] = memory.buffer_load(memory.buffer(x), t, np.float32)


def test_a_buffer_lies_in_one_piece() -> None:
    x, out = np.arange(64, dtype=np.float32), np.zeros(32, np.float32)
    for part in (x[32:], x[::2]):  # what a host array is copied to has no gaps
        first_elements[1, 32](part, out)
        np.testing.assert_array_equal(out, part)
    for facts in ({"contiguous": False}, {"rows": True}):
        array = f32[:, :].with_facts(**facts)
        with pytest.raises(amdjit.CompileError, match="ascontiguousarray"):
            first_elements.compile(array, f32[:])
