"""Functions of bf16 under Numba's names, against exact results."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from amdjit import numba_cuda as cuda
from amdjit.numba_cuda import bf16, float32

pytestmark = pytest.mark.filterwarnings(
    "ignore:f64 arithmetic", "ignore:invalid value encountered in cast"
)

B = ml_dtypes.bfloat16
ALL = np.arange(1 << 16).astype(np.uint16).view(B)


def nearest(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return f64 rounded once: bits beyond f32 are folded into its last one."""
    bits = np.ascontiguousarray(values, np.float64).view(np.int64)
    rest = bits & ((1 << 29) - 1)
    bits = (bits & ~((1 << 29) - 1)) | np.where((rest != 0) & np.isfinite(values), 1 << 29, 0)
    with np.errstate(over="ignore", under="ignore"):
        return bits.view(np.float64).astype(np.float32).astype(B)


def same(found: np.ndarray[Any, Any], expected: np.ndarray[Any, Any]) -> None:
    """Compare all bits but those of NaN."""
    a, b = found.view(np.uint16), expected.view(np.uint16)
    both_nan = np.isnan(found.astype(np.float32)) & np.isnan(expected.astype(np.float32))
    wrong = np.flatnonzero((a != b) & ~both_nan)
    assert not len(wrong), (ALL[wrong[:4]], found[wrong[:4]], expected[wrong[:4]])


UNARY: dict[str, Callable[..., Any]] = {
    "hexp": np.exp,
    "hexp2": np.exp2,
    "hexp10": lambda x: np.power(10.0, x),
    "hlog": np.log,
    "hlog2": np.log2,
    "hlog10": np.log10,
    "hsin": np.sin,
    "hcos": np.cos,
    "htanh": np.tanh,
    "hsqrt": np.sqrt,
    "hrsqrt": lambda x: 1 / np.sqrt(x),
    "hrcp": lambda x: 1 / x,
    "hrint": np.rint,
    "hfloor": np.floor,
    "hceil": np.ceil,
    "htrunc": np.trunc,
    "hneg": np.negative,
    "habs": np.abs,
}


@pytest.mark.sample(9)
@pytest.mark.parametrize("name", UNARY)
def test_functions_of_all_numbers(name: str) -> None:
    function = getattr(bf16, name)

    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        out[i] = function(x[i])

    out = np.zeros_like(ALL)
    kernel[256, 256](ALL, out)
    with np.errstate(all="ignore"):
        same(out, nearest(UNARY[name](ALL.astype(np.float64))))


def numbers(count: int, seed: int) -> np.ndarray[Any, Any]:
    """Return random bits, half of them with exponents near 1."""
    generator = np.random.default_rng(seed)
    bits = generator.integers(0, 1 << 16, count, np.uint16)
    near = (bits & 0x807F) | (generator.integers(112, 142, count, np.uint16) << 7)
    return np.where(np.arange(count) % 2, bits, near).astype(np.uint16).view(B)


def rounded(exact: Fraction) -> float:
    """Return the nearest bf16 of a fraction, by trying the neighbours of a near one."""
    guess = np.array([float(exact)], np.float32).astype(B)
    middle = int(guess.view(np.uint16)[0])
    around = [np.array([middle + d], np.uint16).view(B) for d in (-1, 0, 1) if middle + d >= 0]
    finite = [each for each in around if np.isfinite(float(each[0]))]
    best = min(
        finite, key=lambda v: (abs(Fraction(float(v[0])) - exact), int(v.view(np.uint16)[0]) & 1)
    )
    return float(best[0])


@cuda.jit
def fused(x, y, z, out):
    i = cuda.grid(1)
    out[i] = bf16.hfma(x[i], y[i], z[i])


def test_a_fused_product_is_rounded_once() -> None:
    x, y, z = (numbers(4096, seed) for seed in (1, 2, 3))
    # A product midway between two numbers, and a third one that is too small for f32.
    x[:4], y[:4], z[:4] = B(1.0078125), B(1.5), np.array([1e-30, -1e-30, 0, 1e-9]).astype(B)
    out = np.zeros_like(x)
    fused[16, 256](x, y, z, out)
    compared = 0
    for a, b, c, found in zip(*(v.astype(float).tolist() for v in (x, y, z, out)), strict=True):
        if not all(map(math.isfinite, (a, b, c))):
            continue
        exact = Fraction(a) * Fraction(b) + Fraction(c)
        if 0 < abs(exact) < Fraction(3.3e38):
            assert found == rounded(exact), (a, b, c)
            compared += 1
    assert compared > 3000
    assert out[1] < out[2] == out[0]


