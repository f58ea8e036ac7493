"""Functions of reals, roundings, bit operations and conversions, against NumPy and the reference
models."""

from __future__ import annotations

import math

import numpy as np
import pytest

import amdjit
from amdjit import (
    f32,
)
from amdjit.intrinsics import arithmetic, convert
from amdjit.intrinsics import math as real

RANDOM = np.random.default_rng(11)


@amdjit.kernel
def reals(x, out):
    i = amdjit.grid(1)
    if i < x.shape[0]:
        v = x[i]
        out[i, 0] = math.sqrt(v)
        out[i, 1] = math.exp(v)
        out[i, 2] = math.exp2(v)
        out[i, 3] = math.log(v)
        out[i, 4] = math.log2(v)
        out[i, 5] = math.log10(v)
        out[i, 6] = real.rcp(v)
        out[i, 7] = real.rsq(v)


@pytest.mark.parametrize(("dtype", "ulps"), [(np.float32, 2), (np.float16, 2)])
def test_real_functions_are_within_two_units_in_the_last_place(dtype: type, ulps: int) -> None:
    x = RANDOM.uniform(0.1, 8, 500).astype(dtype)
    out = np.zeros((500, 8), dtype)
    reals[4, 128](x, out)
    wide = x.astype(np.float64)
    functions = (
        np.sqrt,
        np.exp,
        np.exp2,
        np.log,
        np.log2,
        np.log10,
        np.reciprocal,
        lambda v: 1 / np.sqrt(v),
    )
    for column, function in enumerate(functions):
        exact = function(wide)
        unit = np.spacing(np.maximum(np.abs(exact), 0.25).astype(dtype)).astype(np.float64)
        assert (np.abs(out[:, column] - exact) <= ulps * unit).all(), f"column {column}"


@amdjit.kernel
def roundings(x, out):
    i = amdjit.grid(1)
    v = x[i]
    out[i, 0] = real.floor(v)
    out[i, 1] = real.ceil(v)
    out[i, 2] = real.trunc(v)
    out[i, 3] = real.rint(v)
    out[i, 4] = math.fabs(v)
    out[i, 5] = math.copysign(3.0, v)
    out[i, 6] = f32(math.floor(v))
    out[i, 7] = f32(math.ceil(v))
    out[i, 8] = 1.0 if math.isnan(v) else 0.0
    out[i, 9] = math.ldexp(v, 3)


def test_roundings_and_signs_are_exact() -> None:
    x = np.concatenate(
        [[-2.5, -0.5, 0.5, 1.5, 2.5, -0.0, 7.0, 1e9], RANDOM.uniform(-100, 100, 24)]
    ).astype(np.float32)
    out = np.zeros((32, 10), np.float32)
    roundings[1, 32](x, out)
    functions = (np.floor, np.ceil, np.trunc, np.rint, np.fabs,
        lambda v: np.copysign(np.float32(3), v), np.floor,
                 np.ceil, np.isnan, lambda v: v * 8)  # fmt: skip
    for column, function in enumerate(functions):
        np.testing.assert_array_equal(out[:, column], function(x), err_msg=f"column {column}")


@amdjit.kernel
def integers(x, y, out):
    i = amdjit.grid(1)
    out[i, 0] = arithmetic.popcount(x[i])
    out[i, 1] = arithmetic.clz(x[i])
    out[i, 2] = arithmetic.ctz(x[i])
    out[i, 3] = arithmetic.bit_reverse(x[i])
    out[i, 4] = arithmetic.mulhi(x[i], y[i])
    out[i, 5] = arithmetic.funnel_shift_left(x[i], y[i], y[i] & 31)
    out[i, 6] = arithmetic.funnel_shift_right(x[i], y[i], y[i] & 31)
    out[i, 7] = arithmetic.add_saturating(x[i], y[i])
    out[i, 8] = arithmetic.subtract_saturating(x[i], y[i])


@pytest.mark.parametrize("dtype", [np.uint32, np.int32])
def test_bit_operations_give_what_their_models_give(dtype: type) -> None:
    limits = np.iinfo(dtype)
    x, y = (
        RANDOM.integers(limits.min, limits.max, 32, endpoint=True).astype(dtype) for _ in range(2)
    )
    x[:2] = 0, limits.max
    out = np.zeros((32, 9), dtype)
    integers[1, 32](x, y, out)
    for row, a, b in zip(out, x, y, strict=True):
        bits, other = int(a) & 0xFFFFFFFF, int(b) & 0xFFFFFFFF
        text = f"{bits:032b}"
        count = other & 31
        expected = [
            text.count("1"),
            32 - bits.bit_length(),
            32 if bits == 0 else len(text) - len(text.rstrip("0")),
            int(text[::-1], 2),
            int(a) * int(b) >> 32,
            (bits << 32 | other) << count >> 32,
            (bits << 32 | other) >> count,
            min(max(int(a) + int(b), limits.min), limits.max),
            min(max(int(a) - int(b), limits.min), limits.max),
        ]
        assert [int(value) & 0xFFFFFFFF for value in row] == [
            value & 0xFFFFFFFF for value in expected
        ]


@amdjit.kernel
def conversions(x, y, out):
    i = amdjit.grid(1)
    out.store(2 * i, convert.cvt_pkrtz(x[i], y[i]))


def test_conversion_to_f16_pairs_rounds_as_its_model() -> None:
    x, y = (
        np.ldexp(RANDOM.uniform(-1, 1, 320), RANDOM.integers(-28, 20, 320)).astype(np.float32)
        for _ in range(2)
    )
    out = np.zeros(640, np.float16)
    conversions[10, 32](x, y, out)
    np.testing.assert_array_equal(out.reshape(-1, 2), convert.cvt_pkrtz(x, y))
