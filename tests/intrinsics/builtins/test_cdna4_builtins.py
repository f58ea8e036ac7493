"""Builtins of CDNA 4 in kernels: on the emulator they give, bit for bit, what their models on the
host give."""

from __future__ import annotations

import re
import zlib
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import amdjit
from amdjit import address_of, shared, shuffle
from amdjit.intrinsics import amdgcn
from amdjit.intrinsics.builtins.table import Row, rows

LANES = 64
OTHERS = (
    "ashr_pk_i8_i32", "ashr_pk_u8_i32", "bitop3_b16", "bitop3_b32", "cvt_sr_bf16_f32",
    "cvt_sr_f16_f32", "permlane16_swap", "permlane32_swap", "prng_b32",
)  # fmt: skip
NAMES = [
    name
    for name, row in rows().items()
    if "gfx950" in row.targets and (name.startswith("cvt_scalef32_") or name in OTHERS)
]
TYPES: dict[str, Any] = {
    "f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16, "i16": np.int16,
    "i32": np.int32, "u16": np.uint16, "u32": np.uint32,
}  # fmt: skip
Array = np.ndarray[Any, Any]


@amdjit.device_function
def held(array, width: amdjit.Const):
    lane = amdjit.lane_id()
    if width == 1:
        return array[lane]
    elif width == 6:
        first = width * lane
        return shuffle(array.load(first, 4), array.load(first + 2, 4), (0, 1, 2, 3, 6, 7))
    else:
        return array.load(width * lane, width)


@amdjit.device_function
def keep(array, value, width: amdjit.Const):
    lane = amdjit.lane_id()
    if width == 1:
        array[lane] = value
    elif width == 6:
        for number in amdjit.static_range(width):
            array[width * lane + number] = value[number]
    else:
        array.store(width * lane, value)


@amdjit.kernel
def of_one(call: amdjit.Const, widths: amdjit.Const, tail: amdjit.Const, out, a):
    keep(out, call(held(a, widths[0]), *tail), widths[-1])


@amdjit.kernel
def of_two(call: amdjit.Const, widths: amdjit.Const, tail: amdjit.Const, out, a, b):
    keep(out, call(held(a, widths[0]), held(b, widths[1]), *tail), widths[-1])


@amdjit.kernel
def of_three(call: amdjit.Const, widths: amdjit.Const, tail: amdjit.Const, out, a, b, c):
    found = call(held(a, widths[0]), held(b, widths[1]), held(c, widths[2]), *tail)
    keep(out, found, widths[-1])


@amdjit.kernel
def of_four(call: amdjit.Const, widths: amdjit.Const, tail: amdjit.Const, out, a, b, c, d):
    x, y, z, w = held(a, widths[0]), held(b, widths[1]), held(c, widths[2]), held(d, widths[3])
    keep(out, call(x, y, z, w, *tail), widths[-1])


def width(word: str) -> int:
    return int(word.partition("x")[2] or 1)


def values(word: str, random: np.random.Generator) -> Array:
    """Bits of any kind; floats have exponents that mostly fit, and some special numbers."""
    kind = np.dtype(TYPES[word.partition("x")[0]])
    shape = (LANES, width(word)) if "x" in word else (LANES,)
    bits = random.integers(0, 1 << 8 * kind.itemsize, shape, f"u{kind.itemsize}")
    if kind == np.float32:
        exponents = random.integers(118, 138, shape, np.uint32)
        exponents = np.where(random.integers(0, 9, shape) == 0, bits & 255, exponents)
        bits = bits & np.uint32(0x807FFFFF) | exponents.astype(np.uint32) << 23
    return bits.view(kind)


