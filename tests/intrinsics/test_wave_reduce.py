"""Reductions and scans over the lanes of a wave, run on the emulator, against NumPy over the active lanes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit.intrinsics import wave_reduce as wave

RANDOM = np.random.default_rng(13)
ARITHMETIC = ("add", "mul", "min", "max")
BITWISE = ("and", "or", "xor")
NUMPY = {"add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum, "and": np.bitwise_and,
         "or": np.bitwise_or, "xor": np.bitwise_xor}  # fmt: skip
DTYPES = ["i4", "u4", "i8", "u8", "f2", "f4", "f8"]
FORMS = 5


@amdjit.kernel
def combine(values, active, heads, out, operations: amdjit.Const):
    i = amdjit.grid(1)
    if active[i] != 0:
        value, head = values[i], heads[i] != 0
        for n in amdjit.static_range(len(operations)):
            out[5 * n, i] = wave.reduce(value, operations[n])
            out[5 * n + 1, i] = wave.inclusive_scan(value, operations[n])
            out[5 * n + 2, i] = wave.exclusive_scan(value, operations[n])
            out[5 * n + 3, i] = wave.segmented_inclusive_scan(value, head, operations[n])
            out[5 * n + 4, i] = wave.segmented_exclusive_scan(value, head, operations[n])


def expected(operation: str, values: Any, heads: Any) -> list[Any]:
    """Return the five forms over one wave's active lanes, lane by lane in plain Python."""
    ufunc = NUMPY[operation]
    identity = wave.neutral(amdjit.types.from_dtype(values.dtype), operation)
    start = np.array(identity).astype(values.dtype)[()]
    forms = [[], [], [], [], []]
    total = segment = start
    for value, head in zip(values, heads, strict=True):
        segment = start if head else segment
        forms[2].append(total)
        forms[4].append(segment)
        total, segment = ufunc(total, value), ufunc(segment, value)
        forms[1].append(total)
        forms[3].append(segment)
    forms[0] = [total] * len(values)
    return forms


def sample(dtype: str, count: int, operation: str) -> Any:
    if dtype[0] == "f":
        # Exact in any order: small integers for sums, powers of two for products.
        exact = RANDOM.integers(-9, 10, count) if operation != "mul" else RANDOM.choice([-1.0, 1.0, 2.0, 0.5], count)
        return exact.astype(dtype)
    limits = np.iinfo(dtype)
    return RANDOM.integers(limits.min, limits.max, count, dtype=dtype, endpoint=True)


@pytest.mark.parametrize("wave_size", [32, 64])
@pytest.mark.parametrize("dtype", DTYPES)
def test_reductions_and_scans_are_over_the_active_lanes(dtype: str, wave_size: int) -> None:
    count = 4 * wave_size
    operations = ARITHMETIC if dtype[0] == "f" else ARITHMETIC + BITWISE
    active = np.ones(count, np.int32)
    active[wave_size : 2 * wave_size] = RANDOM.random(wave_size) < 0.6
    active[2 * wave_size : 3 * wave_size] = np.arange(wave_size) >= wave_size - 5
    active[3 * wave_size :] = np.arange(wave_size) < 19
    kernel = amdjit.kernel(wave_size=wave_size)(combine.function)
    groups = [("mul",), tuple(o for o in operations if o != "mul")]
    for names in groups:
        values, heads = sample(dtype, count, names[0]), (RANDOM.random(count) < 0.15).astype(np.int32)
        out = np.zeros((FORMS * len(names), count), dtype)
        kernel[2, 2 * wave_size](values, active, heads, out, names)
        with np.errstate(over="ignore"):
            check(out, values, active, heads, names, wave_size)


def check(out: Any, values: Any, active: Any, heads: Any, names: tuple[str, ...], wave_size: int) -> None:
    for start in range(0, len(values), wave_size):
        lanes = start + np.flatnonzero(active[start : start + wave_size])
        for number, operation in enumerate(names):
            wanted = expected(operation, values[lanes], heads[lanes])
            found = out[FORMS * number : FORMS * (number + 1)][:, lanes]
            np.testing.assert_array_equal(found, np.array(wanted), err_msg=f"{operation}, wave at {start}")
