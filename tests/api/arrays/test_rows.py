"""Parts of matrices with contiguous rows get wide accesses, and others still give right results."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import f16, f32, i32, shared
from amdjit.testing import isa
from amdjit.types import Array, Layout

BASE = np.arange(24 * 40, dtype=np.float32).reshape(24, 40)
# A name, how the part is cut, and how it lies.
PARTS: dict[str, tuple[Any, Layout]] = {
    "whole": (lambda m: m[:8, :32].copy(), Layout.CONTIGUOUS),
    "block": (lambda m: m[2:10, 4:36], Layout.ROWS),
    "block at an odd place": (lambda m: m[2:10, 3:35], Layout.ROWS),
    "every second row": (lambda m: m[:16:2, 8:], Layout.ROWS),
    "one row again and again": (lambda m: np.broadcast_to(m[5, :32], (8, 32)), Layout.ROWS),
    "rows backwards": (lambda m: m[7::-1, :32], Layout.STRIDED),
    "every second column": (lambda m: np.tile(m, 2)[:8, :64:2], Layout.STRIDED),
    "columns backwards": (lambda m: m[:8, 31::-1], Layout.STRIDED),
    "turned": (lambda m: m.reshape(40, 24).T[:8, :32], Layout.STRIDED),
}


pytestmark = pytest.mark.usefixtures("emulator")


def copy_kernel() -> Any:
    @amdjit.kernel(block=(8, 8, 1))
    def copy(x, out):
        column, row = amdjit.grid(2)
        out.store((row, 4 * column), x.load((row, 4 * column), 4) + 1)

    return copy


def on_device(name: str) -> tuple[np.ndarray[Any, Any], Any]:
    """Return a part and its like on the device, in memory that lies as NumPy's does."""
    part = PARTS[name][0](BASE)
    if name == "whole":
        return part, amdjit.to_device(part)
    if name == "one row again and again":
        return part, part
    base = {"every second column": np.tile(BASE, 2), "turned": BASE.reshape(40, 24)}.get(name, BASE)
    there = amdjit.to_device(base)
    cuts = {
        "block": lambda m: m[2:10, 4:36], "block at an odd place": lambda m: m[2:10, 3:35],
        "every second row": lambda m: m[:16:2, 8:], "rows backwards": lambda m: m[7::-1, :32],
        "every second column": lambda m: m[:8, :64:2], "columns backwards": lambda m: m[:8, 31::-1],
        "turned": lambda m: m.T[:8, :32],
    }  # fmt: skip
    return part, cuts[name](there)


@pytest.mark.sample(5)
@pytest.mark.parametrize("name", PARTS)
def test_a_wide_load_reads_neighbours_of_the_array_however_it_lies(name: str) -> None:
    copy = copy_kernel()
    expected, part = on_device(name)
    out = np.zeros((8, 32), np.float32)
    copy[(1, 1), (8, 8)](part, out)
    assert (out == expected + 1).all()
    (compiled,) = copy.specialisations
    if not isinstance(part, np.ndarray):
        assert compiled.arguments[0].layout is PARTS[name][1]
        wide = PARTS[name][1] is not Layout.STRIDED
        assert bool(isa(compiled).count("global_load_b128")) == wide


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    "name", [name for name in PARTS if name not in ("whole", "one row again and again")]
)
def test_a_wide_store_writes_the_part_and_nothing_else(name: str) -> None:
    copy = copy_kernel()
    cut, layout = PARTS[name]
    shape = (
        (40, 24) if name == "turned" else (24, 80) if name == "every second column" else (24, 40)
    )
    host = np.zeros(shape, np.float32)
    there = amdjit.to_device(host)
    x = np.arange(256, dtype=np.float32).reshape(8, 32)
    target = {"turned": lambda m: m.T[:8, :32], "every second column": lambda m: m[:8, :64:2]}.get(
        name, cut
    )
    target(host)[...] = x + 1
    copy[(1, 1), (8, 8)](x, target(there))
    assert (there.copy_to_host() == host).all()
    (compiled,) = copy.specialisations
    assert compiled.arguments[1].layout is layout
    wide = isa(compiled).count("global_store_b128")
    assert bool(wide) == (layout is not Layout.STRIDED)


def test_code_for_rows_is_not_used_where_they_are_not_in_one_piece() -> None:
    copy = copy_kernel()
    there = amdjit.to_device(np.tile(BASE, 2))
    out = np.zeros((8, 32), np.float32)
    for cut in (
        lambda m: m[2:10, 4:36],
        lambda m: m[:8, :64:2],
        lambda m: m[7::-1, :32],
        lambda m: m[:8, 1:33],
    ):
        copy[(1, 1), (8, 8)](cut(there), out)
        assert (out == cut(np.tile(BASE, 2)) + 1).all()
    assert [compiled.arguments[0].layout for compiled in copy.specialisations] == [
        Layout.ROWS,
        Layout.STRIDED,
    ]


