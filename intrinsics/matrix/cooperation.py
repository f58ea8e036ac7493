"""Loads and stores that the waves of a workgroup share: each takes some of a fragment's blocks.

    part = matrix.fragment(matrix.matrix_a, 128, 128, 32, f16, matrix.row_major)     # 16 blocks
    matrix.load_matrix_coop_sync(part, A, (row, k), wave_index, 4)                   # 4 of them in each of 4 waves
    matrix.store_matrix_coop_sync(tile, part, (0, 0), wave_index, 4)
    matrix.synchronize_workgroup()

The blocks go round the waves: block n is wave n % wave_count's. A wave's fragment then holds its own blocks only, so
the store must name the same waves as the load, and `mma_sync` needs fragments that were loaded whole, from LDS.

Source: rocWMMA 1.x, rocwmma_coop.hpp.
"""

from __future__ import annotations

from amdjit.declarations import Compilation, Refused, compile_time, device_function
from amdjit.intrinsics.matrix.blocks import load_blocks, store_blocks
from amdjit.intrinsics.matrix.kinds import FragmentKind
from amdjit.intrinsics.matrix.memory import access_of


@compile_time
def _share(compilation: Compilation, kind: FragmentKind, wave_count: object) -> int:
    """Return how many blocks a wave takes. Refused where the blocks do not go round."""
    blocks = kind.blocks_across * kind.blocks_along
    if not isinstance(wave_count, int) or wave_count < 1 or blocks % wave_count:
        counts = [str(count) for count in range(1, blocks + 1) if blocks % count == 0]
        remedy = f"give a constant: {', '.join(counts)}"
        raise Refused(f"{kind} has {blocks} blocks, which {wave_count} waves cannot share", remedy)
    return blocks // wave_count


@device_function
def load_matrix_coop_sync(fragment, array, index, wave_index, wave_count, ld=None, layout=None, clip=None):
    """Read a wave's share of the fragment; wave_index: 0 to wave_count - 1, the same in all lanes of a wave.

    The other arguments are those of `load_matrix_sync`.
    """
    turn = wave_index, wave_count, _share(fragment.kind, wave_count)
    access = access_of("load_matrix_coop_sync", fragment.kind, array, index, ld, layout, clip)
    load_blocks(fragment, access, array, index, ld, clip, turn)


@device_function
def store_matrix_coop_sync(array, fragment, index, wave_index, wave_count, ld=None, layout=None, clip=None):
    """Write a wave's share of the fragment, as `load_matrix_coop_sync` with the same waves has read it."""
    turn = wave_index, wave_count, _share(fragment.kind, wave_count)
    access = access_of("store_matrix_coop_sync", fragment.kind, array, index, ld, layout, clip)
    store_blocks(array, fragment, access, index, ld, clip, turn)