@cuda.jit
def pairs(x, y, out, truth):
    i = cuda.grid(1)
    a, b = x[i], y[i]
    out[i, 0], out[i, 1] = bf16.hadd(a, b), bf16.hsub(a, b)
    out[i, 2], out[i, 3] = bf16.hmul(a, b), bf16.hdiv(a, b)
    out[i, 4], out[i, 5] = bf16.hmax(a, b), bf16.hmin(a, b)
    out[i, 6], out[i, 7] = bf16.hmax_nan(a, b), bf16.hmin_nan(a, b)
    out[i, 8], out[i, 9] = bf16.hadd_sat(a, b), bf16.hfma_relu(a, b, bf16.bfloat16(0.0))
    truth[i, 0], truth[i, 1] = bf16.heq(a, b), bf16.hequ(a, b)
    truth[i, 2], truth[i, 3] = bf16.hne(a, b), bf16.hneu(a, b)
    truth[i, 4], truth[i, 5] = bf16.hlt(a, b), bf16.hltu(a, b)
    truth[i, 6], truth[i, 7] = bf16.hle(a, b), bf16.hleu(a, b)
    truth[i, 8], truth[i, 9] = bf16.hgt(a, b), bf16.hgtu(a, b)
    truth[i, 10], truth[i, 11] = bf16.hge(a, b), bf16.hgeu(a, b)
    truth[i, 12], truth[i, 13] = bf16.hisnan(a), bf16.hisinf(a)


def test_functions_of_two_numbers() -> None:
    x, y = numbers(2048, 4), numbers(2048, 5)
    x[:6], y[:6] = np.array([1, np.nan, np.nan, np.inf, -np.inf, 2]).astype(B), B(1)
    y[2] = np.nan
    out, truth = np.zeros((2048, 10), B), np.zeros((2048, 14), np.int8)
    pairs[8, 256](x, y, out, truth)
    a, b = x.astype(np.float64), y.astype(np.float64)
    with np.errstate(all="ignore"):
        total, product = nearest(a + b).astype(float), nearest(a * b).astype(float)
        expected = [a + b, a - b, a * b, a / b, np.fmax(a, b), np.fmin(a, b), np.maximum(a, b)]
        expected += [np.minimum(a, b), np.clip(np.nan_to_num(total, nan=0), 0, 1)]
        expected += [np.maximum(product, 0)]
    for number, each in enumerate(expected):
        same(np.ascontiguousarray(out[:, number]) + B(0), nearest(each) + B(0))
    either = np.isnan(a) | np.isnan(b)
    ordered = [a == b, ~either & (a != b), a < b, a <= b, a > b, a >= b]
    for number, each in enumerate(ordered):
        assert (truth[:, 2 * number] == each).all()
        assert (truth[:, 2 * number + 1] == (each | either)).all()
    assert (truth[:, 12] == np.isnan(a)).all()
    assert (truth[:, 13] == np.isinf(a) * np.sign(np.nan_to_num(a))).all()


def directed(exact: int | Fraction, how: str) -> float:
    """Return a bf16 next to a number, as the name of the way of rounding says."""
    around = rounded(Fraction(exact))
    if how == "rn" or Fraction(around) == exact:
        return around
    goal = {"rd": -math.inf, "ru": math.inf, "rz": -math.inf if exact > 0 else math.inf}[how]
    is_beyond = (Fraction(around) < exact) == (goal < 0)
    step = np.nextafter(B(around), B(goal))
    return around if is_beyond else float(step)


