"""Kernels that the tests of gates and differences measure, and files with them."""

from __future__ import annotations

import struct
from functools import cache
from pathlib import Path

import numpy as np

import amdjit
from amdjit import f32

OBJECTS = Path(__file__).parents[1] / "foreign/objects"


@amdjit.kernel(block=(32, 2))
def uneven(x, counts, out):
    tile = amdjit.shared.array((32, 32), f32)
    lane, wave = amdjit.threadIdx.x, amdjit.threadIdx.y
    tile[lane, wave] = x[32 * lane]
    amdjit.syncthreads()
    if lane < 8:
        amdjit.atomic.add(counts, lane % 2, 1)
    out[lane + 32 * wave] = tile[lane, wave]


@amdjit.kernel
def looping(x, out, n):
    total = f32(0)
    for row in amdjit.unroll(range(n), 1):
        for column in amdjit.unroll(range(row), 1):
            total += x[row + column]
    out[amdjit.grid(1)] = total


@cache
def launched() -> amdjit.profile:
    """Return the profile of a launch of `uneven` with two workgroups of two waves."""
    x, counts, out = np.ones(1024, np.float32), np.zeros(2, np.int32), np.empty(64, np.float32)
    with amdjit.use("emulator:gfx1201"), amdjit.profile() as p:
        uneven[2, (32, 2)](x, counts, out)
    assert counts.tolist() == [16, 16]
    return p


@cache
def inspected(name: str) -> amdjit.Inspection:
    """Return the inspection of another compiler's object."""
    return amdjit.inspect_object((OBJECTS / f"{name}.co").read_bytes())


_SECTION_BITS, _SECTION_NAMES = 1, 3
_HOST, _SHARED = 62, 3


def host_file(*contents: bytes, name: str = ".hip_fatbin", empty: int = 0) -> bytes:
    """Return a shared object for x86-64 that has a section with these contents, each at a page.
    empty: how many sections there are beside it."""
    data = b"".join(content.ljust(-(-len(content) // 4096) * 4096, b"\0") for content in contents)
    names = b"\0" + name.encode() + b"\0.shstrtab\0"
    first = 4096
    table = first + len(data) + len(names)
    sections = [
        (0, 0, 0, 0),
        (1, _SECTION_BITS, first, len(data)),
        (len(name) + 2, _SECTION_NAMES, first + len(data), len(names)),
        *[(0, 0, 0, 0)] * empty,
    ]
    head = struct.pack("<4s5B7x", b"\x7fELF", 2, 1, 1, 0, 0)
    head += struct.pack(
        "<HHIQQQIHHHHHH", _SHARED, _HOST, 1, 0, 0, table, 0, 64, 0, 0, 64, 3 + empty, 2
    )
    rows = (struct.pack("<IIQQQQIIQQ", *row[:2], 0, 0, *row[2:], 0, 0, 1, 0) for row in sections)
    return head.ljust(first, b"\0") + data + names + b"".join(rows)
