"""Arrays that a function makes and returns live on in its caller."""

from __future__ import annotations

import numpy as np
import pytest

import amdjit


def _once(n, v):
    own = np.zeros(3, np.int64)
    own[n] = v
    return own


def _counted(n, v):
    own = np.zeros(3, np.int64)
    own[n] = v
    if n > 0:
        before = _counted(n - 1, v)
        for k in range(3):
            own[k] += before[k]
    return own


def _each(i, x, out):
    out[i, 0] = _counted((i + 1) % 3, x[i])[0]
    out[i, 1] = _once(i % 3, x[i])[0]
    counts = _counted((i + 1) % 3, x[i])
    out[i, 2] = counts[0]
    out[i, 3] = counts[0] + counts[1] + counts[2]


@pytest.mark.sample(2)
@pytest.mark.parametrize("level", [0, 1, 3])
def test_elements_of_a_returned_array_are_those_of_python(level: int) -> None:
    @amdjit.kernel(max_recursion=5, warnings=False, opt_level=level)
    def run(x, out):
        _each(amdjit.grid(1), x, out)

    x = np.arange(12) * 83 % 997
    found, expected = np.zeros((12, 4), np.int64), np.zeros((12, 4), np.int64)
    run[1, 12](x, found)
    for i in range(12):
        _each(i, x, expected)
    np.testing.assert_array_equal(found, expected)