@pytest.mark.sample(3)
@pytest.mark.parametrize("kind", ["int16", "uint16", "int32", "uint32", "int64", "uint64"])
def test_conversions_of_integers(kind: str) -> None:
    ways = [getattr(bf16, f"{kind}_to_bfloat16_{how}") for how in ("rn", "rz", "rd", "ru")]
    back = [getattr(bf16, f"bfloat16_to_{kind}_{how}") for how in ("rn", "rz", "rd", "ru")]
    rn, rz, rd, ru = ways
    to_rn, to_rz, to_rd, to_ru = back

    @cuda.jit
    def kernel(x, out, numbers, integers):
        i = cuda.grid(1)
        out[i, 0], out[i, 1], out[i, 2], out[i, 3] = rn(x[i]), rz(x[i]), rd(x[i]), ru(x[i])
        a = numbers[i]
        integers[i, 0], integers[i, 1] = to_rn(a), to_rz(a)
        integers[i, 2], integers[i, 3] = to_rd(a), to_ru(a)

    limits = np.iinfo(kind)
    generator = np.random.default_rng(7)
    x = generator.integers(limits.min, limits.max, 512, kind, endpoint=True)
    x >>= generator.integers(0, limits.bits - 1, 512).astype(kind)
    x[:4] = limits.min, limits.max, 0, 257
    a = numbers(512, 8)
    a[:4] = np.array([1.5, -2.5, np.nan, np.inf]).astype(B)
    out, integers = np.zeros((512, 4), B), np.zeros((512, 4), kind)
    kernel[2, 256](x, out, a, integers)
    for row, value in zip(out.astype(float).tolist(), x.tolist(), strict=True):
        assert row == [directed(value, how) for how in ("rn", "rz", "rd", "ru")], value
    with np.errstate(invalid="ignore"):
        for number, way in enumerate((np.rint, np.trunc, np.floor, np.ceil)):
            for value, found in zip(
                way(a.astype(float)).tolist(), integers[:, number], strict=True
            ):
                exact = 0 if math.isnan(value) else min(max(value, limits.min), limits.max)
                assert int(found) == int(exact), value


@cuda.jit
def from_floats(x, wide, out):
    i = cuda.grid(1)
    out[i, 0], out[i, 1] = bf16.float32_to_bfloat16_rn(x[i]), bf16.float32_to_bfloat16_rz(x[i])
    out[i, 2], out[i, 3] = bf16.float32_to_bfloat16_rd(x[i]), bf16.float32_to_bfloat16_ru(x[i])
    out[i, 4] = bf16.float64_to_bfloat16(wide[i])
    bits = bf16.bfloat16_as_uint16(out[i, 4])
    out[i, 5] = bf16.uint16_as_bfloat16(bits)
    wide[i] = bf16.bfloat16_to_float32(out[i, 4])


def test_conversions_of_floats() -> None:
    generator = np.random.default_rng(9)
    x = generator.integers(0, 1 << 32, 1024, np.uint32).view(np.float32)
    x[:6] = np.array([np.inf, 3.3999e38, -3.3999e38, 1e-45, -1e-45, 0], np.float32)
    x[6:7] = np.array([0x7F800001], np.uint32).view(np.float32)  # a NaN of low bits only
    wide = np.float64(1) + generator.random(1024) * 2.0**-7
    wide[0] = 1 + 2.0**-8 + 2.0**-40  # an f32 between would be midway
    out = np.zeros((1024, 6), B)
    given = wide.copy()
    from_floats[4, 256](x, wide, out)
    for row, value in zip(out.astype(float).tolist(), x.tolist(), strict=True):
        if math.isnan(value):
            assert all(map(math.isnan, row[:4]))
        elif math.isfinite(value) and abs(value) < 3.38e38:
            assert row[:4] == [directed(Fraction(value), how) for how in ("rn", "rz", "rd", "ru")]
    largest = float(ml_dtypes.finfo(B).max)
    assert out[1, :4].tolist() == [math.inf, largest, largest, math.inf]
    assert out[2, :4].tolist() == [-math.inf, -largest, -math.inf, -largest]
    same(np.ascontiguousarray(out[:, 4]), nearest(given))
    assert (out[:, 5] == out[:, 4]).all()
    assert (wide == out[:, 4].astype(float)).all()


@cuda.jit
def operators(out):
    a = bf16.bfloat16(3.0)
    b = bf16.bfloat16(float32(0.5))
    a += b
    out[0] = float32(a / b)
    if isinstance(math.exp(a), bf16.bfloat16):
        out[1] = float32(-a)


def test_the_type_has_operators() -> None:
    out = np.zeros(2, np.float32)
    operators[1, 1](out)
    assert out.tolist() == [7, -3.5]
