"""Cooperative loads and stores: the waves of a workgroup share a fragment's blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import shared
from amdjit.intrinsics import matrix, wave
from amdjit.testing import isa
from amdjit.types import f16, f32, i8
from tests.matrix.fragment_kernels import COL, ROW, marked

pytestmark = pytest.mark.usefixtures("device")


@pytest.mark.sample(2)
@pytest.mark.covering(1)
@pytest.mark.parametrize("waves", [1, 2, 4, 8])
@pytest.mark.parametrize("layout", [ROW, COL], ids=["row", "col"])
def test_waves_that_share_a_tile_copy_all_of_it_and_nothing_else(waves: int, layout: Any) -> None:
    @amdjit.kernel(block=32 * waves)
    def copy(source, target, dtype: amdjit.Const):
        tile = shared.array((64, 64), dtype)
        part = matrix.fragment(matrix.matrix_a, 64, 16, 64, dtype, layout)
        other = matrix.fragment(matrix.matrix_b, 16, 64, 64, dtype, layout)
        number = wave.wave_id()
        matrix.load_matrix_coop_sync(part, source, (4, 8), number, waves)
        matrix.store_matrix_coop_sync(tile, part, None, number, waves)
        matrix.synchronize_workgroup()
        matrix.load_matrix_coop_sync(other, tile, (0, 0), number, waves)
        matrix.store_matrix_coop_sync(target, other, (1, 2), number, waves)

    # How blocks are shared depends on the waves, how they are copied on the size of elements.
    for dtype in {1: (f16, i8), 2: (f32,), 4: (i8,), 8: (f16, f32)}[waves]:
        source = np.full((64 + 7, 64 + 9), 111).astype(dtype.dtype)
        source[4:68, 8:72] = np.random.default_rng(1).integers(0, 100, (64, 64))
        target = np.full((64 + 4, 64 + 3), 99).astype(dtype.dtype)
        expected = target.copy()
        expected[1:65, 2:66] = source[4:68, 8:72]
        copy[1, 32 * waves](source, target, dtype)
        np.testing.assert_array_equal(target, expected)


def test_flat_arrays_are_shared_too() -> None:
    @amdjit.kernel(block=64)
    def copy(source, target, ld):
        part = matrix.fragment(matrix.accumulator, 32, 32, 16, f32)
        matrix.load_matrix_coop_sync(part, source, 3, wave.wave_id(), 2, ld)
        matrix.store_matrix_coop_sync(target, part, 0, wave.wave_id(), 2, 32, matrix.col_major)

    source = np.random.default_rng(2).standard_normal((32, 40)).astype(np.float32)
    target = np.zeros(32 * 32, np.float32)
    copy[1, 64](source.reshape(-1), target, 40)
    np.testing.assert_array_equal(target.reshape(32, 32).T, source[:, 3:35])


FEW = [(m, k, waves) for m, k in ((16, 16), (48, 16), (32, 48), (20, 40)) for waves in (2, 4, 5, 8)]


@pytest.mark.sample(2)
@pytest.mark.covering(1)
@pytest.mark.parametrize("wave_size", [32, 64])
@pytest.mark.parametrize("case", marked(FEW, FEW[1::5] + FEW[3:4]), ids=str)
def test_any_number_of_waves_shares_any_number_of_blocks(
    case: tuple[int, int, int], wave_size: int
) -> None:
    """One block among many waves, counts that do not divide, partial fragments; no wave touches
    another's block."""
    m, k, waves = case

    @amdjit.kernel(block=(waves * wave_size, 1, 1), wave_size=wave_size)
    def copy(source, target, again, count, layout):
        tile = shared.array((m, k + 8), f16)
        number, share = wave.wave_id(), matrix.coop_row_major_2d(waves * wave_size, 1)
        part = matrix.fragment(matrix.matrix_a, m, 16, k, f16, ROW)
        matrix.load_matrix_coop_sync(part, source, (1, 2), number, waves)
        matrix.store_matrix_coop_sync(tile, part, (0, 0), number, waves)
        matrix.synchronize_workgroup()
        matrix.fill_fragment(part, 0)
        matrix.load_matrix_coop_sync(part, tile, (0, 0), number, count, layout=layout)
        matrix.store_matrix_coop_sync(target, part, (0, 0), number, count)
        scheduled = matrix.fragment(matrix.matrix_a, m, 16, k, f16, ROW, share)
        matrix.fill_fragment(scheduled, 1)
        matrix.load_matrix_sync(scheduled, source, (1, 2), clip=True)
        matrix.store_matrix_sync(again, scheduled)

    source = np.random.default_rng(m + k).standard_normal((m + 1, k + 3)).astype(np.float16)
    target, again = np.zeros((m, k), np.float16), np.zeros((m, k), np.float16)
    with amdjit.sanitize("memory", "init", "sync", "race"):
        copy[1, waves * wave_size](source, target, again, waves, matrix.mem_row_major)
    np.testing.assert_array_equal(target, source[1:, 2 : k + 2])
    np.testing.assert_array_equal(again, source[1:, 2 : k + 2])


def test_waves_share_one_block_in_wide_accesses() -> None:
    """One wave branches to one load of 128 bits, the others past it."""

    @amdjit.kernel(block=(128, 1, 1))
    def copy(source, target):
        part = matrix.fragment(
            matrix.matrix_a, 16, 16, 16, f16, ROW, matrix.coop_row_major_2d(128, 1)
        )
        matrix.load_matrix_sync(part, source)
        matrix.store_matrix_sync(target, part)

    code = isa(copy.compile(f16[:, :], f16[:, :]))
    for each in ("global_load_b128", "global_store_b128", "global_load_*", "global_store_*"):
        code.count(each, 1)


@pytest.mark.sample(4)
@pytest.mark.covering(2)
@pytest.mark.parametrize("waves", [2, 3, 4, 6])
@pytest.mark.parametrize("clip", [None, True])
@pytest.mark.parametrize("layout", [ROW, COL], ids=["row", "col"])
def test_blocks_that_do_not_go_round_evenly_are_shared_too(
    waves: int, clip: Any, layout: Any
) -> None:
    """12 blocks in rows of 6: each of 4 waves has blocks at other distances from its first."""

    @amdjit.kernel(block=32 * waves)
    def copy(source, target):
        tile = shared.array((96, 104), f16)
        part = matrix.fragment(matrix.matrix_a, 32, 16, 96, f16, layout)
        number = wave.wave_id()
        matrix.load_matrix_coop_sync(part, source, (4, 8), number, waves, clip=clip)
        matrix.store_matrix_coop_sync(tile, part, None, number, waves)
        matrix.synchronize_workgroup()
        matrix.load_matrix_coop_sync(part, tile, (0, 0), number, waves)
        matrix.store_matrix_coop_sync(target, part, (1, 2), number, waves, clip=clip)

    rows, columns = (32, 96) if layout is ROW else (96, 32)
    source = np.random.default_rng(1).integers(0, 100, (rows + 7, columns + 9)).astype(np.float16)
    target = np.full((rows + 4, columns + 3), 99).astype(np.float16)
    expected = target.copy()
    expected[1 : rows + 1, 2 : columns + 2] = source[4 : rows + 4, 8 : columns + 8]
    copy[1, 32 * waves](source, target)
    np.testing.assert_array_equal(target, expected)
