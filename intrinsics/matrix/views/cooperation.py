"""Loads and stores that the waves of a workgroup share: each takes some of a fragment's blocks.

    part = matrix.fragment(matrix.matrix_a, 128, 128, 32, f16, matrix.row_major)   # 16 blocks
    matrix.load_matrix_coop_sync(part, A, (row, k), wave_index, 4)   # 4 in each of 4 waves
    matrix.store_matrix_coop_sync(tile, part, (0, 0), wave_index, 4)
    matrix.synchronize_workgroup()

Waves take blocks in turn: block n belongs to wave n % wave_count. If the division is not even, the
last waves have one block less, or none. A wave's fragment then holds only its own blocks, so the
store must name the same waves as the load, and `mma_sync` needs fragments that were loaded whole,
from LDS.

Source: rocWMMA 1.x, rocwmma_coop.hpp.
"""

from __future__ import annotations

from typing import Any

from amdjit.declarations import device_function
from amdjit.intrinsics.matrix.fragments import move_in_layout
from amdjit.intrinsics.matrix.operands.kinds import FragmentKind
from amdjit.intrinsics.matrix.operands.parameters import Use
from amdjit.intrinsics.matrix.operands.schedules import (
    Order,
    Share,
    Turns,
    grid_of,
    number_of_wave,
    share_of,
)
from amdjit.intrinsics.matrix.transfers.blocks import load_blocks, store_blocks
from amdjit.language.compile_time import Compilation, Refused, compile_time
from amdjit.types import Scalar


@compile_time
def _share(compilation: Compilation, kind: FragmentKind, wave_index: Any, wave_count: Any) -> Share:
    """Check which waves share a fragment."""
    if kind.turns is not None:
        raise Refused(f"{kind} has a schedule", "write load_matrix_sync, store_matrix_sync")
    turns = None
    if wave_index is None and wave_count is None:
        turns = _of_the_workgroup(compilation, kind)
        wave_count = turns.count
    if wave_count is None or (wave_index is None and turns is None):
        raise Refused("one of wave_index and wave_count is missing", "give both or neither")
    if isinstance(wave_count, Scalar) and wave_count.is_integer:
        return Share(turns, None, kind.blocks.count)
    if not isinstance(wave_count, int) or isinstance(wave_count, bool) or wave_count < 1:
        raise Refused(
            f"wave_count is {wave_count}",
            "give the number of waves, best one that is known when compiling",
        )
    return share_of(kind.blocks.count, turns, wave_count)


def _of_the_workgroup(compilation: Compilation, kind: FragmentKind) -> Turns:
    """Return rocWMMA's default: the waves in a row of the grid share an A, those in a column a
    B."""
    if kind.use is Use.ACCUMULATOR:
        raise Refused(
            "an accumulator is shared only by the waves that the call names",
            "give wave_index and wave_count",
        )
    if compilation.block is None:
        raise Refused(
            "the workgroup is unknown when compiling",
            "write @amdjit.kernel(block=...), or give the waves",
        )
    rows, columns = grid_of(compilation, compilation.block)
    if kind.is_left:
        return Turns(Order.ROW_SLICE, rows, columns, columns)
    return Turns(Order.COL_SLICE, rows, columns, rows)


@device_function
def load_matrix_coop_sync(
    fragment,
    array,
    index=None,
    wave_index=None,
    wave_count=None,
    ld=None,
    layout=None,
    clip=None,
    split_count=None,
):
    """Read a wave's share of the fragment; wave_index: 0 to wave_count - 1, the same in all lanes
    of a wave.

    wave_count: preferably known when compiling; otherwise each block takes a branch. If both
    numbers are left out, the waves in a row of the workgroup's grid (`schedules`) share an A, those
    in a column a B. split_count: ignored, as in rocWMMA 1.6. The other arguments are those of
    `load_matrix_sync`.
    """
    share = _share(fragment.kind, wave_index, wave_count)
    first = wave_index if share.turns is None else number_of_wave(share.turns)
    turn = first, wave_count if share.count is None else share.count, share.blocks
    move_in_layout(
        load_blocks, "load_matrix_coop_sync", fragment, array, index, ld, layout, clip, turn
    )


@device_function
def store_matrix_coop_sync(
    array,
    fragment,
    index=None,
    wave_index=None,
    wave_count=None,
    ld=None,
    layout=None,
    clip=None,
    split_count=None,
):
    """Write a wave's share of the fragment, as read by `load_matrix_coop_sync` with the same
    waves."""
    share = _share(fragment.kind, wave_index, wave_count)
    first = wave_index if share.turns is None else number_of_wave(share.turns)
    turn = first, wave_count if share.count is None else share.count, share.blocks
    move_in_layout(
        store_blocks, "store_matrix_coop_sync", fragment, array, index, ld, layout, clip, turn
    )
