"""Views and records together: slices of record arrays, fields of slices, parts of fields."""

from __future__ import annotations

import numpy as np

import amdjit
from amdjit import threadIdx

PARTICLE = np.dtype([("x", "f4"), ("n", "i4"), ("v", "f4", (4,))])


@amdjit.kernel
def parts(a, out):
    i = threadIdx.x
    rest = a[2:]
    rest[i].n = i
    total = 0.0
    for x in a["x"][1:4]:
        total += x
    out[i] = rest[i].x + total + a[::-1]["x"][i]
    a[i].v[2:][0] = 7.0


def test_parts_of_record_arrays_are_read_and_written_in_place() -> None:
    a = np.zeros(34, PARTICLE)
    a["x"] = np.arange(34)
    expected = a.copy()
    expected["n"][2:] = np.arange(32)
    expected["v"][:32, 2] = 7
    out = np.zeros(32, np.float32)
    parts[1, 32](a, out)
    np.testing.assert_array_equal(out, a["x"][2:] + 6 + a["x"][::-1][:32])
    np.testing.assert_array_equal(a, expected)
