"""Integer operations return what their host models return, on integers of 8 to 64 bits; none is
widened on the way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit.intrinsics import arithmetic, convert

INTEGERS = (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64)
NARROW = (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32)


def integers(dtype: Any, count: int = 64) -> Any:
    """Return random integers of a type, its ends and neighbours of zero among them."""
    limits = np.iinfo(dtype)
    values = np.random.default_rng(7).integers(
        limits.min, limits.max, count, dtype=dtype, endpoint=True
    )
    values[:6] = [0, 1, limits.max, limits.min, limits.max - 1, limits.max // 2]
    return values


@amdjit.kernel
def bits(x, y, out):
    i = amdjit.threadIdx.x
    out[0, i] = arithmetic.popcount(x[i])
    out[1, i] = arithmetic.clz(x[i])
    out[2, i] = arithmetic.ctz(x[i])
    out[3, i] = arithmetic.bit_reverse(x[i])
    out[4, i] = arithmetic.add_saturating(x[i], y[i])
    out[5, i] = arithmetic.subtract_saturating(x[i], y[i])
    out[6, i] = arithmetic.ffs(x[i])


@pytest.mark.parametrize("dtype", INTEGERS)
def test_bits_are_those_of_the_type_itself(dtype: Any) -> None:
    x, y = integers(dtype), integers(dtype)[::-1].copy()
    out = np.zeros((7, 64), dtype)
    bits[1, 64](x, y, out)
    width = np.iinfo(dtype).bits
    texts = [format(int(value) % 2**width, f"0{width}b") for value in x]
    limits = np.iinfo(dtype)

    def clamped(value: int) -> int:
        return min(max(value, int(limits.min)), int(limits.max))

    assert out[0].tolist() == [text.count("1") for text in texts]
    assert out[1].tolist() == [len(text) - len(text.lstrip("0")) for text in texts]
    assert out[2].tolist() == [len(text) - len(text.rstrip("0")) for text in texts]
    assert (out[3].astype(object) % 2**width).tolist() == [int(text[::-1], 2) for text in texts]
    assert out[4].tolist() == [clamped(int(a) + int(b)) for a, b in zip(x, y, strict=True)]
    assert out[5].tolist() == [clamped(int(a) - int(b)) for a, b in zip(x, y, strict=True)]
    assert out[6].tolist() == [text[::-1].find("1") + 1 for text in texts]
    for row, model in enumerate(
        (arithmetic.popcount, arithmetic.clz, arithmetic.ctz, arithmetic.bit_reverse)
    ):
        assert [model(value) for value in x] == out[row].tolist()
    for row, model in ((4, arithmetic.add_saturating), (5, arithmetic.subtract_saturating)):
        assert [model(a, b) for a, b in zip(x, y, strict=True)] == out[row].tolist()


@amdjit.kernel
def upper_halves(x, y, out):
    i = amdjit.threadIdx.x
    out[i] = arithmetic.mulhi(x[i], y[i])


@pytest.mark.parametrize("dtype", [np.int32, np.uint32, np.int64, np.uint64])
def test_the_upper_half_of_a_product(dtype: Any) -> None:
    x = integers(dtype)
    for y in (x[::-1].copy(), x.copy()):
        out = np.zeros(64, dtype)
        upper_halves[1, 64](x, y, out)
        wanted = [int(a) * int(b) >> np.iinfo(dtype).bits for a, b in zip(x, y, strict=True)]
        assert out.tolist() == wanted == [arithmetic.mulhi(a, b) for a, b in zip(x, y, strict=True)]


@amdjit.kernel
def clamped(x, i8s, u8s, i16s, u16s, i32s, u32s):
    i = amdjit.threadIdx.x
    i8s[i], u8s[i] = convert.saturate_i8(x[i]), convert.saturate_u8(x[i])
    i16s[i], u16s[i] = convert.saturate_i16(x[i]), convert.saturate_u16(x[i])
    i32s[i], u32s[i] = convert.saturate_i32(x[i]), convert.saturate_u32(x[i])


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_are_clamped_exactly(dtype: Any) -> None:
    x = integers(dtype)
    x[20:40] //= max(1, int(np.iinfo(dtype).max) // 70000)  # some near the ends of 16 bits
    if np.iinfo(dtype).bits >= 32:
        x[40] = 2**24 + 1  # no f32
    outs = [np.zeros(64, narrow) for narrow in NARROW]
    clamped[1, 64](x, *outs)
    for out, narrow in zip(outs, NARROW, strict=True):
        limits = np.iinfo(narrow)
        assert out.tolist() == [min(max(int(v), int(limits.min)), int(limits.max)) for v in x], (
            narrow
        )
        model = getattr(
            convert, f"saturate_{narrow.__name__.replace('uint', 'u').replace('int', 'i')}"
        )
        assert [model(value) for value in x] == out.tolist()


@amdjit.kernel
def fields(x, out):
    i = amdjit.threadIdx.x
    out[0, i] = arithmetic.bfe(x[i], i, 5)
    out[1, i] = arithmetic.bfe(x[i], amdjit.u32(i), i + 3)


def test_a_bit_field_is_at_a_lane_number() -> None:
    x = integers(np.int32, 32)
    out = np.zeros((2, 32), np.int32)
    fields[1, 32](x, out)
    assert out[0].tolist() == [arithmetic.bfe(value, lane, 5) for lane, value in enumerate(x)]
    assert out[1].tolist() == [
        arithmetic.bfe(value, lane, lane + 3) for lane, value in enumerate(x)
    ]
