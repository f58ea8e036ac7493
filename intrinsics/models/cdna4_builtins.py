"""Reference models of builtins that CDNA 4 has: conversions with a scale and by random bits,
functions of bits, and exchanges between lanes.

Arguments are numbers, or arrays that agree in all axes but those of a vector's elements, the last
ones. Exchanges take a wave's registers, one value per lane.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any

import ml_dtypes
import numpy as np

# Floats of 8, 6 and 4 bits with a scale, a power of two: rounded to the nearest, or by random bits.
#
# What the CDNA 4 ISA document (7.3) leaves open is as in AMD's reference for the host
# (`amd_hip_ocp_host.hpp` of HIP): as many of the uppermost random bits count as the source has more
# mantissa bits than the result; a NaN is the largest number in formats that have none; a scale of
# 255 is NaN; wide NaNs are quiet and keep the sign.


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


_NAME = re.compile(r"cvt_scalef32_(?P<form>(?:sr_)?(?:pk32_|2xpk16_|pk_)?)(?P<to>\w+)_(?P<of>\w+)")


def cdna4_result(name: str, *arguments: Any) -> Any:
    """Return what a builtin computes; None if there is no model of it."""
    if name in _OTHERS:
        return _OTHERS[name](*arguments)
    found = _NAME.fullmatch(name)
    if found is None or not {found["to"], found["of"]} <= {*SMALL_FLOATS, "f32"}:
        return None
    table = _WIDENINGS if found["to"] in WIDE else _NARROWINGS
    return table[found["form"]](found["of"], found["to"], *arguments)


def _widen_one(of: str, to: str, *arguments: Any) -> Any:
    old, (source, scale, byte, *upper) = (None, arguments) if to == "f32" else _split(arguments)
    number = widened(_words(source) >> 8 * byte, of, to, scale_exponent(scale))
    return number[()] if old is None else _replaced(old, WIDE[to][0], int(upper[0]), number)


def _split(arguments: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
    return arguments[0], arguments[1:]


def _widen_pair(of: str, to: str, source: Any, scale: Any, place: int) -> Any:
    bits = SMALL_FLOATS[of].bits
    first = _words(source) >> 2 * bits * int(place)
    return widened(
        np.stack([first, first >> bits], axis=-1), of, to, scale_exponent(scale)[..., None]
    )


def _widen_block(of: str, to: str, source: Any, scale: Any) -> Any:
    dwords = _words(source)
    bits = dwords[..., None] >> np.arange(32, dtype=np.uint32) & 1
    fields = bits.reshape(*dwords.shape[:-1], -1, 6)
    codes = (fields << np.arange(6, dtype=np.uint32)).sum(axis=-1)
    return widened(codes, of, to, scale_exponent(scale)[..., None])


def _narrow_one(of: str, to: str, old: Any, value: Any, random: Any, scale: Any, byte: int) -> Any:
    code = narrowed(value, of, to, scale_exponent(scale), _words(random))
    return _replaced_bits(old, code, 8 * byte, 8)


def _narrow_pair(of: str, to: str, old: Any, *arguments: Any) -> Any:
    *numbers, scale, place = arguments
    pair = np.stack(numbers, axis=-1) if len(numbers) == 2 else np.asarray(numbers[0])
    return _inserted_pair(to, old, narrowed(pair, of, to, scale_exponent(scale)[..., None]), place)


def _narrow_pair_by_chance(
    of: str, to: str, old: Any, pair: Any, random: Any, scale: Any, place: int
) -> Any:
    draws = _draws(random, 2)
    return _inserted_pair(
        to, old, narrowed(pair, of, to, scale_exponent(scale)[..., None], draws), place
    )


def _inserted_pair(to: str, old: Any, codes: Array, place: int) -> Any:
    """Return a register with two codes in its half, or byte, `place`."""
    bits = SMALL_FLOATS[to].bits
    both = codes[..., 0] | codes[..., 1] << bits
    if bits == 8:
        return _replaced(old, np.dtype(np.int16), int(place), both.astype(np.uint16).view(np.int16))
    return _replaced_bits(old, both, 8 * place, 8)


def _narrow_block(of: str, to: str, *arguments: Any) -> Any:
    *numbers, scale = arguments
    # Those of two operands take turns.
    block = np.stack(numbers, axis=-1).reshape(*np.shape(numbers[0])[:-1], 32)
    return _packed(narrowed(block, of, to, scale_exponent(scale)[..., None]))


def _narrow_block_by_chance(of: str, to: str, block: Any, random: Any, scale: Any) -> Any:
    draws = _draws(random, 32)
    return _packed(narrowed(block, of, to, scale_exponent(scale)[..., None], draws))


def _draws(random: Any, count: int) -> Array:
    """Return the random bits of each number: the later ones follow from those given."""
    found = [_words(random)]
    while len(found) < count:
        found.append(next_random(found[-1]))
    return np.stack(found, axis=-1)


def _packed(codes: Array) -> Array:
    """Return 32 codes of 6 bits in 6 dwords."""
    bits = codes[..., None] >> np.arange(6, dtype=np.uint32) & 1
    dwords = bits.reshape(*codes.shape[:-1], 6, 32) << np.arange(32, dtype=np.uint32)
    return dwords.sum(axis=-1, dtype=np.uint32)


def _words(values: Any) -> Array:
    """Return integers of 32 bits as u32."""
    held = np.asarray(values)
    return held.astype(np.uint32) if held.dtype.kind in "iu" else held.view(np.uint32)


def _replaced(old: Any, dtype: np.dtype[Any], place: int, value: Any) -> Array:
    found = np.array(old, dtype)
    found[..., place] = value
    return found


def _replaced_bits(old: Any, value: Array, start: int, count: int) -> Any:
    kept = _words(old) & np.uint32(~(((1 << count) - 1) << start) & 0xFFFFFFFF)
    return (kept | value << start).view(getattr(old, "dtype", np.dtype(np.uint32)))[()]


def _round_by_chance(to: str, old: Any, value: Any, random: Any, upper: bool) -> Any:
    """A NaN keeps the leading bits of its mantissa and is quiet, which is a model: no document says
    what it becomes."""
    dtype, mantissa, _ = WIDE[to]
    held = np.asarray(value, np.float32)
    bits = held.view(np.uint32)
    quiet = SMALL_FLOATS[to].nan | (bits & 0x7FFFFF) >> 23 - mantissa
    signed = quiet | bits >> 31 << 15
    code = np.where(np.isnan(held), signed, narrowed(held, "f32", to, None, _words(random)))
    return _replaced(old, dtype, int(upper), code.astype(np.uint16).view(dtype))


def _looked_up(a: Any, b: Any, c: Any, table: int) -> Any:
    """Return for each place the bit of the table whose number the bits of a, b and c make."""
    sources = [np.asarray(each) for each in (a, b, c)]
    found = np.zeros(np.broadcast_shapes(*(each.shape for each in sources)), sources[0].dtype)
    for number in range(8):
        if table >> number & 1:
            first, second, third = (
                each if number >> place & 1 else ~each
                for each, place in zip(sources, (2, 1, 0), strict=True)
            )
            found |= first & second & third
    return found[()]


def _shifted_bytes(a: Any, b: Any, amount: Any, low: int, high: int) -> Any:
    """Return two shifted signed numbers, saturated to a byte each."""
    count = _words(amount) & np.uint32(31)
    parts = [
        np.clip(_words(each).view(np.int32) >> count.view(np.int32), low, high) & 255
        for each in (a, b)
    ]
    return (parts[0] | parts[1] << 8).astype(np.uint16)[()]


def _swapped_rows(old: Any, source: Any, _fi: bool, _bound: bool, *, lanes: int) -> Array:
    """Exchange every second group of lanes, from the second on, with those before of the other
    register; all lanes are active."""
    found = np.stack([_words(old), _words(source)], axis=-1).reshape(-1, 2, lanes, 2)
    result = found.copy()
    result[:, 1, :, 0], result[:, 0, :, 1] = found[:, 0, :, 1], found[:, 1, :, 0]
    return result.reshape(-1, 2)


def _prng(state: Any) -> Any:
    return next_random(_words(state))[()]


Model = Callable[..., Any]
_WIDENINGS: Mapping[str, Model] = MappingProxyType(
    {"": _widen_one, "pk_": _widen_pair, "pk32_": _widen_block}
)
_NARROWINGS: Mapping[str, Model] = MappingProxyType(
    {
        "sr_": _narrow_one,
        "pk_": _narrow_pair,
        "sr_pk_": _narrow_pair_by_chance,
        "pk32_": _narrow_block,
        "2xpk16_": _narrow_block,
        "sr_pk32_": _narrow_block_by_chance,
    }
)
_OTHERS: Mapping[str, Model] = MappingProxyType(
    {
        "cvt_sr_f16_f32": partial(_round_by_chance, "f16"),
        "cvt_sr_bf16_f32": partial(_round_by_chance, "bf16"),
        "bitop3_b32": _looked_up,
        "bitop3_b16": _looked_up,
        "ashr_pk_i8_i32": partial(_shifted_bytes, low=-128, high=127),
        "ashr_pk_u8_i32": partial(_shifted_bytes, low=0, high=255),
        "prng_b32": _prng,
        "permlane16_swap": partial(_swapped_rows, lanes=16),
        "permlane32_swap": partial(_swapped_rows, lanes=32),
    }
)
