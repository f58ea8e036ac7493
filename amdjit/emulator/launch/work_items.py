"""Which work-items a workgroup has: the ids and EXEC that its waves begin with."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from amdjit.emulator.launch.kernarg import Geometry


def work_items(
    geometry: Geometry, components: int, lanes: int
) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Return v0 of each lane (x | y << 10 | z << 20, as many as the kernel asks for) and EXEC, 32
    lanes a dword."""
    x, y, _ = geometry.block
    items = np.arange(lanes, dtype=np.uint32)
    packed = items % x
    if components > 1:
        packed |= (items // x % y) << np.uint32(10)
    if components > 2:
        packed |= (items // (x * y)) << np.uint32(20)
    execs = np.packbits(np.arange(lanes) < geometry.items, bitorder="little").view(np.uint32)
    return packed, execs
