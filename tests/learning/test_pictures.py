"""The pictures show what was counted."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pytest

import amdjit
from amdjit import f32, grid, threadIdx
from amdjit.cycles.estimate import Segment, WaveTimeline
from amdjit.explorer.terminal.screen import PLAIN, Screen
from amdjit.intrinsics import matrix
from amdjit.learning import pictures
from amdjit.learning.pictures import draw
from amdjit.profiling.launch_profile import LaunchProfile


@amdjit.kernel
def guarded(x, out):
    i = grid(1)
    if i < x.shape[0]:
        out[i] = 2 * x[i]


@amdjit.kernel
def by_rows(x, out):
    i = threadIdx.x
    out[i] = x[32 * i]


@amdjit.kernel
def through_lds(x, out):
    tile = amdjit.shared.array(32, f32)
    i = threadIdx.x
    tile[i] = x[i]
    amdjit.syncthreads()
    out[i] = tile[31 - i]


@amdjit.kernel(block=32)
def product(a, d):
    left = matrix.fragment(matrix.matrix_a, 16, 16, 16, amdjit.f16, matrix.row_major)
    right = matrix.fragment(matrix.matrix_b, 16, 16, 16, amdjit.f16, matrix.row_major)
    total = matrix.fragment(matrix.accumulator, 16, 16, 16, f32)
    matrix.fill_fragment(total, 0)
    matrix.load_matrix_sync(left, a)
    matrix.load_matrix_sync(right, a)
    matrix.mma_sync(total, left, right, total)
    matrix.store_matrix_sync(d, total)


def launched(kernel: amdjit.Kernel, grid: int, *arrays: np.ndarray) -> Sequence[LaunchProfile]:
    with amdjit.use("emulator:gfx1201"), amdjit.profile() as counted:
        kernel[grid, 32](*arrays)
    return counted.launches


def row_of(picture: str, source: str) -> str:
    (row,) = (line for line in picture.splitlines() if line.endswith(source))
    return row


def test_lanes_are_those_that_were_active() -> None:
    x = np.zeros(112, np.float32)
    picture = draw("lanes", launched(guarded, 4, x, x.copy()), PLAIN)
    assert picture.startswith("4 waves of 32 lanes")
    # Half of the last wave, in the store; all lanes compute their number.
    assert re.search(r"100  █{32}  test_pictures\.py:\d+ ", row_of(picture, "i = grid(1)"))
    (counted,) = launched(guarded, 4, x, x.copy())
    line = next(one for one in counted.lines.values() if one.bytes == 2 * 4 * 112)
    part = line.active_lanes / (32 * line.executions)
    row = row_of(picture, "out[i] = 2 * x[i]")
    assert row.split()[:2] == [str(line.executions), f"{100 * part:.0f}"]
    assert row.count("█") == int(32 * part)


def test_cache_lines_are_used_in_part() -> None:
    out = np.zeros(32, np.float32)
    picture = draw("cache", launched(by_rows, 1, np.zeros(1024, np.float32), out), PLAIN)
    # A load of 32 lines and a store of one, 128 bytes each.
    assert row_of(picture, "out[i] = x[32 * i]").split()[:4] == ["2", "256", "33", "6"]


def test_fragments_are_those_of_the_instruction() -> None:
    launches = launched(product, 1, np.zeros((16, 16), np.float16), np.zeros((16, 16), np.float32))
    picture = draw("fragments", launches, PLAIN)
    assert picture.startswith("1 times wmma_f32_16x16x16_f16, over all waves")
    for operand in ("a", "d"):
        shown = matrix.layout_map(matrix.layout("wmma_f32_16x16x16_f16", operand))
        rows = shown.replace(".", ":").splitlines()
        assert set(rows) <= set(picture.splitlines()), operand
    assert " 16:3 " in picture
    x = np.zeros(32, np.float32)
    without = draw("fragments", launched(guarded, 1, x, x.copy()), PLAIN)
    assert without == "the kernel has no matrix instructions"


@pytest.mark.parametrize("types", ["f32_16x16x16_f16", "f32_16x16x16_bf16", "i32_16x16x16_iu8"])
def test_operand_b_is_as_a_with_rows_and_columns_exchanged(types: str) -> None:
    a, b = (matrix.layout(f"wmma_{types}", operand, target="gfx1201") for operand in "ab")
    for row, column in np.ndindex(16, 16):
        assert a.place(row, column) == b.place(column, row)


def test_lines_of_barriers_are_not_among_those_that_use_cache_lines() -> None:
    x = np.zeros(64, np.float32)
    picture = draw("cache", launched(through_lds, 1, x, x.copy()), PLAIN)
    assert "out[i] = tile[31 - i]" in picture
    assert "syncthreads" not in picture


def test_the_waits_that_are_shown_are_explained() -> None:
    x = np.zeros(32, np.float32)
    picture = draw("waits", launched(guarded, 1, x, x.copy()), PLAIN)
    assert "  kmcnt     waits for scalar loads" in picture
    assert "  loadcnt   waits for loads" in picture
    assert "dscnt" not in picture


def test_a_picture_fits_its_screen() -> None:
    launches = launched(product, 1, np.zeros((16, 16), np.float16), np.zeros((16, 16), np.float32))
    for name in pictures.PICTURES.keys() - {"banks"}:
        lines = draw(name, launches, Screen(60)).splitlines()
        assert max(map(len, lines)) <= 60, name


def test_time_is_what_a_wave_did_most_in_each_part() -> None:
    did = [
        Segment(0, 64, "issue"),
        Segment(64, 127, "wait loadcnt"),
        Segment(127, 192, "barrier"),
        Segment(192, 224, "branch"),
    ]
    wave = WaveTimeline(0, 0, workgroup=0, wave=0, start=0, end=224, segments=tuple(did))
    strip = pictures._strip(wave, 256)
    assert strip == "#" * 16 + "m" * 16 + "b" * 16 + "." * 8 + " " * 8


@pytest.mark.parametrize(
    ("cycles", "scale"), [(0.4, 1), (5.1, 6), (20.25, 25), (151, 200), (192.2, 200), (801, 1000)]
)
def test_versions_of_a_kernel_are_drawn_in_one_scale(cycles: float, scale: int) -> None:
    assert pictures._scale(cycles) == scale
