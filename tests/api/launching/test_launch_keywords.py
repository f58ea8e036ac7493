"""`kernel.launch(...)`: the same launches as `kernel[...]`, by keywords."""

from __future__ import annotations

import numpy as np
import pytest

import amdjit


@amdjit.kernel
def place(out, low):
    i = amdjit.grid(1)
    if low.shape[0] > 0:
        tile = amdjit.shared.dynamic(amdjit.i32)
        tile[amdjit.threadIdx.x] = i
        amdjit.syncthreads()
        out[i] = tile[amdjit.blockDim.x - 1 - amdjit.threadIdx.x]


def test_launches_by_keywords_are_those_by_brackets() -> None:
    low = np.zeros(1, np.int32)
    expected, found = np.zeros(128, np.int32), np.zeros(128, np.int32)
    stream = amdjit.Stream()
    place[2, 64, stream, 256](expected, low)
    place.launch(grid=(2,), block=64, stream=stream, dynamic_lds=256)(found, low)
    np.testing.assert_array_equal(found, expected)
    assert found[0] == 63  # what 256 bytes of dynamic LDS were for
    place.launch(2, 64, dynamic_lds=256)(found[::-1], low)
    np.testing.assert_array_equal(found[::-1], expected)


def test_the_mistakes_are_those_of_brackets() -> None:
    low = np.zeros(1, np.int32)
    with pytest.raises(amdjit.LaunchError, match="the block is 0"):
        place.launch(grid=1, block=0)(low, low)
    with pytest.raises(amdjit.LaunchError, match=r"dynamic LDS is 1\.5"):
        place.launch(grid=1, block=1, dynamic_lds=1.5)(low, low)
