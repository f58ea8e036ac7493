"""Conversions of 8-bit floats on gfx942 (FNUZ) and gfx950 (OCP), against ml_dtypes (CDNA 3 and CDNA
4 ISA, V_CVT_PK_FP8_F32)."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

from tests.emulator.gfx9_instruction import LANES, assert_same, run_gfx9
from tests.emulator.required_tools import needs_tools

pytestmark = needs_tools

_FORMATS = {
    ("gfx942", "fp8"): ml_dtypes.float8_e4m3fnuz,
    ("gfx942", "bf8"): ml_dtypes.float8_e5m2fnuz,
    ("gfx950", "fp8"): ml_dtypes.float8_e4m3fn,
    ("gfx950", "bf8"): ml_dtypes.float8_e5m2,
}


@pytest.mark.parametrize(("cpu", "kind"), _FORMATS)
def test_all_codes_of_8_bit_floats_are_widened(cpu: str, kind: str) -> None:
    codes = np.arange(256, dtype=np.uint8)
    with np.errstate(all="ignore"):
        expected = codes.view(_FORMATS[cpu, kind]).astype(np.float32).reshape(LANES, 4).T
    body = "\n".join(
        [
            f"  v_cvt_f32_{kind} v10, v1",
            *(f"  v_cvt_f32_{kind}_sdwa v{10 + n}, v1 src0_sel:BYTE_{n}" for n in (1, 2, 3)),
            f"  v_cvt_pk_f32_{kind} v[14:15], v1",
            f"  v_cvt_pk_f32_{kind}_sdwa v[16:17], v1 src0_sel:WORD_1",
        ]
    )
    found = run_gfx9(cpu, body, [codes.view(np.uint32)], tuple(range(10, 18))).view(np.float32)
    for row in range(8):
        assert_same(found[row], expected[row % 4])


def _narrowing_rows(kind: Any) -> list[NDArray[np.float32]]:
    """Numbers that a format has, between two of which it has none, that are too large, and NaN."""
    codes = np.arange(256, dtype=np.uint8).view(kind).astype(np.float32)
    numbers = np.sort(codes[np.isfinite(codes)])
    middles = (numbers[1:] + numbers[:-1]) / 2
    more = [np.inf, -np.inf, np.nan, -np.nan, 1e30, -1e30, 1e-30, -1e-30]
    largest = float(numbers[-1])
    more += [largest * factor for factor in (1.01, 1.04, 1.0625, 1.07, 1.12, 1.13, -1.07, -1.3)]
    every = np.concatenate([numbers, middles, np.nextafter(middles, np.float32(0)), more])
    every = np.resize(every.astype(np.float32), -(-len(every) // LANES) * LANES)
    return list(every.reshape(-1, LANES))


@pytest.mark.covering(1)
@pytest.mark.parametrize(("cpu", "kind"), _FORMATS)
@pytest.mark.parametrize("overflow", [0, 1])
def test_singles_are_rounded_to_8_bit_floats(cpu: str, kind: str, overflow: int) -> None:
    form = _FORMATS[cpu, kind]
    body = f"""
  v_mov_b32 v9, 0x12345678
  v_cvt_pk_{kind}_f32 v9, v1, v2
  v_mov_b32 v10, 0x12345678
  v_cvt_pk_{kind}_f32 v10, v1, v2 op_sel:[0,0,1]
"""
    largest = np.float32(ml_dtypes.finfo(form).max)
    rows = _narrowing_rows(form)
    for x, y in zip(rows, rows[1:] + rows[:1], strict=True):
        low, high = run_gfx9(cpu, body, [x, y], (9, 10), overflow=overflow)
        assert np.all(low >> 16 == 0x1234)
        assert np.all(high & 0xFFFF == 0x5678)
        assert np.array_equal(low & 0xFFFF, high >> 16)
        for value, codes in ((x, low & 0xFF), (y, low >> 8 & 0xFF)):
            with np.errstate(all="ignore"):
                limited = np.clip(value, -largest, largest) if overflow else value
                limited = np.where(np.isinf(value), value, limited)
                expected = limited.astype(form)
            numbers = ~np.isnan(expected.astype(np.float32))
            assert np.array_equal(codes[numbers], expected.view(np.uint8)[numbers])
            assert np.all(np.isnan(codes.astype(np.uint8).view(form).astype(np.float32)[~numbers]))


@pytest.mark.parametrize(("cpu", "kind"), _FORMATS)
def test_random_bits_round_singles_to_8_bit_floats(cpu: str, kind: str) -> None:
    """As much more than a code's number as the random bits reach is rounded up."""
    form = _FORMATS[cpu, kind]
    bits = 20 if kind == "fp8" else 21
    codes = np.arange(128, dtype=np.uint8).view(form).astype(np.float32)
    numbers = np.sort(codes[np.isfinite(codes)])[8:]
    random = np.random.default_rng(7)
    places = random.integers(0, len(numbers) - 1, LANES)
    low, high = numbers[places], numbers[places + 1]
    part = (random.integers(0, 1 << 10, LANES) / (1 << 10)).astype(np.float32)
    value = low + (high - low) * part
    entropy = random.integers(0, 1 << 32, LANES).astype(np.uint32)
    rows = [value, entropy]
    body = "\n".join(
        f"  v_mov_b32 v{9 + n}, -1\n"
        f"  v_cvt_sr_{kind}_f32 v{9 + n}, v1, v2 op_sel:[0,0,{n & 1},{n >> 1}]"
        for n in range(4)
    )
    found = run_gfx9(cpu, body, rows, (9, 10, 11, 12))
    reach = (entropy >> (32 - bits)).astype(np.float64) / (1 << bits)
    expected = np.where(part.astype(np.float64) + reach >= 1, high, low)
    for n in range(4):
        code = (found[n] >> 8 * n & 0xFF).astype(np.uint8).view(form).astype(np.float32)
        assert np.array_equal(code, expected)
        rest = found[n] | np.uint32(0xFF << 8 * n)
        assert np.all(rest == 0xFFFFFFFF)
