"""Reference models of builtins that CDNA 4 has: conversions with a scale and by random bits,
functions of bits, and exchanges between lanes.

Arguments are numbers, or arrays that agree in all axes but those of a vector's elements, the last
ones. Exchanges take a wave's registers, one value per lane.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

from amdjit.intrinsics.models.small_floats import (
    SMALL_FLOATS,
    WIDE,
    Array,
    narrowed,
    next_random,
    scale_exponent,
    widened,
)

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
