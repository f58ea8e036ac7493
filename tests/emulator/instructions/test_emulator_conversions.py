"""Conversions between numbers and the division sequences, against NumPy."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.emulator.float_checks import F16, F32, F64, Floats, quiet_numpy, run32, same
from tests.emulator.required_tools import needs_tools
from tests.emulator.single_instruction import (
    bits32,
    join64,
    run_registers,
    samples16,
    samples32,
    samples64,
    split64,
)

__all__ = ["quiet_numpy"]
pytestmark = needs_tools


INTEGERS = {
    "v_cvt_i32_f32": (np.int32, np.trunc, -(2.0**31), 2.0**31 - 1),
    "v_cvt_u32_f32": (np.uint32, np.trunc, 0.0, 2.0**32 - 1),
    "v_cvt_nearest_i32_f32": (np.int32, None, -(2.0**31), 2.0**31 - 1),
    "v_cvt_floor_i32_f32": (np.int32, np.floor, -(2.0**31), 2.0**31 - 1),
}


@pytest.mark.parametrize("name", INTEGERS)
def test_conversion_to_integers_saturates(name: str) -> None:
    kind, rounding, low, high = INTEGERS[name]
    x = samples32(1)[0].view(F32)
    exact = np.floor(x.astype(F64) + 0.5) if rounding is None else rounding(x)
    # Those that round otherwise than towards zero take a NaN's sign, as gfx1201 does.
    of_nan = np.where(np.signbit(x), low, high) if rounding is not np.trunc else 0
    expected = (
        np.where(np.isnan(x), of_nan, np.clip(exact.astype(F64), low, high))
        .astype(np.int64)
        .astype(kind)
    )
    np.testing.assert_array_equal(run32(f"{name} v100, v1", x, kind=kind), expected)


def test_conversions_between_floats_and_integers_are_numpys() -> None:
    bits = samples32(1)[0]
    same(run32("v_cvt_f32_i32 v100, v1", bits), bits.view(np.int32).astype(F32))
    same(run32("v_cvt_f32_u32 v100, v1", bits), bits.astype(F32))
    same(
        run32("v_cvt_f32_ubyte2 v100, v1", bits),
        (bits >> np.uint32(16) & np.uint32(255)).astype(F32),
    )
    x = bits.view(F32)
    found = run32("v_mov_b32 v100, 0\n  v_cvt_f16_f32 v100, v1", x, kind=np.uint32)
    same(found.astype(np.uint16).view(F16), x.astype(F16))
    halves = samples16(1)[0]
    same(run32("v_cvt_f32_f16 v100, v1", halves), halves.view(F16).astype(F32))
    wide = samples64(1)[0].view(F64)
    low = run_registers(
        "  v_cvt_f32_f64 v100, v[1:2]\n  v_cvt_i32_f64 v101, v[1:2]",
        np.stack(split64(wide)),
        [100, 101],
    )
    same(low[0].view(F32), wide.astype(F32))
    limited = np.where(np.isnan(wide), 0, np.clip(np.trunc(wide), -(2.0**31), 2.0**31 - 1)).astype(
        np.int64
    )
    np.testing.assert_array_equal(low[1].view(np.int32), limited)


def towards_zero(x: Floats) -> Floats:
    nearest = x.astype(F16)
    away = np.abs(nearest.astype(F64)) > np.abs(x.astype(F64))
    return np.where(away, (nearest.view(np.uint16) - np.uint16(1)).view(F16), nearest)


def test_packing_rounds_towards_zero() -> None:
    x, y = (row.view(F32) for row in samples32(2))
    found = run32("v_cvt_pk_rtz_f16_f32 v100, v1, v2", x, y, kind=np.uint32)
    same((found & np.uint32(0xFFFF)).astype(np.uint16).view(F16), towards_zero(x))
    same((found >> np.uint32(16)).astype(np.uint16).view(F16), towards_zero(y))
    one = run32("v_cvt_pk_rtz_f16_f32 v100, v1, v1", np.full(32, 65520.0, F32), kind=np.uint32)
    assert one[0] == 0x7BFF7BFF


@pytest.mark.parametrize(
    ("name", "kind"), [("fp8", ml_dtypes.float8_e4m3fn), ("bf8", ml_dtypes.float8_e5m2)]
)
def test_conversions_of_8_bit_floats_are_those_of_ml_dtypes(name: str, kind: Any) -> None:
    codes = np.arange(256, dtype=np.uint8)
    values = codes.view(kind).astype(F32)
    packed = np.ascontiguousarray(codes).view(np.uint32).repeat(4)
    for byte in range(4):
        found = run32(f"v_cvt_f32_{name} v100, v1 byte_sel:{byte}", packed)
        same(found[::4], values[byte::4])
    x = (np.random.default_rng(2).standard_normal(1024) * 16).astype(F32)
    x[:9] = [0.0, -0.0, 448.0, 464.0, 1e9, 2.0**-9, 2.0**-10, 1.5 * 2.0**-17, np.inf]
    y = x[::-1].copy()
    found = run32(f"v_mov_b32 v100, 0\n  v_cvt_pk_{name}_f32 v100, v1, v2", x, y, kind=np.uint32)
    low = (found & np.uint32(255)).astype(np.uint8).view(kind).astype(F32)
    same(low, x.astype(kind).astype(F32))
    high = (found >> np.uint32(8) & np.uint32(255)).astype(np.uint8).view(kind).astype(F32)
    same(high, y.astype(kind).astype(F32))


@pytest.mark.parametrize("name", ["f32", "f64"])
def test_division_sequences_are_correctly_rounded(name: str) -> None:
    kind = {"f32": F32, "f64": F64}[name]
    rows = samples32(2).view(F32) if name == "f32" else samples64(2).view(F64)
    x, y = rows
    found = divide(x, y)
    same(found, (x / y).astype(kind))


def divide(x: Floats, y: Floats) -> Floats:
    """The sequence that LLVM's legaliser emits for x / y without fast-math."""
    single = x.dtype == F32
    t = "f32" if single else "f64"

    def register(n: int) -> str:
        return f"v{n}" if single else f"v[{n}:{n + 1}]"

    xr, yr = (register(1), register(2)) if single else (register(1), register(3))
    a, n, r, e, q = (register(number) for number in (110, 112, 114, 116, 118))
    steps = [
        f"v_div_scale_{t} {a}, null, {yr}, {yr}, {xr}",
        f"v_div_scale_{t} {n}, vcc_lo, {xr}, {yr}, {xr}",
        f"v_rcp_{t} {r}, {a}",
        f"v_fma_{t} {e}, -{a}, {r}, 1.0",
        f"v_fma_{t} {r}, {e}, {r}, {r}",
        f"v_mul_{t} {q}, {n}, {r}",
        f"v_fma_{t} {e}, -{a}, {q}, {n}",
        *([f"v_fma_{t} {q}, {e}, {r}, {q}", f"v_fma_{t} {e}, -{a}, {q}, {n}"] if single else []),
        f"v_div_fmas_{t} {q}, {e}, {r}, {q}",
        f"v_div_fixup_{t} {register(100)}, {q}, {yr}, {xr}",
    ]
    body = "\n".join(f"  {step}" for step in steps)
    if single:
        return run_registers(body, np.stack([bits32(x), bits32(y)]), [100])[0].view(F32)
    low, high = run_registers(body, np.stack([*split64(x), *split64(y)]), [100, 101])
    return join64(low, high, F64)


def test_half_division_fix_up() -> None:
    x, y = samples16(2).view(F16)
    quotient = (x.astype(F32) / y.astype(F32)).astype(F16)
    inputs = np.stack([bits32(quotient), bits32(y), bits32(x)])
    found = run_registers("  v_mov_b32 v100, 0\n  v_div_fixup_f16 v100, v1, v2, v3", inputs, [100])[
        0
    ]
    same(found.astype(np.uint16).view(F16), quotient)
