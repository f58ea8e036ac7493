"""Packed 16-bit arithmetic, medians, dot products, bit counts, saturating packs: the emulator
against the models."""

from __future__ import annotations

import re
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import amdjit
from amdjit import bf8, bf16, f16, f32, fp8, i32
from amdjit.intrinsics import arithmetic, convert
from amdjit.testing import isa

RANDOM = np.random.default_rng(18)


def words(dtype: Any, count: int) -> Any:
    limits = np.iinfo(dtype)
    return RANDOM.integers(limits.min, limits.max, count, endpoint=True, dtype=dtype)


@amdjit.kernel
def packed_halves(x, y, z, out):
    i = 2 * amdjit.grid(1)
    a, b, c = x.load(i, 2), y.load(i, 2), z.load(i, 2)
    out[0].store(i, a + b)
    out[1].store(i, a - b)
    out[2].store(i, a * b)
    out[3].store(i, arithmetic.fma(a, b, c))
    out[4].store(i, min(a, b))
    out[5].store(i, max(a, b))


def test_pairs_of_halves_take_one_instruction_each() -> None:
    x, y, z = (RANDOM.normal(size=128).astype(np.float16) for _ in range(3))
    out = np.zeros((6, 128), np.float16)
    packed_halves[1, 64](x, y, z, out)
    expected = [x + y, x - y, x * y, arithmetic.fma(x, y, z), np.minimum(x, y), np.maximum(x, y)]
    np.testing.assert_array_equal(out, expected)
    wide = [v.astype(np.float64) for v in (x, y, z)]
    np.testing.assert_array_equal(out[3], (wide[0] * wide[1] + wide[2]).astype(np.float16))
    code = isa(packed_halves.compile(*[f16[::1]] * 3, f16[:, ::1])).count("v_pk_*", 6)
    code.count("v_pk_add_f16", 2)
    for once in ("fma", "maximum", "minimum", "mul"):
        code.count(f"v_pk_{once}_f16", 1)


@amdjit.kernel
def packed_integers(x, y, z, out):
    i = 2 * amdjit.grid(1)
    a, b, c = x.load(i, 2), y.load(i, 2), z.load(i, 2)
    out[0].store(i, a + b)
    out[1].store(i, a - b)
    out[2].store(i, a * b + c)
    out[3].store(i, min(a, b))
    out[4].store(i, max(a, b))
    out[5].store(i, arithmetic.add_saturating(a, b))
    out[6].store(i, arithmetic.subtract_saturating(a, b))


@pytest.mark.parametrize("dtype", [np.int16, np.uint16])
def test_pairs_of_integers_take_one_instruction_each(dtype: Any) -> None:
    x, y, z = (words(dtype, 128) for _ in range(3))
    out = np.zeros((7, 128), dtype)
    packed_integers[1, 64](x, y, z, out)
    with np.errstate(over="ignore"):
        plain = [x + y, x - y, x * y + z, np.minimum(x, y), np.maximum(x, y)]
    np.testing.assert_array_equal(out[:5], plain)
    np.testing.assert_array_equal(out[5], arithmetic.add_saturating(x, y))
    np.testing.assert_array_equal(out[6], arithmetic.subtract_saturating(x, y))
    limits = np.iinfo(dtype)
    np.testing.assert_array_equal(out[5], np.clip(x.astype(int) + y, limits.min, limits.max))
    element = amdjit.types.from_dtype(np.dtype(dtype))
    assembly = packed_integers.compile(*[element[::1]] * 3, element[:, ::1]).asm_full
    assert len(re.findall(r"v_pk_\w+", assembly)) == 7
    assert len(re.findall(r"v_pk_(add|sub)_\w+ .*clamp", assembly)) == 2


@amdjit.kernel
def medians(x, y, z, out):
    i = amdjit.grid(1)
    out[i] = arithmetic.med3(x[i], y[i], z[i])


