"""Which work-items a workgroup has: the ids and EXEC that its waves begin with."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from amdjit.abi.launch_shape import LaunchShape
from amdjit.emulator.layout import HALF_LANES


def work_items(
    geometry: LaunchShape, components: int, lanes: int, is_packed: bool
) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Return what the registers from v0 on hold, and EXEC, 32 lanes a dword.

    The first has a row for each 32 lanes, with a register in each of its rows: v0 has x | y << 10 |
    z << 20, as many as the kernel asks for; unless `is_packed`, v0, v1 and v2 have one each.
    """
    x, y, _ = geometry.block
    items = np.arange(lanes, dtype=np.uint32)
    places = (items % x, items // x % y, items // (x * y))
    asked = [place if n < components else 0 * place for n, place in enumerate(places)]
    if is_packed:
        asked = [asked[0] | asked[1] << np.uint32(10) | asked[2] << np.uint32(20)]
    ids = np.stack(asked).reshape(len(asked), -1, HALF_LANES).swapaxes(0, 1)
    execs = np.packbits(np.arange(lanes) < geometry.items, bitorder="little").view(np.uint32)
    return np.ascontiguousarray(ids), execs
