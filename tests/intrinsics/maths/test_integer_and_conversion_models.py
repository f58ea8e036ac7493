"""Bit fields, byte products, packed and saturating conversions, packed atomics: the emulator
against the models."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import amdjit
from amdjit import (
    atomic,
    bf8,
    bf16,
    f16,
    f32,
    fp8,
    i8,
    i32,
    shared,
    syncthreads,
    threadIdx,
    u8,
    u32,
    vector,
)
from amdjit.intrinsics import arithmetic, convert

RANDOM = np.random.default_rng(16)
f16x2, bf16x2 = vector(f16, 2), vector(bf16, 2)


def words(dtype: Any, count: int) -> Any:
    limits = np.iinfo(dtype)
    return RANDOM.integers(limits.min, limits.max, count, endpoint=True, dtype=dtype)


@amdjit.kernel
def fields(x, y, offsets, widths, out):
    i = amdjit.grid(1)
    out[0, i] = arithmetic.bfe(x[i], offsets[i], widths[i])
    out[1, i] = arithmetic.mul24(x[i], y[i])


@pytest.mark.parametrize("dtype", [np.int32, np.uint32])
def test_bit_fields_and_24_bit_products(dtype: Any) -> None:
    x, y = words(dtype, 64), words(dtype, 64)
    offsets, widths = (RANDOM.integers(0, 32, 64).astype(np.uint32) for _ in range(2))
    offsets = np.minimum(offsets, 31 - widths)
    out = np.zeros((2, 64), dtype)
    fields[1, 64](x, y, offsets, widths, out)
    for lane in range(64):
        shift, width = int(offsets[lane]), int(widths[lane])
        field = int(x[lane]) >> shift & ((1 << width) - 1)
        if dtype is np.int32 and width and field >> (width - 1):
            field -= 1 << width
        assert out[0, lane] == field == arithmetic.bfe(x[lane], shift, width)
        assert out[1, lane] == arithmetic.mul24(x[lane], y[lane])
    low = [
        (int(v) & 0xFFFFFF) - (1 << 24 if dtype is np.int32 and int(v) & 1 << 23 else 0)
        for v in (x[5], y[5])
    ]
    assert int(out[1, 5]) % 2**32 == low[0] * low[1] % 2**32


@amdjit.kernel
def bytes_of(x, y, z, out):
    i = amdjit.grid(1)
    out[0, i] = arithmetic.perm(x[i], y[i], z[i])
    out[1, i] = arithmetic.sad(x[i], y[i], z[i])


def test_bytes_are_picked_and_their_differences_summed() -> None:
    x, y, z = (words(np.uint32, 256) for _ in range(3))
    z[::2] &= 0x0F0F0F0F
    out = np.zeros((2, 256), np.uint32)
    bytes_of[1, 256](x, y, z, out)
    assert [arithmetic.perm(*row) for row in zip(x, y, z, strict=True)] == out[0].tolist()
    assert [arithmetic.sad(*row) for row in zip(x, y, z, strict=True)] == out[1].tolist()
    # From the top: zero, byte 0 of `high`, byte 3 of `low`, the sign of byte 3 of `low`.
    assert arithmetic.perm(0x33221100, 0xF7665544, 0x0C040309) == 0x0000F7FF


@amdjit.kernel
def dots(a, b, c, x, y, out):
    i = amdjit.grid(1)
    left, right = a.load(4 * i, 4), b.load(4 * i, 4)
    out[0, i] = arithmetic.dot4(left, right, c[i])
    out[1, i] = arithmetic.dot4(left, right, c[i], clamp=True)
    out[2, i] = arithmetic.dot8(x[i], y[i], c[i])
    out[3, i] = arithmetic.dot8(x[i], y[i], c[i], a_signed=False, clamp=True)


@pytest.mark.parametrize("left", [np.int8, np.uint8])
@pytest.mark.parametrize("right", [np.int8, np.uint8])
def test_dot_products_of_integers_have_each_sides_sign(left: Any, right: Any) -> None:
    a, b, c = words(left, 256).reshape(64, 4), words(right, 256).reshape(64, 4), words(np.int32, 64)
    c[:8], c[8:16] = 2**31 - 1, -(2**31)
    x, y = words(np.int32, 64), words(np.int32, 64)
    out = np.zeros((4, 64), np.int32)
    dots[1, 64](a.ravel(), b.ravel(), c, x, y, out)
    exact = (a.astype(np.int64) * b).sum(axis=1) + c
    np.testing.assert_array_equal(out[0], exact.astype(np.int32))
    np.testing.assert_array_equal(out[1], np.clip(exact, -(2**31), 2**31 - 1))
    np.testing.assert_array_equal(out[0], arithmetic.dot4(a, b, c))
    np.testing.assert_array_equal(out[2], arithmetic.dot8(x, y, c))
    np.testing.assert_array_equal(out[3], arithmetic.dot8(x, y, c, False, True, True))
    types = [{np.int8: i8, np.uint8: u8}[side][:] for side in (left, right)]
    assembly = dots.compile(*types, i32[:], i32[:], i32[:], i32[:, :]).asm_full
    assert assembly.count("v_dot4_i32_iu8") == assembly.count("v_dot8_i32_iu4") == 2


@amdjit.kernel
def pair_dots(a, b, c, out):
    i = amdjit.grid(1)
    out[i] = arithmetic.dot2(a.load(2 * i, 2), b.load(2 * i, 2), c[i])


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_dot_products_of_pairs(dtype: Any) -> None:
    a, b = (RANDOM.integers(-16, 17, (64, 2)).astype(dtype) for _ in range(2))
    c, out = RANDOM.integers(-99, 100, 64).astype(np.float32), np.zeros(64, np.float32)
    pair_dots[1, 64](a.ravel(), b.ravel(), c, out)
    np.testing.assert_array_equal(
        out, (a.astype(np.float32) * b.astype(np.float32)).sum(axis=1) + c
    )


@amdjit.kernel
def mixed(x, y, z, out):
    i = amdjit.grid(1)
    out[i] = arithmetic.fma_mix(x[i], y[i], z[i])


def test_a_mixed_product_is_one_instruction_and_rounded_once() -> None:
    x, y = (RANDOM.random(64).astype(np.float16) for _ in range(2))
    z, out = RANDOM.random(64, np.float32), np.zeros(64, np.float32)
    mixed[1, 64](x, y, z, out)
    exact = x.astype(np.float64) * y.astype(np.float64) + z.astype(np.float64)
    np.testing.assert_array_equal(out, exact.astype(np.float32))
    assembly = mixed.compile(f16[:], f16[:], f32[:], f32[:]).asm_full
    assert assembly.count("v_fma_mix_f32") == 1
    assert "v_cvt_f32_f16" not in assembly


@amdjit.kernel
def packed(x, fp, bf):
    i = amdjit.grid(1)
    fp.store(4 * i, convert.pack_fp8(x[4 * i], x[4 * i + 1], x[4 * i + 2], x[4 * i + 3]))
    bf.store(4 * i, convert.pack_bf8(x[4 * i], x[4 * i + 1], x[4 * i + 2], x[4 * i + 3]))


def test_four_numbers_are_packed_as_ml_dtypes_rounds_them() -> None:
    x = np.ldexp(RANDOM.uniform(-1, 1, 512), RANDOM.integers(-12, 8, 512)).astype(np.float32)
    fp, bf = np.zeros(512, ml_dtypes.float8_e4m3fn), np.zeros(512, ml_dtypes.float8_e5m2)
    packed[2, 64](x, fp, bf)
    np.testing.assert_array_equal(fp.view(np.uint8), x.astype(fp.dtype).view(np.uint8))
    np.testing.assert_array_equal(bf.view(np.uint8), x.astype(bf.dtype).view(np.uint8))
    assembly = packed.compile(f32[:], fp8[:], bf8[:]).asm_full
    assert assembly.count("v_cvt_pk_fp8_f32") == assembly.count("v_cvt_pk_bf8_f32") == 2


@amdjit.kernel
def stochastic(x, random, out):
    i = amdjit.grid(1)
    out[0, i] = convert.stochastic_fp8(x[i], random[i])
    out[1, i] = convert.stochastic_bf8(x[i], random[i], 0x11223344, 2)


def test_stochastic_rounding_gives_a_neighbour_and_the_right_mean() -> None:
    x = np.full(8192, 1.03125, np.float32)
    random, out = words(np.uint32, 8192), np.zeros((2, 8192), np.int32)
    stochastic[64, 128](x, random, out)
    low = (out[0] & 255).astype(np.uint8).view(ml_dtypes.float8_e4m3fn).astype(np.float32)
    assert set(low.tolist()) == {1.0, 1.125}
    assert abs(low.mean() - 1.03125) < 0.003
    third = (out[1] >> 16 & 255).astype(np.uint8).view(ml_dtypes.float8_e5m2).astype(np.float32)
    assert set(third.tolist()) == {1.0, 1.25}
    assert abs(third.mean() - 1.03125) < 0.006
    assert set((out[1].view(np.uint32) & np.uint32(0xFF00FFFF)).tolist()) == {0x11003344}


@amdjit.kernel
def saturated(x, bytes, shorts, longs):
    i = amdjit.grid(1)
    bytes[0, i] = i32(convert.saturate_i8(x[i]))
    bytes[1, i] = i32(convert.saturate_u8(x[i]))
    shorts[0, i] = i32(convert.saturate_i16(x[i]))
    shorts[1, i] = i32(convert.saturate_u16(x[i]))
    longs[0, i] = convert.saturate_i32(x[i])
    longs[1, i] = amdjit.bitcast(convert.saturate_u32(x[i]), i32)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_conversions_to_integers_saturate(dtype: Any) -> None:
    special = [
        np.nan,
        np.inf,
        -np.inf,
        -0.0,
        127.9,
        128,
        255.9,
        256,
        -128.9,
        -129,
        -1,
        32767.5,
        65535.5,
    ]
    with np.errstate(over="ignore"):
        x = np.concatenate(
            [special, np.ldexp(RANDOM.uniform(-1, 1, 115), RANDOM.integers(0, 40, 115))]
        ).astype(dtype)
    bytes, shorts, longs = (np.zeros((2, 128), np.int32) for _ in range(3))
    saturated[1, 128](x, bytes, shorts, longs)
    found = [*bytes, *shorts, longs[0], longs[1].view(np.uint32)]
    for values, integer in zip(
        found, (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32), strict=True
    ):
        limits = np.iinfo(integer)
        with np.errstate(invalid="ignore"):
            wanted = [
                0 if np.isnan(v) else int(min(max(np.trunc(float(v)), limits.min), limits.max))
                for v in x
            ]
        assert values.tolist() == wanted
        assert (
            getattr(convert, f"saturate_{integer.__name__.replace('nt', '').replace('ui', 'u')}")(
                x
            ).tolist()
            == wanted
        )


@amdjit.kernel
def pairs(x, out, old, dtype: amdjit.Const):
    i = amdjit.grid(1)
    tile = shared.array(4, dtype)
    if threadIdx.x < 4:
        tile[threadIdx.x] = dtype(0)
    syncthreads()
    atomic.add_pair(tile, 2, x.load(2 * i, 2), scope="workgroup")
    old.store(2 * i, atomic.add_pair(out, 2 * (i % 2), x.load(2 * i, 2)))
    syncthreads()
    if threadIdx.x < 4:
        out[4 + threadIdx.x] = tile[threadIdx.x]


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_pairs_are_added_at_once(dtype: Any) -> None:
    x = RANDOM.integers(-1, 2, (64, 2)).astype(dtype)
    out, old = np.zeros(8, dtype), np.zeros(128, dtype)
    scalar = amdjit.types.from_dtype(np.dtype(dtype))
    pairs[1, 64](x.ravel(), out, old, scalar)
    wide = x.astype(np.float32)
    wanted = [*wide[0::2].sum(axis=0), *wide[1::2].sum(axis=0), 0, 0, *wide.sum(axis=0)]
    np.testing.assert_array_equal(out.astype(np.float32), wanted)
    assembly = pairs.compile(scalar[:], scalar[:], scalar[:], scalar).asm_full
    name = "f16" if dtype is np.float16 else "bf16"
    assert assembly.count(f"global_atomic_pk_add_{name}") == 1
    assert assembly.count(f"ds_pk_add_{name}") + assembly.count(f"ds_pk_add_rtn_{name}") == 1


@amdjit.kernel
def ordered(x, order: amdjit.Const, scope: amdjit.Const):
    i, j = threadIdx.x % 2, threadIdx.x // 2 % 3
    tile = shared.array((2, 3), u32)
    if threadIdx.x < 6:
        tile[threadIdx.x // 3, threadIdx.x % 3] = u32(0)
    syncthreads()
    atomic.add(tile, (i, j), u32(1), order, scope)
    atomic.max(x, (0, i, j), u32(threadIdx.x), order, scope)
    syncthreads()
    if threadIdx.x < 6:
        x[1, threadIdx.x // 3, threadIdx.x % 3] = tile[threadIdx.x // 3, threadIdx.x % 3]


@pytest.mark.sample(8)
@pytest.mark.parametrize("scope", ["system", "agent", "workgroup", "wavefront"])
@pytest.mark.parametrize("order", ["relaxed", "acquire", "release", "acq_rel", "seq_cst"])
def test_atomics_take_every_order_and_scope_in_both_memories(order: str, scope: str) -> None:
    x = np.zeros((2, 2, 3), np.uint32)
    ordered[1, 60](x, order, scope)
    lane = np.arange(60)
    for i in range(2):
        for j in range(3):
            here = lane[(lane % 2 == i) & (lane // 2 % 3 == j)]
            assert x[0, i, j] == here.max()
            assert x[1, i, j] == len(here)