def tails(row: Row) -> list[tuple[Any, ...]]:
    """Some of the constants that end a builtin's arguments: lowest, highest, one between; each of
    an argument's with some of the others'."""
    choices: list[list[Any]] = []
    for word in row.signature.split(" -> ")[0].split():
        if word == "flag":
            choices.append([False, True] if "permlane" not in row.name else [False])
        elif bounds := re.fullmatch(r"(\d+)\.\.(\d+)", word):
            low, high = int(bounds[1]), int(bounds[2])
            choices.append([low, high, high * 2 // 3])
    return dealt(choices, max(map(len, choices), default=1))


def dealt(choices: list[list[Any]], count: int) -> list[tuple[Any, ...]]:
    """Return as many rows as it takes for each choice to be in one, the choices of each column in
    another step."""
    return [
        tuple(each[(number + place) % len(each)] for place, each in enumerate(choices))
        for number in range(count)
    ]


@pytest.mark.sample(16)
@pytest.mark.parametrize("name", NAMES)
def test_kernels_compute_what_the_models_compute(name: str) -> None:
    row = rows()[name]
    builtin = getattr(amdgcn, name)
    random = np.random.default_rng(zlib.crc32(name.encode()))
    words = [each for each in row.signature.split() if re.match(r"b?[fiu]\d", each)]
    given = [values(word, random) for word in words[:-1]]
    widths = tuple(map(width, words))
    kernel = (of_one, of_two, of_three, of_four)[len(given) - 1]
    result = TYPES[words[-1].partition("x")[0]]
    for tail in tails(row):
        out = np.zeros(LANES * widths[-1], result)
        with amdjit.use("emulator:gfx950"):
            kernel[1, LANES](builtin, widths, tail, out, *(each.ravel() for each in given))
        expected = builtin(*given, *tail)
        size = f"u{out.dtype.itemsize}"
        assert expected.dtype == out.dtype
        np.testing.assert_array_equal(out.view(size), expected.ravel().view(size))


@amdjit.kernel
def columns(call: amdjit.Const, count: amdjit.Const, stride: amdjit.Const, source, out):
    tile = shared.array(256, source.dtype)
    lane = amdjit.lane_id()
    for number in amdjit.static_range(count):
        tile[stride * lane + number] = source[count * lane + number]
    amdjit.syncthreads()
    found = call(address_of(tile, stride * lane))
    for number in amdjit.static_range(count):
        out[count * lane + number] = found[number]


@pytest.mark.parametrize(
    ("name", "bits", "count", "stride"),
    [
        ("ds_read_tr16_b64_v4i16", 16, 4, 4),
        ("ds_read_tr8_b64_v2i32", 8, 2, 2),
        ("ds_read_tr4_b64_v2i32", 4, 2, 4),
        # LDS wants these aligned to 16 bytes.
        ("ds_read_tr6_b96_v3i32", 6, 3, 4),
    ],
)
def test_kernels_read_columns_from_lds(name: str, bits: int, count: int, stride: int) -> None:
    """The elements of 16 lanes, one after the other, are a matrix of 16 columns."""
    random = np.random.default_rng(bits)
    dtype = np.int16 if bits == 16 else np.int32
    source = random.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, (LANES, count), dtype)
    out = np.zeros_like(source)
    with amdjit.use("emulator:gfx950"):
        columns[1, LANES](getattr(amdgcn, name), count, stride, source.ravel(), out.ravel())
    before, after = (
        np.unpackbits(each.view(np.uint8), axis=1, bitorder="little").reshape(4, 16, -1, bits)
        for each in (source, out)
    )
    np.testing.assert_array_equal(after, before.reshape(4, -1, 16, bits).swapaxes(1, 2))


@amdjit.kernel
def scaled(
    call: amdjit.Const, formats: amdjit.Const, bytes_: amdjit.Const, count: amdjit.Const, d, a, b,
    c, scale_a, scale_b
):  # fmt: skip
    lane = amdjit.lane_id()
    x, y, z = a.load(8 * lane, 8), b.load(8 * lane, 8), c.load(count * lane, count)
    found = call(x, y, z, *formats, bytes_[0], scale_a[lane], bytes_[1], scale_b[lane])
    d.store(count * lane, found)


@pytest.mark.sample(2)
@pytest.mark.covering(1)
@pytest.mark.parametrize("formats", [(0, 1), (2, 4), (4, 4)])
@pytest.mark.parametrize("shape", ["16x16x128", "32x32x64"])
def test_kernels_multiply_with_scales(shape: str, formats: tuple[int, int]) -> None:
    builtin = getattr(amdgcn, f"mfma_scale_f32_{shape}_f8f6f4")
    random = np.random.default_rng([len(shape), *formats])
    a, b = random.integers(-(1 << 31), 1 << 31, (2, LANES, 8), np.int32)
    count = 4 if shape.startswith("16") else 16
    c = random.standard_normal((LANES, count)).astype(np.float32)
    scales = random.integers(120, 134, (2, LANES, 4)).astype(np.uint8).view(np.int32)[..., 0]
    d = np.zeros_like(c)
    with amdjit.use("emulator:gfx950"):
        scaled[1, LANES](
            builtin, formats, (1, 3), count, d.ravel(), a.ravel(), b.ravel(), c.ravel(), *scales
        )
    expected = builtin(a, b, c, *formats, 1, scales[0], 3, scales[1])
    np.testing.assert_array_equal(d.view(np.uint32), expected.view(np.uint32))


@amdjit.kernel
def past_registers(source, out, size: amdjit.Const, kind: amdjit.Const):
    tile = shared.array(256, amdjit.f32)
    lane = amdjit.lane_id()
    count = size // 4
    if kind == "global":
        amdgcn.global_load_lds(address_of(source, lane * count), address_of(tile, 0), size, 0, 0)
    elif kind == "any":
        amdgcn.load_to_lds(address_of(source, lane * count), address_of(tile, 0), size, 0, 0)
    else:
        resource = amdgcn.make_buffer_rsrc(address_of(source, 0), 0, 1024, 0x27000)
        amdgcn.raw_ptr_buffer_load_lds(resource, address_of(tile, 0), size, lane * size, 0, 0, 0)
    amdjit.syncthreads()
    for number in amdjit.static_range(count):
        out[lane * count + number] = tile[lane * count + number]


@pytest.mark.parametrize("kind", ["global", "any", "buffer"])
@pytest.mark.parametrize("size", [12, 16])
def test_kernels_load_several_dwords_into_lds(kind: str, size: int) -> None:
    source = np.arange(256, dtype=np.float32)
    out = np.zeros(16 * size, np.float32)
    with amdjit.use("emulator:gfx950"):
        past_registers[1, LANES](source, out, size, kind)
    np.testing.assert_array_equal(out, source[: 16 * size])
    with pytest.raises(amdjit.TypeCheckError, match="one of the constants 1, 2, 4,"):
        past_registers.compile(amdjit.f32[::1], amdjit.f32[::1], size, kind, target="gfx942")
