"""Fragments whose kind has a schedule by which waves share them, and the calls that take one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import shared
from amdjit.intrinsics import matrix, wave
from amdjit.types import bf16, f16, f32
from tests.matrix.fragment_kernels import COL, ROW, exact, marked
from tests.matrix.tested_devices import is_gfx11

pytestmark = pytest.mark.usefixtures("device")

A, B, C = matrix.matrix_a, matrix.matrix_b, matrix.accumulator


def share_of_each_wave(schedule: Any, block: tuple[int, int], wave_size: int = 32) -> Any:
    """Return, for each wave in the order of work-items, the numbers of the 16 blocks of a matrix
    that it loads."""

    @amdjit.kernel(block=(*block, 1), wave_size=wave_size)
    def load(source, out):
        part = matrix.fragment(A, 16, 16, 256, f32, ROW, schedule)
        matrix.fill_fragment(part, -1)
        matrix.load_matrix_sync(part, source)
        if wave.lane_id() == 0:
            for block in amdjit.static_range(part.num_elements // held):
                out[wave.wave_id(), block] = part.x[held * block]

    held = 16 if is_gfx11() else 256 // wave_size
    source = np.repeat(np.arange(16, dtype=np.float32), 16)[None].repeat(16, 0).copy()
    out = np.full((block[0] * block[1] // wave_size, 16), np.nan, np.float32)
    load[1, block](source, out)
    return [[int(number) for number in line if number == number] for line in out]


ALL = list(range(16))


def every(step: int, first: int) -> list[int]:
    return ALL[first::step]


def test_which_wave_takes_which_blocks() -> None:
    """After rocWMMA's pictures: waves (0, 0), (0, 1), (1, 0), (1, 1) of (x // lanes, y); here in
    work-items' order."""
    block = (64, 2)
    by_rows = share_of_each_wave(matrix.coop_row_major_2d(*block), block)
    assert by_rows == [every(4, 0), every(4, 2), every(4, 1), every(4, 3)]
    by_columns = share_of_each_wave(matrix.coop_col_major_2d(*block), block)
    assert by_columns == [every(4, 0), every(4, 1), every(4, 2), every(4, 3)]
    assert share_of_each_wave(matrix.default_schedule, block) == [ALL] * 4
    assert share_of_each_wave(matrix.single(*block), block) == [
        ALL,
        [-1] * 16,
        [-1] * 16,
        [-1] * 16,
    ]
    assert share_of_each_wave(matrix.single(*block, 1), block) == [
        [-1] * 16,
        [-1] * 16,
        ALL,
        [-1] * 16,
    ]


def test_slices_of_waves_share_a_fragment() -> None:
    block = (64, 4)
    rows = share_of_each_wave(matrix.coop_row_slice_2d(*block), block)
    assert rows == [every(4, column) for column in range(4) for _ in range(2)]
    columns = share_of_each_wave(matrix.coop_col_slice_2d(*block), block)
    assert columns == [every(2, row) for _ in range(4) for row in range(2)]
    wide = share_of_each_wave(matrix.coop_col_slice_2d(128, 2), (128, 2), 64)
    assert wide == [every(2, row) for _ in range(2) for row in range(2)]


SCHEDULES = [
    matrix.coop_row_major_2d, matrix.coop_col_major_2d, matrix.coop_row_slice_2d,
    matrix.coop_col_slice_2d,
    matrix.single,
]  # fmt: skip


@pytest.mark.sample(2)
@pytest.mark.covering(1)
@pytest.mark.parametrize("schedule", SCHEDULES, ids=lambda schedule: schedule.function.__name__)
@pytest.mark.parametrize("wave_size", marked([32, 64], [32]))
def test_a_product_through_lds_that_waves_have_filled_together(
    schedule: Any, wave_size: int
) -> None:
    """One tile of 32 by 32 for each of 2 by 2 waves; slices load a strip for each row or column of
    waves."""
    of_row = schedule is matrix.coop_row_slice_2d
    of_column = schedule is matrix.coop_col_slice_2d

    @amdjit.kernel(block=(2 * wave_size, 2, 1), wave_size=wave_size)
    def product(a, b, d):
        a_tile, b_tile = shared.array((64, 40), f16), shared.array((64, 40), f16)
        row, column = wave.wave_id() % 2 * 32, wave.wave_id() // 2 * 32
        share = schedule(2 * wave_size, 2)
        a_rows, b_rows = 32 if of_row else 64, 32 if of_column else 64
        a_part = matrix.fragment(A, a_rows, 16, 32, f16, ROW, share)
        b_part = matrix.fragment(B, 16, b_rows, 32, f16, COL, share)
        a_first, b_first = row if of_row else 0, column if of_column else 0
        left, right = (
            matrix.fragment(A, 32, 32, 32, f16, ROW),
            matrix.fragment(B, 32, 32, 32, f16, COL),
        )
        total = matrix.fragment(C, 32, 32, 32, f32)
        matrix.fill_fragment(total, 0)
        for k in range(0, a.shape[1], 32):
            matrix.load_matrix_sync(a_part, a, (a_first, k), clip=True)
            matrix.load_matrix_sync(b_part, b, (b_first, k), clip=True)
            matrix.synchronize_workgroup()
            matrix.store_matrix_sync(a_tile, a_part, (a_first, 0))
            matrix.store_matrix_sync(b_tile, b_part, (b_first, 0))
            matrix.synchronize_workgroup()
            matrix.load_matrix_sync(left, a_tile, (row, 0))
            matrix.load_matrix_sync(right, b_tile, (column, 0))
            matrix.mma_sync(total, left, right, total)
        matrix.store_matrix_sync(d, total, (row, column), clip=True)

    random = np.random.default_rng(1)
    a, b = random.integers(*exact(-3, 4), (57, 80)), random.integers(*exact(-3, 4), (61, 80))
    d = np.full((57, 61), np.nan, np.float32)
    product[1, (2 * wave_size, 2)](a.astype(np.float16), b.astype(np.float16), d)
    np.testing.assert_array_equal(d, a @ b.T)