@pytest.mark.parametrize("dtype", ["i2", "u2", "i4", "u4", "f2", "f4"])
def test_the_median_is_one_instruction(dtype: str) -> None:
    kind = np.dtype(dtype)
    x, y, z = (
        RANDOM.normal(size=64).astype(kind) if dtype[0] == "f" else words(kind, 64)
        for _ in range(3)
    )
    out = np.zeros(64, kind)
    medians[1, 64](x, y, z, out)
    np.testing.assert_array_equal(out, np.median([x, y, z], axis=0).astype(kind))
    assert [arithmetic.med3(*row) for row in zip(x, y, z, strict=True)] == out.tolist()
    element = amdjit.types.from_dtype(kind)
    isa(medians.compile(*[element[:]] * 4)).count("v_med3_*", 1)


@amdjit.kernel
def counted(x, out):
    i = amdjit.grid(1)
    out[0, i] = arithmetic.popcount(x[i])
    out[1, i] = arithmetic.clz(x[i])
    out[2, i] = arithmetic.ctz(x[i])
    out[3, i] = arithmetic.bit_reverse(x[i])


@pytest.mark.parametrize("dtype", [np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64])
def test_bits_are_counted_and_turned_as_the_models_say(dtype: Any) -> None:
    x = words(dtype, 64)
    x[:4] = [0, 1, np.iinfo(dtype).max, 256]
    x >>= (np.arange(64) % x.dtype.itemsize).astype(dtype)
    out = np.zeros((4, 64), dtype)
    counted[1, 64](x, out)
    functions = (arithmetic.popcount, arithmetic.clz, arithmetic.ctz, arithmetic.bit_reverse)
    np.testing.assert_array_equal(out, [[function(value) for value in x] for function in functions])
    width = 8 * x.dtype.itemsize
    text = [format(int(value) % 2**width, f"0{width}b") for value in x]
    np.testing.assert_array_equal(out[0], [bits.count("1") for bits in text])
    np.testing.assert_array_equal(out[1], [(bits + "1").index("1") for bits in text])
    np.testing.assert_array_equal(out[2], [(bits[::-1] + "1").index("1") for bits in text])


@amdjit.kernel
def fused(x, y, z, out):
    i = amdjit.grid(1)
    out[i] = arithmetic.fma(x[i], y[i], z[i])


def test_fused_products_are_rounded_once() -> None:
    x, y = (RANDOM.normal(size=512).astype(np.float32) for _ in range(2))
    z = (-x * y).astype(np.float32)
    z[::3] = RANDOM.normal(size=len(z[::3]))
    out = np.zeros(512, np.float32)
    fused[8, 64](x, y, z, out)
    np.testing.assert_array_equal(out, arithmetic.fma(x, y, z))
    # What is left of x * y - x * y is its rounding error, which single precision holds.
    exact = x.astype(np.float64) * y + z.astype(np.float64)
    np.testing.assert_array_equal(out[1::3], exact[1::3].astype(np.float32))


@amdjit.kernel
def eighth_dots(a, b, c, out):
    i = amdjit.grid(1)
    out[i] = arithmetic.dot4_float(a.load(4 * i, 4), b.load(4 * i, 4), c[i])


EIGHTHS = {"fp8": (ml_dtypes.float8_e4m3fn, fp8), "bf8": (ml_dtypes.float8_e5m2, bf8)}


