"""Cooperative loads and stores: the waves of a workgroup share a fragment's blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from fragment_kernels import COL, ROW

import amdjit
from amdjit import shared
from amdjit.intrinsics import matrix, wave
from amdjit.types import f16, f32, i8


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

    for dtype in (f16, f32, i8):
        source = np.full((64 + 7, 64 + 9), 111).astype(dtype.dtype)
        source[4:68, 8:72] = np.random.default_rng(1).integers(0, 100, (64, 64))
        target = np.full((64 + 4, 64 + 3), 99).astype(dtype.dtype)
        expected = target.copy()
        expected[1:65, 2:66] = source[4:68, 8:72]
        with amdjit.use("emulator:gfx1201"):
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
    with amdjit.use("emulator:gfx1201"):
        copy[1, 64](source.reshape(-1), target, 40)
    np.testing.assert_array_equal(target.reshape(32, 32).T, source[:, 3:35])


@pytest.mark.parametrize("waves", [2, 3, 4, 6])
@pytest.mark.parametrize("clip", [None, True])
@pytest.mark.parametrize("layout", [ROW, COL], ids=["row", "col"])
def test_blocks_that_do_not_go_round_evenly_are_shared_too(waves: int, clip: Any, layout: Any) -> None:
    """12 blocks, 6 of them along: of 4 waves each has blocks at other distances from its first."""

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
    with amdjit.use("emulator:gfx1201"):
        copy[1, 32 * waves](source, target)
    np.testing.assert_array_equal(target, expected)