def test_a_share_takes_as_many_registers_as_it_has_blocks() -> None:
    @amdjit.kernel(block=(128, 1, 1))
    def sizes(out):
        part = matrix.fragment(A, 64, 16, 32, bf16, ROW, matrix.coop_row_major_2d(128, 1))
        whole = matrix.fragment(A, 64, 16, 32, bf16, ROW)
        out[0], out[1] = part.num_elements, whole.num_elements

    out = np.zeros(2, np.int32)
    sizes[1, 128](out)
    assert list(out) == ([32, 128] if is_gfx11() else [16, 64])


def test_partial_fragments_are_filled_and_shared() -> None:
    @amdjit.kernel(block=(64, 1, 1))
    def fill(d, out):
        part = matrix.fragment(C, 20, 24, 16, f32, COL, matrix.coop_col_slice_2d(64, 1))
        matrix.fill_fragment(part, 3)
        matrix.store_matrix_sync(d, part, (1, 1))
        for i in amdjit.static_range(part.num_elements):
            out[wave.wave_id(), wave.lane_id(), i] = part.x[i]

    d, out = np.full((26, 22), 99, np.float32), np.zeros((2, 32, 16), np.float32)
    fill[1, 64](d, out)
    assert (d[1:25, 1:21] == 3).all()
    assert (d == 3).sum() == 24 * 20
    assert (out == 3).sum() == 24 * 20
    assert (out == 0).sum() == 32 * 32 - 24 * 20


def test_the_waves_of_rows_and_columns_share_without_being_named() -> None:
    """rocWMMA 1.x's shortest form: the waves of a row share an A, those of a column a B."""

    @amdjit.kernel(block=(64, 4, 1))
    def copy(source, a_out, b_out):
        row, column = wave.wave_id() % 2, wave.wave_id() // 2
        a_part = matrix.fragment(A, 64, 16, 16, f32, ROW)
        b_part = matrix.fragment(B, 16, 64, 16, f32, COL)
        matrix.load_matrix_coop_sync(a_part, source, (64 * row, 0), clip=True, split_count=1)
        matrix.store_matrix_coop_sync(a_out, a_part, (64 * row, 0))
        matrix.load_matrix_coop_sync(b_part, source, (64 * column, 0))
        matrix.store_matrix_coop_sync(b_out, b_part, (64 * column, 0))
        if wave.lane_id() == 0:
            b_out[256 + wave.wave_id(), 0] = amdjit.f32(a_part.num_elements)

    source = np.random.default_rng(2).standard_normal((256, 16)).astype(np.float32)
    a_out, b_out = np.zeros((128, 16), np.float32), np.zeros((264, 16), np.float32)
    copy[1, (64, 4)](source, a_out, b_out)
    np.testing.assert_array_equal(a_out, source[:128])
    np.testing.assert_array_equal(b_out[:256], source)


def test_sizes_that_are_none_are_refused_outside_of_kernels_too() -> None:
    assert str(matrix.coop_row_major_2d(64, 2)) == "coop_row_major_2d(64, 2)"
    assert str(matrix.single(64, 2, 3)) == "single(64, 2, 3)"
    for wrong in ((0, 1), (64, "2"), (64.0, 2)):
        with pytest.raises(ValueError, match=r"known when compiling"):
            matrix.coop_col_major_2d(*wrong)
    with pytest.raises(ValueError, match="the wave of single is -1"):
        matrix.single(64, 2, -1)
