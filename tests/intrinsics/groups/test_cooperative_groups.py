"""CUDA's cooperative groups: all work-items of the grid, or of a workgroup."""

from __future__ import annotations

import numpy as np
import pytest

import amdjit
from amdjit import cooperative_groups


@amdjit.kernel
def rows(m):
    column = amdjit.grid(1)
    group = cooperative_groups.this_grid()
    for row in range(1, m.shape[0]):
        m[row, column] = m[row - 1, m.shape[1] - column - 1] + 1
        group.sync()


def test_rows_are_written_one_after_the_other() -> None:
    m = np.zeros((10, 256), np.int32)
    rows[8, 32](m)
    np.testing.assert_array_equal(m, np.broadcast_to(np.arange(10)[:, None], m.shape))
    most = rows.max_cooperative_grid_blocks(32)
    with pytest.raises(amdjit.LaunchError, match=r"all workgroups of this launch run at the same"):
        rows[most + 1, 32](m)


def test_asking_for_the_grid_makes_a_kernel_cooperative() -> None:
    @amdjit.kernel
    def asks(x):
        cooperative_groups.this_grid()
        x[0] = 1

    @amdjit.kernel
    def asks_for_block(x):
        cooperative_groups.this_thread_block().sync()
        x[0] = 1

    x = np.zeros(1, np.float32)
    for kernel, expected in ((asks, True), (asks_for_block, False)):
        x[0] = 0
        kernel[1, 1](x)
        assert x[0] == 1
        assert [each.cooperative for each in kernel.overloads.values()] == [expected]


def test_ranks_and_sizes() -> None:
    @amdjit.kernel
    def ranks(out, sizes):
        grid = cooperative_groups.this_grid()
        block = cooperative_groups.this_thread_block()
        out[grid.thread_rank()] = block.thread_rank()
        sizes[0], sizes[1] = grid.size(), block.size()

    out, sizes = np.full(2 * 3 * 2 * 24, -1), np.zeros(2, np.int64)
    ranks[(2, 3, 2), (4, 3, 2)](out, sizes)
    np.testing.assert_array_equal(out, np.tile(np.arange(24), 12))
    assert sizes.tolist() == [288, 24]
