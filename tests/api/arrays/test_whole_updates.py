"""`a += x` of an array changes its elements, as in NumPy."""

from __future__ import annotations

import numpy as np

from tests.api.lanes import same_as_python


def updated(i, a, b, out):
    row = a[i]
    row += 2
    row *= b
    row[1:] -= 3
    same = row
    same += 5
    out[i, 1] = row[1] * 10 + same[2]
    own = b[:3]
    own += 1
    out[i, 2] = row[1] * 10 + own[0] + b.sum()


def test_an_array_with_a_name_is_updated_in_place() -> None:
    a, b = np.arange(20, dtype=np.int32).reshape(4, 5), np.array([1, 2, 3, 1, 2], np.int32)
    same_as_python(updated, a, b, np.zeros((4, 3), np.int32), lanes=1)
