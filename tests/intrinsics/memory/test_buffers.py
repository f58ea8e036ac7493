"""Buffers of bytes, of records and of formats; hints for the caches; prefetches; wide accesses to
LDS."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import f16, f32, shared, threadIdx, u8, vector
from amdjit.abi.buffer_formats import BUFFER_FORMATS, BufferFormat, format_of
from amdjit.intrinsics import memory, sync

RANDOM = np.random.default_rng(16)
f32x4 = vector(f32, 4)


@amdjit.kernel
def shifted(x, out):
    t = threadIdx.x
    quad = memory.buffer_load(memory.buffer(x), t, f32x4)
    memory.buffer_store(memory.buffer(out), t, quad + f32x4(1))


def test_words_of_a_wide_access_are_inside_or_outside_on_their_own() -> None:
    x, out = RANDOM.random(37, np.float32), np.zeros(41, np.float32)
    shifted[1, 32](x, out)
    np.testing.assert_array_equal(out, np.concatenate([x, np.zeros(4, np.float32)]) + np.float32(1))


@amdjit.kernel
def neighbours(x, out):
    """Each thread reads element 5 of its record of 6, and what would be the first of the next
    one."""
    t = threadIdx.x
    rows = memory.records(x, 6)
    out[t, 0] = memory.buffer_load(rows, (t, 5), f32)
    out[t, 1] = memory.buffer_load(rows, (t, 6), f32)
    memory.buffer_store(rows, (t, 6), f32(-1))
    memory.buffer_store(rows, (t, 0), f32(-2), "non_temporal")


def test_records_end_where_they_end() -> None:
    x, out = RANDOM.random(100, np.float32), np.ones((32, 2), np.float32)
    expected = x.copy()
    expected[0:96:6] = -2
    neighbours[1, 32](x, out)
    np.testing.assert_array_equal(out[:16, 0], expected[5:96:6])
    np.testing.assert_array_equal(out[16:, 0], 0)
    np.testing.assert_array_equal(out[:, 1], 0)
    np.testing.assert_array_equal(x, expected)
    assembly = neighbours.compile(f32[:], f32[:, :]).asm_full
    # Neighbours are loaded together: each word has its own bounds.
    assert len(re.findall(r"buffer_load_b64 .* idxen", assembly)) == 1
    assert "th:TH_STORE_NT" in assembly


def unpacked(data: np.ndarray[Any, Any], texel: BufferFormat) -> np.ndarray[Any, Any]:
    """The elements of a format as NumPy has them: one row each, X first."""
    bits = np.unpackbits(data.reshape(-1, texel.size), axis=1, bitorder="little").astype(np.int64)
    columns, place = [], 0
    for width in texel.widths:
        number = bits[:, place : place + width] @ (np.int64(1) << np.arange(width, dtype=np.int64))
        columns.append(_numbers(number, texel.kind, width))
        place += width
    return np.stack(columns, axis=1)


def _numbers(number: np.ndarray[Any, Any], kind: str, width: int) -> np.ndarray[Any, Any]:
    signed = (number ^ (1 << width - 1)) - (1 << width - 1)
    if kind == "FLOAT":
        if width == 32:
            return number.astype(np.uint32).view(np.float32)
        # Fewer bits are those of a half without its sign and last bits.
        return (
            (number << (0 if width == 16 else 15 - width))
            .astype(np.uint16)
            .view(np.float16)
            .astype(np.float32)
        )
    if kind == "UNORM":
        return (number / ((1 << width) - 1)).astype(np.float32)
    if kind == "SNORM":
        return np.maximum(signed / ((1 << width - 1) - 1), -1).astype(np.float32)
    if kind == "UINT":
        return number.astype(np.uint32)
    return (
        signed.astype(np.int32)
        if kind == "SINT"
        else (signed if kind[0] == "S" else number).astype(np.float32)
    )


@amdjit.kernel
def loaded(data, out, name: amdjit.Const, count: amdjit.Const):
    i = amdjit.grid(1)
    texel = memory.buffer_load_format(memory.buffer(data), i, name)
    if count == 1:
        out[i, 0] = texel
    else:
        for k in amdjit.static_range(count):
            out[i, k] = texel[k]


@amdjit.kernel
def copied(data, out, name: amdjit.Const):
    i = amdjit.grid(1)
    texel = memory.buffer_load_format(memory.buffer(data), i, name)
    memory.buffer_store_format(memory.buffer(out), i, texel, name, "non_temporal")


def _texels() -> list[BufferFormat]:
    return [texel for number in BUFFER_FORMATS if (texel := format_of(number)) is not None]


def _name(texel: BufferFormat) -> str:
    return BUFFER_FORMATS[texel.number].removeprefix("BUF_FMT_")


def check_format(texel: BufferFormat) -> None:
    data = RANDOM.integers(0, 256, 40 * texel.size).astype(np.uint8)
    expected = unpacked(data, texel)
    out = np.zeros((64, len(texel.widths)), expected.dtype)
    loaded[2, 32](data, out, _name(texel), len(texel.widths))
    np.testing.assert_array_equal(out, np.concatenate([expected, np.zeros_like(out[40:])]))
    if texel.kind.endswith("SCALED"):
        return
    back = np.zeros_like(data)
    copied[2, 32](data, back, _name(texel))
    again = unpacked(back, texel)
    # The least SNORM has two patterns; a NaN may have another one.
    np.testing.assert_array_equal(again, expected)


USUAL = (
    "8_8_8_8_UNORM",
    "16_16_FLOAT",
    "10_11_11_FLOAT",
    "2_10_10_10_SNORM",
    "32_32_32_UINT",
    "16_SINT",
    "8_8_SSCALED",
)


@pytest.mark.sample(4)
@pytest.mark.parametrize("texel", [t for t in _texels() if _name(t) in USUAL], ids=_name)
def test_formats_mean_what_numpy_makes_of_their_bits(texel: BufferFormat) -> None:
    check_format(texel)


@pytest.mark.exhaustive
@pytest.mark.parametrize("texel", _texels(), ids=_name)
def test_every_format_means_what_numpy_makes_of_its_bits(texel: BufferFormat) -> None:
    check_format(texel)


@amdjit.kernel
def quantised(x, out):
    """Four f32 to bytes of 0..1, one instruction; and halves to 16 bits of -1..1."""
    t = threadIdx.x
    quad = memory.buffer_load(memory.buffer(x), t, f32x4)
    memory.buffer_store_format(memory.buffer(out), t, quad, "8_8_8_8_UNORM")


def test_storing_a_normalised_format_clamps_and_rounds() -> None:
    x = np.concatenate([RANDOM.normal(0.5, 1, 120), [0, 1, 0.5, -3, 7, 1e-9, 0.498, 2]]).astype(
        np.float32
    )
    out = np.zeros(128, np.uint8)
    quantised[1, 32](x, out)
    np.testing.assert_array_equal(out, np.rint(np.clip(x.astype(float), 0, 1) * 255))
    assembly = quantised.compile(f32[:], u8[:]).asm_full
    assert len(re.findall(r"tbuffer_store_format_xyzw .*BUF_FMT_8_8_8_8_UNORM", assembly)) == 1


@amdjit.kernel
def narrowed(data, out):
    t = threadIdx.x
    pair = memory.buffer_load_format(
        memory.records(data, 8), (t // 4, t % 4), "8_8_UNORM", narrow=True
    )
    memory.buffer_store_format(memory.buffer(out), t, pair, "16_16_FLOAT")


def test_halves_of_a_format_are_rounded_once() -> None:
    data, out = RANDOM.integers(0, 256, 64).astype(np.uint8), np.zeros(64, np.float16)
    narrowed[1, 32](data, out)
    np.testing.assert_array_equal(out, (data / 255).astype(np.float16))
    assembly = narrowed.compile(u8[:], f16[:]).asm_full
    assert "tbuffer_load_d16_format_xy " in assembly
    assert "tbuffer_store_d16_format_xy " in assembly


@amdjit.kernel
def hinted(x, out, load: amdjit.Const, store: amdjit.Const):
    i = amdjit.grid(1)
    memory.store(out, i, memory.load(x, i, load) * 2, store)


@pytest.mark.parametrize(
    ("load", "store", "hints"),
    [
        ("temporal", "temporal", ()),
        ("non_temporal", "non_temporal", ("th:TH_LOAD_NT", "th:TH_STORE_NT")),
        ("last_use", "temporal", ("th:TH_LOAD_LU",)),
    ],
)
def test_plain_accesses_take_the_hints_that_llvm_has(
    load: str, store: str, hints: tuple[str, ...]
) -> None:
    x, out = RANDOM.random(64, np.float32), np.zeros(64, np.float32)
    hinted[1, 64](x, out, load, store)
    np.testing.assert_array_equal(out, x * 2)
    found = re.findall(r"th:\w+", hinted.compile(f32[:], f32[:], load, store).asm_full)
    assert tuple(found) == hints


@amdjit.kernel
def wide_hinted(x, out, count: amdjit.Const):
    i = amdjit.grid(1)
    memory.store(out, (i, 0), memory.load(x, (i, 0), "non_temporal", count), "non_temporal")


@pytest.mark.parametrize(
    ("kind", "count", "bits"), [("f4", 4, 128), ("f2", 8, 128), ("f2", 4, 64), ("i4", 2, 64)]
)
def test_wide_accesses_take_the_hints_too(kind: str, count: int, bits: int) -> None:
    x, out = RANDOM.integers(0, 99, (32, 8)).astype(kind), np.zeros((32, 8), kind)
    wide_hinted[1, 32](x, out, count)
    np.testing.assert_array_equal(out[:, :count], x[:, :count])
    assert not out[:, count:].any()
    element = amdjit.types.from_dtype(x.dtype)
    assembly = wide_hinted.compile(element[:, ::1], element[:, ::1], count).asm_full
    assert len(re.findall(rf"global_load_b{bits} .*TH_LOAD_NT", assembly)) == 1
    assert len(re.findall(rf"global_store_b{bits} .*TH_STORE_NT", assembly)) == 1


@amdjit.kernel
def buffer_hinted(x, out, load: amdjit.Const, store: amdjit.Const):
    i = amdjit.grid(1)
    memory.buffer_store(
        memory.buffer(out), i, memory.buffer_load(memory.buffer(x), i, f32, load), store
    )


@pytest.mark.parametrize(
    ("load", "store", "hints"),
    [
        ("high_temporal", "high_temporal", ["th:TH_LOAD_HT", "th:TH_STORE_HT"]),
        ("last_use", "non_temporal", ["th:TH_LOAD_LU", "th:TH_STORE_NT"]),
    ],
)
def test_buffers_take_every_hint(load: str, store: str, hints: list[str]) -> None:
    x, out = RANDOM.random(64, np.float32), np.zeros(64, np.float32)
    buffer_hinted[1, 64](x, out, load, store)
    np.testing.assert_array_equal(out, x)
    assert (
        re.findall(r"th:\w+", buffer_hinted.compile(f32[:], f32[:], load, store).asm_full) == hints
    )


@amdjit.kernel
def prefetching(x, out):
    memory.prefetch_code(4)
    memory.prefetch_code(32, 1024)
    memory.buffer_prefetch(memory.buffer(x), 256, 2)
    memory.prefetch(x, 16, 3)
    out[threadIdx.x] = x[threadIdx.x]


def test_prefetches_are_one_instruction_each_and_change_nothing() -> None:
    x, out = RANDOM.random(64, np.float32), np.zeros(64, np.float32)
    prefetching[1, 64](x, out)
    np.testing.assert_array_equal(out, x)
    assembly = prefetching.compile(f32[:], f32[:]).asm_full
    assert re.search(r"s_prefetch_inst_pc_rel 0(x0)?, null, 3\b", assembly)
    assert re.search(r"s_prefetch_inst_pc_rel (0x400|1024), null, 31\b", assembly)
    assert re.search(r"s_buffer_prefetch_data s\[\d+:\d+\], 0x100, null, 1\b", assembly)
    assert re.search(r"s_prefetch_data s\[\d+:\d+\], 0x40, null, 2\b", assembly)


@amdjit.kernel
def reversed_rows(x, out, dtype: amdjit.Const, width: amdjit.Const):
    t = threadIdx.x
    tile = shared.array((32, 4), dtype)
    tile.store((t, 0), x.load((t, 0), width))
    sync.syncthreads()
    out.store((t, 0), tile.load((31 - t, 0), width))


@pytest.mark.parametrize(
    ("kind", "width", "bits"), [("f4", 4, 128), ("i4", 2, 64), ("u1", 4, 32), ("f8", 2, 128)]
)
def test_wide_lds_accesses_are_one_instruction(kind: str, width: int, bits: int) -> None:
    x = RANDOM.integers(0, 99, (32, 4)).astype(kind)
    out = np.zeros_like(x)
    element = amdjit.types.from_dtype(x.dtype)
    reversed_rows[1, 32](x, out, element, width)
    np.testing.assert_array_equal(out[:, :width], x[::-1, :width])
    assembly = reversed_rows.compile(element[:, ::1], element[:, ::1], element, width).asm_full
    assert len(re.findall(rf"ds_load_b{bits} ", assembly)) == 1
    assert len(re.findall(rf"ds_store_b{bits} ", assembly)) == 1