@pytest.mark.parametrize("left", EIGHTHS)
@pytest.mark.parametrize("right", EIGHTHS)
def test_dot_products_of_8_bit_floats(left: str, right: str) -> None:
    a, b = (RANDOM.normal(size=(64, 4)).astype(EIGHTHS[kind][0]) for kind in (left, right))
    c, out = RANDOM.normal(size=64).astype(np.float32), np.zeros(64, np.float32)
    eighth_dots[1, 64](a.ravel(), b.ravel(), c, out)
    wide = (a.astype(np.float64) * b.astype(np.float64)).sum(axis=1) + c
    np.testing.assert_allclose(out, wide, rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(
        out, [arithmetic.dot4_float(*row) for row in zip(a, b, c, strict=True)]
    )
    types = EIGHTHS[left][1][:], EIGHTHS[right][1][:], f32[:], f32[:]
    assert eighth_dots.compile(*types).asm_full.count(f"v_dot4_f32_{left}_{right}") == 1


@amdjit.kernel
def narrow_dots(a, b, c, out):
    i = amdjit.grid(1)
    out[i] = arithmetic.dot2_narrow(a.load(2 * i, 2), b.load(2 * i, 2), c[i])


@pytest.mark.parametrize(("dtype", "type"), [(np.float16, f16), (ml_dtypes.bfloat16, bf16)])
def test_dot_products_of_pairs_in_their_own_type(dtype: Any, type: Any) -> None:
    a, b = (RANDOM.integers(-7, 8, (64, 2)).astype(dtype) for _ in range(2))
    c, out = RANDOM.integers(-99, 100, 64).astype(dtype), np.zeros(64, dtype)
    narrow_dots[1, 64](a.ravel(), b.ravel(), c, out)
    exact = (a.astype(np.float32) * b.astype(np.float32)).sum(axis=1) + c.astype(np.float32)
    np.testing.assert_array_equal(out, exact.astype(dtype))
    assert narrow_dots.compile(*[type[:]] * 4).asm_full.count(f"v_dot2_{type}_{type}") == 1


@amdjit.kernel
def pair_dots(a, b, c, out):
    i = amdjit.grid(1)
    out[0, i] = arithmetic.dot2(a.load(2 * i, 2), b.load(2 * i, 2), c[i])
    out[1, i] = arithmetic.dot2(a.load(2 * i, 2), b.load(2 * i, 2), c[i], clamp=True)


def test_the_model_of_dot2_is_what_the_emulator_does() -> None:
    a, b = (RANDOM.normal(size=(64, 2)).astype(np.float16) for _ in range(2))
    c, out = RANDOM.normal(size=64).astype(np.float32), np.zeros((2, 64), np.float32)
    pair_dots[1, 64](a.ravel(), b.ravel(), c, out)
    np.testing.assert_array_equal(
        out[0], [arithmetic.dot2(*row) for row in zip(a, b, c, strict=True)]
    )
    np.testing.assert_array_equal(
        out[1], [arithmetic.dot2(*row, True) for row in zip(a, b, c, strict=True)]
    )


@amdjit.kernel
def packed(x, fp, bf):
    i = 4 * amdjit.grid(1)
    fp.store(i, convert.pack_fp8(x[i], x[i + 1], x[i + 2], x[i + 3], saturate=True))
    bf.store(i, convert.pack_bf8(x[i], x[i + 1], x[i + 2], x[i + 3], saturate=True))


def test_packs_saturate_with_one_more_instruction_a_number() -> None:
    x = np.ldexp(RANDOM.uniform(-1, 1, 256), RANDOM.integers(-4, 40, 256)).astype(np.float32)
    x[:6] = [np.inf, -np.inf, 448, -449, 57344, 1e30]
    x[6] = np.nan
    fp, bf = np.zeros(256, ml_dtypes.float8_e4m3fn), np.zeros(256, ml_dtypes.float8_e5m2)
    packed[1, 64](x, fp, bf)
    for found, limit in ((fp, 448), (bf, 57344)):
        assert np.isnan(found[6].astype(np.float32))
        expected = np.clip(np.delete(x, 6), -limit, limit).astype(found.dtype)
        np.testing.assert_array_equal(np.delete(found, 6).view(np.uint8), expected.view(np.uint8))
    assembly = packed.compile(f32[:], fp8[:], bf8[:]).asm_full
    assert len(re.findall(r"v_(minimummaximum|maximumminimum)_f32", assembly)) == 8


@amdjit.kernel
def stochastic(x, random, out):
    i = amdjit.grid(1)
    out[0, i] = convert.stochastic_fp8(x[i], random[i])
    out[1, i] = convert.stochastic_bf8(x[i], random[i], i32(0x11223344), 2)


def test_stochastic_rounding_is_what_the_model_says() -> None:
    x = np.ldexp(RANDOM.uniform(-1, 1, 512), RANDOM.integers(-18, 18, 512)).astype(np.float32)
    x[:5] = [0, -0.0, np.inf, -np.inf, 448]
    random, out = words(np.uint32, 512), np.zeros((2, 512), np.int32)
    stochastic[8, 64](x, random, out)
    models = [convert.stochastic_fp8(a, b, 0, 0) for a, b in zip(x, random, strict=True)]
    np.testing.assert_array_equal(out[0], models)
    models = [convert.stochastic_bf8(a, b, 0x11223344, 2) for a, b in zip(x, random, strict=True)]
    np.testing.assert_array_equal(out[1], models)
