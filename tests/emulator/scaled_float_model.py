"""Conversions with a scale, computed from tables of the numbers that ml_dtypes knows.

Numbers are exact in double precision. To the nearest means by comparison with the middles of
neighbours; random bits are added to integers. Rules where the CDNA 4 ISA document is silent: those
of AMD's reference for the host (`amd_hip_ocp_host.hpp`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

Bits = NDArray[np.uint32]
Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Small:
    """A format of few bits. specials: the codes of overflow, infinity and NaN, if it has them."""

    kind: Any
    bits: int
    mantissa: int
    lowest: int
    specials: tuple[int, int, int] | None = None

    @cached_property
    def values(self) -> Numbers:
        """Every code's number."""
        codes = np.arange(1 << self.bits, dtype=np.uint8)
        return codes.view(self.kind).astype(np.float64)

    @cached_property
    def largest(self) -> int:
        """The code of the largest number."""
        finite = np.isfinite(self.values[: 1 << self.bits - 1])
        return int(np.flatnonzero(finite)[-1])

    @cached_property
    def steps(self) -> Numbers:
        """The numbers from 0 on, and the one that would follow the largest."""
        known = self.values[: self.largest + 1]
        return np.append(known, 2 * known[-1] - known[-2])


SMALL = {
    "fp8": Small(ml_dtypes.float8_e4m3fn, 8, 3, -6, (0x7F, 0x7F, 0x7F)),
    "bf8": Small(ml_dtypes.float8_e5m2, 8, 2, -14, (0x7C, 0x7C, 0x7E)),
    "fp6": Small(ml_dtypes.float6_e2m3fn, 6, 3, 0),
    "bf6": Small(ml_dtypes.float6_e3m2fn, 6, 2, -2),
    "fp4": Small(ml_dtypes.float4_e2m1fn, 4, 1, 0),
}
WIDE = {
    "f32": (np.dtype(np.float32), 23),
    "f16": (np.dtype(np.float16), 10),
    "bf16": (np.dtype(ml_dtypes.bfloat16), 7),
}


def numbers(bits: Bits, kind: str) -> Numbers:
    """Return the numbers of the low bits of dwords."""
    dtype = WIDE[kind][0]
    narrow = bits.astype({2: np.uint16, 4: np.uint32}[dtype.itemsize])
    with np.errstate(invalid="ignore"):
        return narrow.view(dtype).astype(np.float64)


def prng(state: Bits) -> Bits:
    """Return the next random numbers (CDNA 4 ISA, V_PRNG_B32)."""
    wide = state.astype(np.uint64) << np.uint64(1)
    carried = np.where(state >> 31 != 0, np.uint64(197), np.uint64(0))
    return ((wide ^ carried) & np.uint64(0xFFFFFFFF)).astype(np.uint32)


def _exponent(scale: Bits) -> NDArray[np.int64]:
    return (scale >> 23 & 255).astype(np.int64) - 127


def narrowed(
    bits: Bits, scale: Bits, of: str, to: str, random: Bits | None = None, clamps: bool = False
) -> Bits:
    """Return codes; scale: the bits of the f32 that an instruction names."""
    form = SMALL[to]
    value = numbers(bits, of)
    with np.errstate(invalid="ignore"):
        magnitude = np.ldexp(np.abs(value), -_exponent(scale))
    known = np.where(np.isfinite(magnitude), magnitude, 0.0)
    code = _nearest(form, known) if random is None else _by_chance(form, known, of, random)
    over, infinity, nan = form.specials or (form.largest,) * 3
    if clamps:
        over = infinity = form.largest
    code = np.where(code > form.largest, over, code)
    code = np.where(np.isinf(magnitude), infinity, code)
    code = np.where(np.isnan(value) | (_exponent(scale) == 128), nan, code)
    return (code | np.signbit(value).astype(np.int64) << form.bits - 1).astype(np.uint32)


def _nearest(form: Small, magnitude: Numbers) -> NDArray[np.int64]:
    middles = (form.steps[1:] + form.steps[:-1]) / 2
    above = np.searchsorted(middles, magnitude, side="left")
    tie = (above < len(middles)) & (magnitude == np.append(middles, 0)[above])
    return above + (tie & (above % 2 == 1))


def _by_chance(form: Small, magnitude: Numbers, of: str, random: Bits) -> NDArray[np.int64]:
    cut = WIDE[of][1] - form.mantissa
    exponent = np.maximum(np.frexp(magnitude)[1] - 1, form.lowest)
    exponent = np.where(magnitude == 0, form.lowest, exponent)
    fixed = np.floor(np.ldexp(magnitude, cut + form.mantissa - exponent)).astype(np.int64)
    drawn = (random >> np.uint32(32 - cut)).astype(np.int64)
    place = exponent.astype(np.int64) - form.lowest
    return (place << form.mantissa) + (fixed + drawn >> cut)


def widened(codes: Bits, scale: Bits, of: str, to: str) -> Bits:
    """Return the bits of wide numbers."""
    form = SMALL[of]
    low = codes & (1 << form.bits) - 1
    value = form.values[low]
    exponent = _exponent(scale)
    dtype = WIDE[to][0]
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        wide = np.ldexp(value, exponent).astype(dtype)
    bits = wide.view({2: np.uint16, 4: np.uint32}[dtype.itemsize]).astype(np.uint32)
    sign = low >> np.uint32(form.bits - 1) << np.uint32(8 * dtype.itemsize - 1)
    nan = np.uint32(0x7FC00000 if to == "f32" else 0x7FFF)
    return np.where(np.isnan(value) | (exponent == 128), nan | sign, bits).astype(np.uint32)
