"""Arrays for the tests of whole-array work: of every type, shape and layout, on host and device."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
from hypothesis import strategies as st

import amdjit

BF16, FP8, BF8 = ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2
INTEGERS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
FLOATS = [np.float16, BF16, np.float32, np.float64]
COMPLEX = [np.complex64, np.complex128]
PAIR = np.dtype([("a", "i4"), ("b", "i4")])
# Sizes around the borders of waves, workgroups and tiles.
BORDERS = [0, 1, 2, 31, 32, 33, 63, 65, 255, 256, 257, 511, 513, 2047, 2049, 4095, 4096, 4097, 9001]

shapes = st.lists(st.sampled_from([0, 1, 2, 3, 5, 7, 33, 40]), max_size=4).filter(
    lambda shape: np.prod(shape, dtype=np.int64) <= 20_000
)
borders = st.sampled_from(BORDERS)


def numbers(shape: Any, dtype: Any, seed: int = 1) -> Any:
    """Return small whole numbers of a type: sums of a few thousand are exact in f32 and wider."""
    random = np.random.default_rng(seed)
    low = 0 if np.dtype(dtype).kind in "ub" else -5
    whole = random.integers(low, 2 if np.dtype(dtype) == np.bool_ else 6, shape)
    if np.dtype(dtype).kind == "c":
        return (whole + 1j * random.integers(-5, 6, shape)).astype(dtype)
    return np.asarray(whole).astype(dtype)


@st.composite
def views(draw: st.DrawFn, dtype: Any, least_axes: int = 0) -> Any:
    """Draw an array: contiguous, transposed, reversed, or with steps."""
    shape = draw(shapes.filter(lambda shape: len(shape) >= least_axes))
    array = numbers(shape, dtype, draw(st.integers(0, 3)))
    if array.ndim == 0:
        return array
    kind = draw(st.sampled_from(["contiguous", "transposed", "reversed", "steps"]))
    if kind == "transposed":
        return array.T
    if kind == "reversed":
        return array[::-1]
    return array[..., ::2] if kind == "steps" else array


def on_device(array: Any) -> amdjit.DeviceArray:
    """Return a device array with the same contents and, for views with axes, the same strides."""
    base = array if array.base is None or array.ndim == 0 else array.base
    if base.ndim != array.ndim or base.dtype != array.dtype:
        return amdjit.to_device(array)
    device = amdjit.to_device(base)
    return amdjit.DeviceArray(
        device.device,
        device.address + array.__array_interface__["data"][0] - base.__array_interface__["data"][0],
        array.shape,
        array.dtype,
        array.strides,
        device,
    )


def same(found: Any, expected: Any) -> None:
    """Check that two arrays have the same type, shape and values; NaN equals NaN."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.dtype == expected.dtype, (found.dtype, expected.dtype)
    assert found.shape == expected.shape, (found.shape, expected.shape)
    if expected.dtype in (BF16, FP8, BF8):
        found, expected = found.astype(np.float32), expected.astype(np.float32)
    np.testing.assert_array_equal(found, expected)
