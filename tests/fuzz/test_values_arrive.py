"""Numbers of every type, in tuples in one another, pass through kernels bit for bit: as arguments,
calls, loops.

A NaN stays a NaN; its other bits go through Python's float where the launch packs it
(docs/types.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st
from ml_dtypes import bfloat16, float8_e4m3fn, float8_e5m2

import amdjit
from tests.fuzz.fuzzed_device import OLDER, emulator, processor
from tests.fuzz.running import define

DTYPES = [
    *(
        np.dtype(kind)
        for kind in [
            "i1",
            "i2",
            "i4",
            "i8",
            "u1",
            "u2",
            "u4",
            "u8",
            "f2",
            "f4",
            "f8",
            "c8",
            "c16",
            "?",
        ]
    ),
    *(np.dtype(kind) for kind in (bfloat16, float8_e4m3fn, float8_e5m2)),
]


@st.composite
def numbers(draw: st.DrawFn) -> Any:
    """A number of any bits; a bool is 0 or 1."""
    dtype = draw(st.sampled_from(DTYPES))
    data = draw(st.binary(min_size=dtype.itemsize, max_size=dtype.itemsize))
    return np.frombuffer(bytes([data[0] & 1]) if dtype == np.bool_ else data, dtype)[0]


def tuples(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(inner, min_size=1, max_size=3).map(tuple)


VALUES = tuples(st.recursive(numbers(), tuples, max_leaves=8))


def leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Yield each number with the expression that reads it."""
    if not isinstance(value, tuple):
        yield path, value
        return
    for k, item in enumerate(value):
        yield from leaves(item, f"{path}[{k}]")


_WAYS = {
    "argument": "    kept = value\n",
    "call": "    kept = same(value)\n",
    "loop": "    kept = value\n    for k in range(limit):\n        kept = same(kept) if k % 2 "
    "else kept\n",
    "branch": "    if limit > 2:\n        kept = value\n    else:\n        kept = same(value)\n",
}
_HELPER = "@device_function(inline=False)\ndef same(x):\n    return x\n\n\n"


def check(value: tuple[Any, ...], way: str) -> None:
    parts = list(leaves(value, "kept"))
    stores = "".join(f"    out[{k}][0] = {path}\n" for k, (path, _) in enumerate(parts))
    source = f"{_HELPER}def run(value, limit, out):\n{_WAYS[way]}{stores}"
    note(source)
    out = tuple(np.zeros(1, number.dtype) for _, number in parts)
    run = define(source, {"device_function": amdjit.device_function})["run"]
    with emulator():
        amdjit.kernel(run)[1, 1](value, 5, out)
    for (path, number), array in zip(parts, out, strict=True):
        same = same_part(array[0].real, number.real) and same_part(array[0].imag, number.imag)
        assert same, f"{path} is {array[0]!r}, {number!r} was passed"


def same_part(found: Any, passed: Any) -> bool:
    """Whether two real numbers have the same bits, or are both NaN."""
    return bool(found != found and passed != passed) or found.tobytes() == passed.tobytes()


_SETTINGS = settings(
    deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck)
)


@settings(_SETTINGS, max_examples=30)
@given(VALUES, st.sampled_from(list(_WAYS)))
def test_random_values_arrive_as_they_were(value: tuple[Any, ...], way: str) -> None:
    check(value, way)


@pytest.mark.exhaustive
@settings(_SETTINGS, max_examples=1500, derandomize=False)
@given(VALUES, st.sampled_from(list(_WAYS)))
def test_many_random_values_arrive_as_they_were(value: tuple[Any, ...], way: str) -> None:
    check(value, way)


@OLDER
@pytest.mark.exhaustive
@settings(_SETTINGS, max_examples=200, derandomize=False)
@given(VALUES, st.sampled_from(list(_WAYS)))
def test_many_random_values_arrive_on_older_families(
    cpu: str, value: tuple[Any, ...], way: str
) -> None:
    with processor(cpu):
        check(value, way)
