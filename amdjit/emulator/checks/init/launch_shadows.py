"""The shadows of one launch: device memory's, and each host thread's LDS, private memory and
registers."""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np
from numpy.typing import NDArray

from amdjit.abi.launch_shape import LaunchShape
from amdjit.emulator.checks.init.layout import KNOWN_ROWS, PADDING, RANGE_ROW, WAVE_BYTES, Shadows
from amdjit.emulator.checks.init.written_memory import table_rows
from amdjit.emulator.launch.loader import EmulatedFunction
from amdjit.emulator.launch.workspace import private_bytes
from amdjit.emulator.memory import DeviceMemory
from amdjit.emulator.tiers.compilation import HostKernel
from amdjit.late_methods import dataclass

# From this size on, fresh pages are used: the allocator would have to clear memory that was in use.
_PAGES_FROM = 1 << 18


@dataclass(frozen=True, slots=True)
class LaunchShadows:
    """The memory that native code works with; it must outlive the launch.

    fields: a row of `Shadows` for each host thread. kept: what they point to.
    """

    fields: NDArray[np.uint64]
    kept: tuple[Any, ...]


def launch_shadows(
    memory: DeviceMemory,
    function: EmulatedFunction,
    compiled: HostKernel,
    geometry: LaunchShape,
    threads: int,
    residents: int,
) -> LaunchShadows:
    """Make the shadows of a launch.

    threads, residents: host threads, and the workgroups that each may have under way.
    """
    rows, kept = table_rows(memory)
    descriptor = function.kernel.descriptor
    lanes = descriptor.wave_size
    waves = -(-geometry.items // lanes)
    # LDS and private memory have a byte of shadow for each dword, in the same order.
    lds_bytes = descriptor.group_segment_bytes + geometry.dynamic_lds
    lds = -(-lds_bytes // 64) * 16
    scratch = private_bytes(function.kernel) * lanes // 4
    sizes = (lds * residents, scratch * waves * residents, WAVE_BYTES * waves * residents)
    fields: NDArray[np.uint64] = np.zeros((threads, Shadows.FIELDS), np.uint64)
    buffers: list[NDArray[Any]] = [rows, *kept]
    for row in fields:
        ranges: NDArray[np.uint64] = np.zeros(len(compiled.site_pcs) * RANGE_ROW, np.uint64)
        shadows = [_zeros(size + PADDING) for size in sizes]
        clean, serials, known = (
            np.zeros(size, np.uint64) for size in (residents, residents, 2 * KNOWN_ROWS)
        )
        buffers += [ranges, clean, serials, known, *shadows]
        values = {
            Shadows.RANGES: ranges.ctypes.data,
            Shadows.TABLE: rows.ctypes.data,
            Shadows.TABLE_COUNT: len(rows),
            Shadows.LDS: shadows[0].ctypes.data,
            Shadows.LDS_BYTES: -(-lds_bytes // 4),
            Shadows.LDS_STRIDE: lds,
            Shadows.ANY: len(kept),
            Shadows.CLEAN: clean.ctypes.data,
            Shadows.SERIALS: serials.ctypes.data,
            Shadows.KNOWN: known.ctypes.data,
            Shadows.SCRATCH: shadows[1].ctypes.data,
            Shadows.SCRATCH_BYTES: scratch,
            Shadows.REGISTERS: shadows[2].ctypes.data,
            Shadows.WAVES: waves,
        }
        for place, value in values.items():
            row[place] = value
    return LaunchShadows(fields, tuple(buffers))


def _zeros(nbytes: int) -> NDArray[np.uint8]:
    """Return zeros. Many of them are pages that exist only once they are touched: few of many
    workgroups may run."""
    if nbytes < _PAGES_FROM:
        return np.zeros(nbytes, np.uint8)
    return np.frombuffer(mmap.mmap(-1, nbytes), np.uint8)
