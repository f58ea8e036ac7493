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
from amdjit.intrinsics.matrix.kinds import FragmentKind
from amdjit.intrinsics.matrix.memory import (
    access_of,
    first_along,
    load_block,
    place_of,
    put_registers,
    registers,
    store_block,
)
from amdjit.intrinsics.matrix.memory import static_range as _static_range
from amdjit.intrinsics.wave import lane_id


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
def load_matrix_coop_sync(fragment, array, index, wave_index, wave_count, ld=None, layout=None):
    """Read a wave's share of the fragment; wave_index: 0 to wave_count - 1, the same in all lanes of a wave.

    The other arguments are those of `load_matrix_sync`.
    """
    kind = fragment.kind
    access = access_of("load_matrix_coop_sync", kind, array, index, ld, layout)
    place, pitch = place_of(access, index, ld)
    lane = lane_id()
    for number in _static_range(_share(kind, wave_count)):
        block = number * wave_count + wave_index
        across = 16 * (block // kind.blocks_along) + lane % 16
        along = kind.depth * (block % kind.blocks_along) + first_along(kind, lane)
        put_registers(fragment, number, load_block(kind, access, array, place, pitch, across, along))


@device_function
def store_matrix_coop_sync(array, fragment, index, wave_index, wave_count, ld=None, layout=None):
    """Write a wave's share of the fragment, as `load_matrix_coop_sync` with the same waves has read it."""
    kind = fragment.kind
    access = access_of("store_matrix_coop_sync", kind, array, index, ld, layout)
    place, pitch = place_of(access, index, ld)
    lane = lane_id()
    for number in _static_range(_share(kind, wave_count)):
        block = number * wave_count + wave_index
        across = 16 * (block // kind.blocks_along) + lane % 16
        along = kind.depth * (block % kind.blocks_along) + first_along(kind, lane)
        values = registers(fragment, number, kind.memory_type)
        store_block(kind, access, array, place, pitch, across, along, values)
