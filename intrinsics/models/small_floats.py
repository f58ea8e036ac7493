"""Floats of 8, 6 and 4 bits with a scale, a power of two: rounded to the nearest, or by random
bits.

What the CDNA 4 ISA document (7.3) leaves open is as in AMD's reference for the host
(`amd_hip_ocp_host.hpp` of HIP): as many of the uppermost random bits count as the source has more
mantissa bits than the result; a NaN is the largest number in formats that have none; a scale of 255
is NaN; wide NaNs are quiet and keep the sign.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import ml_dtypes
import numpy as np

Array = np.ndarray[Any, Any]
_SCALE_BIAS = 127
_NAN_SCALE = 255


@dataclass(frozen=True, slots=True)
class SmallFloat:
    """A format: its bits, those of its mantissa, the exponent of its smallest normal number, and
    codes without sign: the largest number, and what overflow and NaN become."""

    kind: Any
    bits: int
    mantissa: int
    lowest: int
    largest: int
    overflow: int
    nan: int


SMALL_FLOATS: Mapping[str, SmallFloat] = MappingProxyType(
    {
        "fp8": SmallFloat(
            ml_dtypes.float8_e4m3fn, 8, mantissa=3, lowest=-6, largest=0x7E, overflow=0x7F, nan=0x7F
        ),
        "bf8": SmallFloat(
            ml_dtypes.float8_e5m2, 8, mantissa=2, lowest=-14, largest=0x7B, overflow=0x7C, nan=0x7E
        ),
        "fp6": SmallFloat(
            ml_dtypes.float6_e2m3fn, 6, mantissa=3, lowest=0, largest=0x1F, overflow=0x1F, nan=0x1F
        ),
        "bf6": SmallFloat(
            ml_dtypes.float6_e3m2fn, 6, mantissa=2, lowest=-2, largest=0x1F, overflow=0x1F, nan=0x1F
        ),
        "fp4": SmallFloat(
            ml_dtypes.float4_e2m1fn, 4, mantissa=1, lowest=0, largest=0x7, overflow=0x7, nan=0x7
        ),
        "f16": SmallFloat(
            np.float16, 16, mantissa=10, lowest=-14, largest=0x7BFF, overflow=0x7C00, nan=0x7E00
        ),
        "bf16": SmallFloat(
            ml_dtypes.bfloat16,
            16,
            mantissa=7,
            lowest=-126,
            largest=0x7F7F,
            overflow=0x7F80,
            nan=0x7FC0,
        ),
    }
)
# Wide formats: NumPy's type, the bits of the mantissa, and a NaN without its sign.
WIDE: Mapping[str, tuple[np.dtype[Any], int, int]] = MappingProxyType(
    {
        "f32": (np.dtype(np.float32), 23, 0x7FC00000),
        "f16": (np.dtype(np.float16), 10, 0x7FFF),
        "bf16": (np.dtype(ml_dtypes.bfloat16), 7, 0x7FFF),
    }
)


def next_random(state: Array) -> Array:
    """Return the pseudo-random u32 after `state` (CDNA 4 ISA, V_PRNG_B32)."""
    return state << np.uint32(1) ^ (state >> np.uint32(31)) * np.uint32(197)


def scale_exponent(scale: Any) -> Array:
    """Return the exponent of the f32 that a conversion names, 0 to 255: the rest of it does not
    count."""
    return np.asarray(scale, np.float32).view(np.uint32).astype(np.int64) >> 23 & 255


def narrowed(
    values: Any, of: str, to: str, exponent: Array | None = None, random: Array | None = None
) -> Array:
    """Return the codes, u32, of numbers divided by 2**(exponent - 127).

    random: u32, to round by; otherwise to the nearest, ties to even.
    """
    form = SMALL_FLOATS[to]
    held = np.asarray(values, WIDE[of][0])
    # Exact: double precision holds every f32 times every scale.
    with np.errstate(invalid="ignore"):
        nan = np.isnan(held)
        magnitude = np.abs(held.astype(np.float64))
        if exponent is not None:
            nan = nan | (exponent == _NAN_SCALE)
            magnitude = np.ldexp(magnitude, _SCALE_BIAS - exponent)
    # Larger than every number, and no float by its rounding.
    bound = np.ldexp(1.0, 130)
    known = np.where(magnitude < bound, magnitude, bound)
    place = np.maximum(np.frexp(known)[1] - 1, form.lowest)
    place = np.where(known == 0, form.lowest, place).astype(np.int64)
    steps = np.ldexp(known, form.mantissa - place)
    if random is None:
        whole = np.rint(steps).astype(np.int64)
    else:
        cut = WIDE[of][1] - form.mantissa
        drawn = np.asarray(random, np.uint32).astype(np.int64) >> 32 - cut
        whole = np.floor(np.ldexp(steps, cut)).astype(np.int64) + drawn >> cut
    code = (place - form.lowest << form.mantissa) + whole
    code = np.where(code > form.largest, form.overflow, code)
    code = np.where(nan, form.nan, code)
    sign = np.signbit(held).astype(np.int64) << form.bits - 1
    return (code | sign).astype(np.uint32)


def widened(codes: Any, of: str, to: str, exponent: Array) -> Array:
    """Return the numbers of codes times 2**(exponent - 127)."""
    form = SMALL_FLOATS[of]
    dtype, _, quiet = WIDE[to]
    whole = np.dtype(f"u{dtype.itemsize}")
    code = np.asarray(codes).astype(np.uint8) & (1 << form.bits) - 1
    value = code.view(form.kind).astype(np.float64)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        number = np.ldexp(value, exponent - _SCALE_BIAS).astype(dtype)
    sign = (code >> form.bits - 1).astype(whole) << 8 * dtype.itemsize - 1
    nan = np.isnan(value) | (exponent == _NAN_SCALE)
    return np.where(nan, quiet | sign, number.view(whole)).astype(whole).view(dtype)
