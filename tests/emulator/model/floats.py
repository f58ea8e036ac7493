"""VALU instructions on floats (RDNA 4 ISA, 16.7, 16.8 and 16.12)."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from tests.emulator.exact_rounding import rounded
from tests.emulator.model import ieee
from tests.emulator.model.conversions import CONVERSIONS, Float, negative, to_integer
from tests.emulator.model.eighth import encoded
from tests.emulator.model.nans import with_nans
from tests.emulator.model.operation import Op, op
from tests.emulator.model.values import (
    FLOATS,
    Numbers,
    choose,
    each,
    each_float,
    fma,
    integers,
    numbers,
    patterns,
)


def quieted(x: Numbers) -> Numbers:
    return np.where(np.isnan(x), np.asarray(np.nan, x.dtype), x)


def smaller(x: Numbers, y: Numbers) -> Numbers:
    """minimumNumber: a number wins over NaN, -0 is below +0."""
    below = (x < y) | ((x == 0) & (y == 0) & negative(x) & ~negative(y))
    return choose(np.isnan(x), y, choose(np.isnan(y), x, choose(below, x, y)))


def larger(x: Numbers, y: Numbers) -> Numbers:
    return -smaller(-x, -y)


def minimum(x: Numbers, y: Numbers) -> Numbers:
    """NaN wins over a number, -0 is below +0."""
    return choose(np.isnan(x), x, choose(np.isnan(y), y, smaller(x, y)))


def maximum(x: Numbers, y: Numbers) -> Numbers:
    return -minimum(-x, -y)


def median(x: Numbers, y: Numbers, z: Numbers) -> Numbers:
    """Return the middle one, -0 below +0, or with a NaN the smallest of the others."""
    middle = larger(smaller(x, y), smaller(larger(x, y), z))
    broken = np.isnan(x) | np.isnan(y) | np.isnan(z)
    return choose(broken, smaller(smaller(x, y), z), middle)


def fraction_of(x: Numbers) -> Numbers:
    """x - floor(x), but never 1."""
    almost = np.nextafter(np.asarray(1, x.dtype), np.asarray(0, x.dtype))
    return np.minimum(x - np.floor(x), almost)


def scaled(x: float, exponent: int, kind: type) -> float:
    """x times a power of two, rounded once."""
    if not math.isfinite(x) or not x:
        return x
    near = min(max(exponent, -5000), 5000)
    result = rounded(Fraction(x) * Fraction(2) ** near, kind)
    return math.copysign(result, x)


def times_power(x: Numbers, y: Numbers) -> Numbers:
    kind = x.dtype.type
    return np.array([scaled(float(a), int(b), kind) for a, b in zip(x, y, strict=True)]).astype(
        kind
    )


def exponent_of(x: Numbers) -> Numbers:
    return integers([math.frexp(float(v))[1] if math.isfinite(v) else 0 for v in x])


def mantissa_of(x: Numbers) -> Numbers:
    return choose(np.isfinite(x), np.frexp(np.where(np.isfinite(x), x, 0))[0], quieted(x))


def class_of(x: float, signals: bool, smallest: float) -> int:
    """The number of the bit of V_CMP_CLASS."""
    minus = math.copysign(1.0, x) < 0
    if math.isnan(x):
        return 0 if signals else 1
    if math.isinf(x):
        return 2 if minus else 9
    if abs(x) >= smallest:
        return 3 if minus else 8
    if x:
        return 4 if minus else 7
    return 5 if minus else 6


def is_class(code: str) -> Callable[..., Numbers]:
    quiet = {"f16": 1 << 9, "f32": 1 << 22, "f64": 1 << 51}[code]
    smallest = float(np.finfo(FLOATS[code]).smallest_normal)

    def compute(x: Numbers, y: Numbers) -> Numbers:
        signals = [not int(bits) & quiet for bits in patterns(x, code)]
        found = [class_of(float(v), s, smallest) for v, s in zip(x, signals, strict=True)]
        return np.array([int(mask) >> bit & 1 for mask, bit in zip(y, found, strict=True)], bool)

    return compute


def in_double(function: Callable[[Numbers], Numbers]) -> Float:
    """Compute in double precision and round."""
    return lambda x: function(x.astype(np.float64)).astype(x.dtype)


def sine(shift: float) -> Float:
    """sin of x turns (plus a quarter for the cosine); not a number for infinities."""

    def compute(x: Numbers) -> Numbers:
        wide = x.astype(np.float64)
        turn = wide - np.floor(wide)
        return np.sin((turn + shift) * (2 * np.pi)).astype(x.dtype)

    return compute


def products_of_zero(x: Numbers, y: Numbers, otherwise: Numbers, zero: Numbers) -> Numbers:
    return choose((x == 0) | (y == 0), zero, otherwise)


def without_subnormals(function: Float) -> Float:
    """Take subnormal f32 operands for zeros, and return zeros for subnormal results (captured on a
    gfx1201 and a gfx1100)."""

    def flushed(x: Numbers) -> Numbers:
        if x.dtype != np.float32:
            return x
        return choose(np.abs(x) < np.float32(2.0**-126), np.copysign(np.float32(0), x), x)

    return lambda x: flushed(function(flushed(x)))


def _arithmetic(code: str) -> dict[str, Op]:
    two, three = f"{code} {code}", f"{code} {code} {code}"
    table = {
        f"v_add_{code}": op(code, two, lambda x, y: x + y),
        f"v_mul_{code}": op(code, two, lambda x, y: x * y),
        f"v_min_num_{code}": op(code, two, smaller),
        f"v_max_num_{code}": op(code, two, larger),
        f"v_minimum_{code}": op(code, two, minimum),
        f"v_maximum_{code}": op(code, two, maximum),
        f"v_fma_{code}": op(code, three, fma),
        f"v_trunc_{code}": op(code, code, np.trunc),
        f"v_ceil_{code}": op(code, code, np.ceil),
        f"v_floor_{code}": op(code, code, np.floor),
        f"v_rndne_{code}": op(code, code, np.rint),
        f"v_fract_{code}": op(code, code, fraction_of),
        f"v_rcp_{code}": op(
            code, code, without_subnormals(lambda x: np.asarray(1, x.dtype) / x), ulps=1
        ),
        f"v_rsq_{code}": op(
            code, code, without_subnormals(in_double(lambda x: 1 / np.sqrt(x))), ulps=1
        ),
        f"v_sqrt_{code}": op(code, code, without_subnormals(np.sqrt), ulps=1),
        f"v_frexp_mant_{code}": op(code, code, mantissa_of),
        f"v_frexp_exp_i{16 if code == 'f16' else 32}_{code}": op(
            "i16" if code == "f16" else "i32", code, exponent_of, clamps=True
        ),
        f"v_ldexp_{code}": op(code, f"{code} {'i16' if code == 'f16' else 'i32'}", times_power),
    }
    if code == "f64":
        return table
    return table | {
        f"v_sub_{code}": op(code, two, lambda x, y: x - y),
        f"v_subrev_{code}": op(code, two, lambda x, y: y - x),
        f"v_fmac_{code}": op(code, two, fma, old=True),
        f"v_exp_{code}": op(code, code, without_subnormals(in_double(np.exp2)), ulps=1),
        f"v_log_{code}": op(code, code, without_subnormals(in_double(np.log2)), ulps=1),
        f"v_sin_{code}": op(
            code, code, sine(0.0), ulps=1, absolute=2e-7 if code == "f32" else 1e-4
        ),
        f"v_cos_{code}": op(
            code, code, sine(0.25), ulps=1, absolute=2e-7 if code == "f32" else 1e-4
        ),
        f"v_min3_num_{code}": op(code, three, lambda x, y, z: smaller(smaller(x, y), z)),
        f"v_max3_num_{code}": op(code, three, lambda x, y, z: larger(larger(x, y), z)),
        f"v_minimum3_{code}": op(code, three, lambda x, y, z: minimum(minimum(x, y), z)),
        f"v_maximum3_{code}": op(code, three, lambda x, y, z: maximum(maximum(x, y), z)),
        f"v_med3_num_{code}": op(code, three, median),
        f"v_minmax_num_{code}": op(code, three, lambda x, y, z: larger(smaller(x, y), z)),
        f"v_maxmin_num_{code}": op(code, three, lambda x, y, z: smaller(larger(x, y), z)),
        f"v_minimummaximum_{code}": op(code, three, lambda x, y, z: maximum(minimum(x, y), z)),
        f"v_maximumminimum_{code}": op(code, three, lambda x, y, z: minimum(maximum(x, y), z)),
        f"v_fmaak_{code}": op(code, f"{code} {code} k{code}", fma),
        f"v_fmamk_{code}": op(code, f"{code} k{code} {code}", fma),
    }


SINGLE: dict[str, Op] = {
    "v_rcp_iflag_f32": op("f32", "f32", without_subnormals(lambda x: np.float32(1) / x), ulps=1),
    "v_mul_dx9_zero_f32": op(
        "f32", "f32 f32", lambda x, y: products_of_zero(x, y, x * y, np.float32(0))
    ),
    "v_fma_dx9_zero_f32": op(
        "f32", "f32 f32 f32", lambda x, y, z: products_of_zero(x, y, fma(x, y, z), z + 0)
    ),
    "v_mullit_f32": op(
        "f32",
        "f32 f32 f32",
        lambda x, y, z: choose(
            (y > np.finfo(np.float32).min) & (z > 0), x * y, np.finfo(np.float32).min
        ),
    ),
}


def cube(which: int) -> Float:
    """Face, S, T or twice the major axis of the direction (x, y, z), which is chosen as if
    subnormal numbers were 0."""

    def one(*xyz: float) -> float:
        x, y, z = xyz
        a, b, c = (v if abs(v) >= 2.0**-126 or math.isnan(v) else 0.0 for v in xyz)
        if abs(c) >= abs(a) and abs(c) >= abs(b):
            return ((5.0 if c < 0 else 4.0), (-x if c < 0 else x), -y, 2 * c)[which]
        if abs(b) >= abs(a):
            return ((3.0 if b < 0 else 2.0), x, (-z if b < 0 else z), 2 * b)[which]
        return ((1.0 if a < 0 else 0.0), (z if a < 0 else -z), -y, 2 * a)[which]

    return lambda x, y, z: each_float(np.float32, one, x, y, z)


CUBES: dict[str, Op] = {
    f"v_cube{name}_f32": op("f32", "f32 f32 f32", cube(which))
    for which, name in enumerate(("id", "sc", "tc", "ma"))
}


def fixed_up(code: str) -> Float:
    """V_DIV_FIXUP: the quotient S0 of S2 / S1, with the special cases put right."""
    form = ieee.FORMATS[code]

    def compute(*operands: Numbers) -> Numbers:
        rows = zip(*(patterns(operand, code) for operand in operands), strict=True)
        return numbers(
            np.array([ieee.div_fixup(form, *map(int, row)) for row in rows], np.uint64), code
        )

    return compute


DIVISION: dict[str, Op] = {
    "v_div_fixup_f16": op("f16", "f16 f16 f16", fixed_up("f16")),
    "v_div_fixup_f32": op("f32", "f32 f32 f32", fixed_up("f32")),
    "v_div_fixup_f64": op("f64", "f64 f64 f64", fixed_up("f64")),
}


def to_bytes(kind: str) -> Float:
    """Two f32 to two bytes; an unspecified NaN byte is written as the kind's own."""

    def one(value: float) -> int:
        byte = encoded(value, kind)
        return 127 if byte is None else byte

    return lambda x, y: each(lambda a, b: one(float(a)) | one(float(b)) << 8, x, y)


FLOAT_OPS: dict[str, Op] = with_nans(
    {
        "v_cvt_pk_fp8_f32": op("2xfp8", "f32 f32", to_bytes("fp8")),
        "v_cvt_pk_bf8_f32": op("2xbf8", "f32 f32", to_bytes("bf8")),
        **_arithmetic("f16"),
        **_arithmetic("f32"),
        **_arithmetic("f64"),
        **SINGLE,
        **CONVERSIONS,
        **CUBES,
        **DIVISION,
        "v_cvt_pk_u8_f32": op(
            "b32",
            "f32 u32 b32",
            lambda x, y, z: each(_inserted, to_integer(8, False, np.rint)(x), y, z),
        ),
    }
)


def _inserted(byte: int, place: int, rest: int) -> int:
    shift = 8 * (place & 3)
    return rest & ~(255 << shift) | byte << shift
