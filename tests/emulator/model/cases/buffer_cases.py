"""Cases of buffer instructions that the ISA document defines, with resources, offsets and values of
all kinds."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from tests.emulator.model.buffers import Resource, format_size, formats, value_of
from tests.emulator.model.cases.buffer_programs import DATA, INDEX, OFFSET, ROWS, BufferCase
from tests.emulator.model.families import is_gfx11
from tests.emulator.model.tables import tables
from tests.emulator.model.waves import lanes_of_wave

# An instruction's offset, in elements, for which the lanes' own make up: these are "negative".
_FAR, _GFX11_FAR = 1000, 500


def _far() -> int:
    return _GFX11_FAR if is_gfx11() else _FAR


def _resource(name: str, number: int, size: int, random: np.random.Generator) -> Resource:
    """A resource of some kind that suits the access."""
    check = int(random.integers(4))
    swizzle = int(random.choice([0, 0, 1, 3])) if size <= 8 and "atomic" not in name else 0
    scale = 0 if is_gfx11() else int(random.choice([0, 0, 1, 2, 3]))
    unit = {0: 4, 1: 1, 2: 1, 3: 1}[scale]
    stride = unit * int(random.integers(1, 10)) if scale < 3 else int(random.integers(1, 3))
    if swizzle == 3:
        scale, stride = 0, 16 * int(random.integers(1, 4))
    raw = check == 3 and not swizzle
    records = int(random.integers(1, 700)) if raw else int(random.integers(0, 45))
    tid = int(random.integers(4) == 0) if not raw else 0
    return Resource(
        0 if raw or (check == 2 and random.integers(2)) else stride,
        swizzle,
        records,
        selection(name, number, random),
        number if "_format_" in name and name.startswith("buffer") else int(random.integers(1, 64)),
        scale,
        int(random.integers(4)),
        tid,
        check,
    )


def selection(name: str, number: int, random: np.random.Generator) -> tuple[int, int, int, int]:
    if not re.match("buffer_load.*_format_", name):
        return 4, 5, 6, 7
    there = len(formats()[number][1])
    codes = [int(random.choice([0, 1, *range(4, 4 + there)])) for _ in range(4)]
    return codes[0], codes[1], codes[2], codes[3]


def format_number(name: str, random: np.random.Generator) -> int:
    numbers = [
        number
        for number, (kind, widths) in formats().items()
        if not ("_store_" in name and kind.endswith("SCALED"))
        and not ("_d16" in name and kind in ("UINT", "SINT") and 32 in widths and "_load_" in name)
    ]
    return int(random.choice(numbers))


def make_case(
    name: str, waves: int, random: np.random.Generator, number: int | None = None
) -> BufferCase:
    """A case that the document defines. Memory of D16 loads of 32-bit integers would have to hold
    small ones."""
    number = format_number(name, random) if number is None else number
    size = format_size(number) if "_format_" in name else tables().memory[name].size
    grain = min(size & -size, 8)
    while True:
        resource = _resource(name, number, size, random)
        raw = resource.check == 3 and not resource.swizzle
        indexed = bool(random.integers(4)) and not raw
        offset = bool(random.integers(3))
        swizzled_third = resource.check == 3 and resource.swizzle
        soffset = 0 if swizzled_third or random.integers(2) else grain * int(random.integers(0, 8))
        ioffset = grain * int(random.choice([0, 0, 1, 2, _far() if offset else 0]))
        # Some untyped accesses are not aligned.
        if not resource.swizzle and "_format_" not in name and "atomic" not in name and size > 1:
            ioffset += int(random.integers(3) == 0)
        plain_load = name.startswith("buffer_load") and "_format_" not in name and size <= 8
        tfe = plain_load and not random.integers(4)
        case = BufferCase(
            name, resource, number, soffset, ioffset, indexed, offset, bool(random.integers(2)), tfe
        )
        case.rows = [_row(case, grain, random) for _ in range(waves)]
        if case.is_defined():
            return case


def _row(case: BufferCase, grain: int, random: np.random.Generator) -> NDArray[np.uint32]:
    rows = random.integers(0, 1 << 32, (ROWS, 32), np.uint32)
    rows[INDEX] = random.permutation(40)[:32]
    raw = case.resource.check == 3 and not case.resource.swizzle
    if raw or (case.resource.check == 2 and case.resource.stride == 0):
        rows[OFFSET] = random.permutation(48)[:32] * max(grain, min(case.size, 16))
    else:
        rows[OFFSET] = random.integers(0, 3, 32) * grain
    rows[OFFSET, random.integers(32)] = 0xFFFFFFFC if case.resource.check in (0, 3) else 0
    if case.ioffset >= _far():
        rows[OFFSET] -= np.uint32(case.ioffset)
    if case.formatted and not case.loads:
        rows[DATA : DATA + 4] = store_data(case, random)
    return rows


def store_data(case: BufferCase, random: np.random.Generator) -> NDArray[np.uint32]:
    """Values that the format holds; for UNORM and SNORM any, because it is settled how they
    round."""
    kind, widths = formats()[case.number]
    channels = [
        [_channel(case, kind, widths, number, random) for _ in range(lanes_of_wave())]
        for number in range(4)
    ]
    whole = np.array(channels, np.uint64).astype(np.uint32)
    if not case.narrow:
        return whole
    if "_hi_" in case.name:
        whole[1] = whole[0]
    pairs = whole[0::2] | whole[1::2] << 16
    return np.concatenate([pairs, pairs]).astype(np.uint32)


def _channel(
    case: BufferCase, kind: str, widths: list[int], number: int, random: np.random.Generator
) -> int:
    # The first channel may stand for all of them: it must fit the narrowest.
    width = widths[number] if 0 < number < min(len(widths), case.channels) else min(widths)
    if case.narrow and kind in ("UINT", "SINT", "FLOAT"):
        width = min(width, 16)
    if kind.endswith("NORM"):
        value = random.choice(
            [random.normal(), random.random(), random.integers(0, 70000) / 65535, 0.5, 1.0, -0.5]
        )
        return int(
            np.float16(value).view(np.uint16) if case.narrow else np.float32(value).view(np.uint32)
        )
    bits = (
        int(random.integers(0, 1 << min(width, 16)))
        if width < 32
        else int(random.integers(0, 1 << 32))
    )
    if kind == "FLOAT" and len(set(widths)) > 1:
        bits, width = bits >> max(width - 10, 0) & 0x3FF, 10
    value = value_of(bits, kind, width)
    if isinstance(value, int):
        return value & (0xFFFF if case.narrow else 0xFFFFFFFF)
    if value != value:
        return 0x3C00 if case.narrow else 0x3F800000
    if kind == "FLOAT" and width == 32 and not case.narrow:
        return bits
    return int(
        np.float16(value).view(np.uint16) if case.narrow else np.float32(value).view(np.uint32)
    )