def test_offsets_into_rows_are_32_bits_unsigned() -> None:
    @amdjit.kernel
    def move(x, out):
        row, column = amdjit.blockIdx.x, amdjit.threadIdx.x
        out[row, column] = x[row, column] + x[row, column + 1]

    part = f32[:, :].with_facts(rows=True)
    asm = move.compile(part, part, target="gfx1201").asm_full
    assert re.search(r"global_load_b64 v\[\d+:\d+\], v\d+, s\[\d+:\d+\]\n", asm), (
        "neighbours, at a uniform address"
    )
    assert "_u64" not in asm
    assert (
        move.compile(part, part, target="gfx1201").signature
        == "move(f32[:, :] in rows, f32[:, :] in rows)"
    )


def test_views_of_matrices_have_rows() -> None:
    @amdjit.kernel(block=(4, 8, 1))
    def tiles(x, out):
        tile = x[8 * amdjit.blockIdx.y : 8 * amdjit.blockIdx.y + 8, 16 * amdjit.blockIdx.x :]
        column, row = amdjit.threadIdx.x, amdjit.threadIdx.y
        line = tile[row]
        out.store((row, 4 * column), tile.load((row, 4 * column), 4) + line.load(4 * column, 4))

    x = amdjit.to_device(BASE)
    out = np.zeros((8, 16), np.float32)
    tiles[(1, 1), (4, 8)](x, out)
    assert (out == 2 * BASE[:8, :16]).all()
    isa(tiles).count("global_load_b128", at_least=1, at_most=2)
    tiles[(1, 1), (4, 8)](x[1:, 3:], out)
    assert (out == 2 * BASE[1:9, 3:19]).all()


def test_padded_lds_is_accessed_wide() -> None:
    @amdjit.kernel(block=(8, 4, 1))
    def turn(x, out):
        tile = shared.array((32, 36), f16)[:, :32]
        row = amdjit.threadIdx.x + 8 * amdjit.threadIdx.y
        for k in amdjit.static_range(4):
            tile.store((row, 8 * k), x.load((row, 8 * k), 8))
        amdjit.syncthreads()
        for k in range(32):
            out[row, k] = tile[k, row]

    x = np.arange(1024).astype(np.float16).reshape(32, 32)
    out = np.zeros_like(x)
    turn[1, (8, 4)](x, out)
    assert (out == x.T).all()


@pytest.mark.parametrize("cut", ["rows", "columns", "steps"])
@pytest.mark.parametrize("first", [True, False])
def test_parts_that_lie_differently_meet(cut: str, first: bool) -> None:
    @amdjit.kernel
    def choose(x, out, first, cut: amdjit.Const):
        part = x
        if first:
            part = x[2:] if cut == "rows" else x[:, 1:] if cut == "columns" else x[::2, ::3]
        i = amdjit.grid(1)
        out[i] = part[1, i]
        if i == 0:
            out[12] = part.shape[0] * 100 + part.shape[1]

    x = np.arange(8 * 40, dtype=np.float32).reshape(8, 40)
    part = {"rows": x[2:], "columns": x[:, 1:], "steps": x[::2, ::3]}[cut] if first else x
    out = np.zeros(13, np.float32)
    choose[1, 12](x, out, first, cut)
    assert (out[:12] == part[1, :12]).all()
    assert out[12] == part.shape[0] * 100 + part.shape[1]


def test_lds_arrays_that_lie_differently_meet_if_their_shapes_are_one() -> None:
    @amdjit.kernel
    def choose(out, first):
        a, b = shared.array((4, 8), i32), shared.array((4, 12), i32)
        i = amdjit.threadIdx.x
        for row in range(4):
            a[row, i] = 10 * row + i
            b[row, i] = -10 * row - i
        part = a if first else b[:, :8]
        out[i] = part[2, i]

    out = np.zeros(8, np.int32)
    for first in (True, False):
        choose[1, 8](out, first)
        assert list(out) == [(20 + i) * (1 if first else -1) for i in range(8)]


def test_axes_of_one_element_may_have_any_stride() -> None:
    copy = copy_kernel()
    there = amdjit.to_device(BASE)
    out = np.zeros((1, 32), np.float32)

    @amdjit.kernel
    def first(x, out):
        i = amdjit.grid(1)
        out[0, i] = x[0, i]

    first[1, 32](there[5::-8, :32], out)
    assert (out == BASE[5::-8, :32]).all()
    kind = first.specialisations[0].arguments[0]
    assert isinstance(kind, Array)
    assert kind.layout is Layout.CONTIGUOUS
    assert copy.specialisations == ()


def test_a_wide_access_that_is_the_same_in_all_lanes_promises_no_alignment() -> None:
    @amdjit.kernel
    def uniform(a, out):
        part = a[3:]
        v = part.load(0, 8)
        for k in amdjit.static_range(8):
            out[k] = v[k]

    # A scalar load drops the lowest two bits of its address (RDNA4 ISA, "Scalar Memory
    # Instructions").
    isa(uniform.compile(amdjit.f16[:], amdjit.f16[:], target="gfx1201")).count(
        "global_load_b128", at_least=1
    )
    a, out = np.arange(16, dtype=np.float16), np.zeros(8, np.float16)
    uniform[1, 1](a, out)
    np.testing.assert_array_equal(out, a[3:11])
