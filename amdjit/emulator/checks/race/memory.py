"""What the race check keeps: the shadows of a device's memory, and the tables of a launch's
waves."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from amdjit.abi.launch_shape import LaunchShape
from amdjit.diagnostics.errors import LaunchError
from amdjit.emulator.checks.race.barriers import clock_entries
from amdjit.emulator.checks.race.in_flight_accesses import RECORD_BYTES, RING
from amdjit.emulator.checks.race.layout import (
    RING_ENTRIES,
    SHADOW_ROW,
    Group,
    Plane,
    Race,
    Summary,
    Wave,
)
from amdjit.emulator.launch.loader import EmulatedFunction
from amdjit.emulator.layout import FIELD_BYTES
from amdjit.emulator.memory import DeviceMemory, MemoryObserver, Table
from amdjit.emulator.tiers.compilation import HostKernel
from amdjit.forking import Lock

# Intervals are 32-bit numbers: from this one on, a launch may run out of them.
_LATEST = 1 << 31
_MOST_TABLE = 1 << 22
# Bytes of device memory that can be shadowed. Shadows reserve ten times as many, of which only
# those are used that belong to memory that kernels access.
_MOST_SHADOWED = 4 << 30
_SLACK = 16
_ALIGNMENT = 64  # of the vectors in a record
_TABLES = (
    Race.FENCES,
    Race.ATOMICS,
    Race.HORIZONS,
    Race.RELEASES,
    Race.PASSED,
    Race.RELEASED_HORIZONS,
)
_MOST_IDLE = 512 << 20


class RaceMemory(MemoryObserver):
    """The shadows of a device's allocations. Launches that check for races hold `lock`.

    A shadow need not be cleared for another allocation: its tags are of earlier launches, and so
    stale.
    """

    def __init__(self) -> None:
        self.lock = Lock()
        self._time = 1
        self._ring: NDArray[np.uint64] = np.zeros(RING_ENTRIES, np.uint64)
        self._shadows: dict[tuple[int, int], NDArray[np.uint64]] = {}
        self._idle: list[NDArray[np.uint64]] = []

    def begin(self, table: Table) -> NDArray[np.uint64]:
        """Return the rows (start, end, shadow, bytes of a plane) of all allocations at the start of
        a launch.

        What no kernel may write (arguments, code) has no shadow: nothing races with its loads.
        """
        if self._time > _LATEST:
            self._time, self._shadows, self._idle = 1, {}, []
        ranges = [(int(row[0]), int(row[1])) for row in table.rows if row[2]]
        if sum(end - start for start, end in ranges) > _MOST_SHADOWED:
            raise LaunchError(
                "the race check records what touched each dword of at most 4 GiB of device memory: "
                "use smaller arrays"
            )
        known = set(ranges)
        for key in [key for key in self._shadows if key not in known]:
            self._retire(self._shadows.pop(key))
        rows = [(*key, _planes_of(self._shadow(key)), _plane_bytes(*key)) for key in ranges]
        rows += [(int(row[0]), int(row[1]), 0, 0) for row in table.rows if not row[2]]
        return np.array(rows, np.uint64).reshape(-1, SHADOW_ROW)

    def _shadow(self, key: tuple[int, int]) -> NDArray[np.uint64]:
        if key not in self._shadows:
            wanted = _shadow_fields(*key)
            fitting = [
                n for n, shadow in enumerate(self._idle) if wanted <= len(shadow) <= 2 * wanted
            ]
            self._shadows[key] = (
                self._idle.pop(fitting[0]) if fitting else np.zeros(wanted, np.uint64)
            )
        return self._shadows[key]

    def _retire(self, shadow: NDArray[np.uint64]) -> None:
        self._idle.append(shadow)
        while sum(entry.nbytes for entry in self._idle) > _MOST_IDLE:
            self._idle.pop(0)

    @property
    def shadows(self) -> tuple[NDArray[np.uint64], ...]:
        """The shadows of the allocations that there were at the last launch."""
        return tuple(self._shadows.values())

    @property
    def time(self) -> int:
        """The number of the last interval."""
        return self._time

    @property
    def ring(self) -> NDArray[np.uint64]:
        """The wave of each interval."""
        return self._ring

    def end(self, time: int) -> None:
        """Note that a launch is over, and its last interval."""
        self._time = time


class RaceLaunch:
    """The memory with which native code checks one launch (`time.py`)."""

    def __init__(
        self,
        memory: RaceMemory,
        table: Table,
        function: EmulatedFunction,
        compiled: HostKernel,
        geometry: LaunchShape,
        residents: int,
    ) -> None:
        """Prepare a launch. residents: how many workgroups are resident at a time."""
        descriptor = function.kernel.descriptor
        waves = -(-geometry.items // descriptor.wave_size)
        lds = descriptor.group_segment_bytes + geometry.dynamic_lds
        self._memory = memory
        self._shadows = memory.begin(table)
        self._held = memory.shadows
        self._sites = _zeros(len(compiled.site_pcs) * SHADOW_ROW)
        self._make_groups(residents, waves, lds)
        entries = min(1 << (waves * geometry.workgroups - 1).bit_length(), _MOST_TABLE)
        self._tables = [_zeros(entries) for _ in _TABLES]
        self._fields = _zeros(Race.FIELDS)
        values = {
            Race.TIME: memory.time,
            Race.FIRST: memory.time + 1,
            Race.GROUPS: self._groups.ctypes.data,
            Race.RING: memory.ring.ctypes.data,
            Race.WAVE_COUNT: waves,
            Race.TABLE_MASK: entries - 1,
            Race.SHADOWS: self._shadows.ctypes.data,
            Race.SHADOW_COUNT: len(self._shadows),
            Race.SITES: self._sites.ctypes.data,
            Race.LDS_PLANE: _plane_bytes(0, lds),
            Race.WGP: int(descriptor.wgp_mode),
            Race.GRID_X: geometry.grid[0],
            Race.GRID_Y: geometry.grid[1],
        }
        values.update(zip(_TABLES, _addresses(self._tables), strict=True))
        for field, value in values.items():
            self._fields[field] = value

    def _make_groups(self, residents: int, waves: int, lds: int) -> None:
        """Make the rows of workgroups, in one piece of each kind: most are never touched, and then
        take no memory."""
        self._waves: NDArray[np.uint64] = np.zeros((residents, waves * Wave.FIELDS), np.uint64)
        self._clocks: NDArray[np.uint64] = np.zeros((residents, clock_entries(waves)), np.uint64)
        self._lds: NDArray[np.uint64] = np.zeros((residents, _shadow_fields(0, lds)), np.uint64)
        self._groups: NDArray[np.uint64] = np.zeros((residents, Group.FIELDS), np.uint64)
        self._groups[:, Group.NUMBER] = (1 << 64) - 1
        slots: NDArray[np.uint64] = np.arange(residents, dtype=np.uint64)
        self._groups[:, Group.WAVES] = self._waves.ctypes.data + slots * np.uint64(
            self._waves.strides[0]
        )
        self._groups[:, Group.CLOCKS] = self._clocks.ctypes.data + slots * np.uint64(
            self._clocks.strides[0]
        )
        kept = waves * RING * RECORD_BYTES
        self._kept: NDArray[np.uint8] = np.zeros(residents * kept + _ALIGNMENT, np.uint8)
        start = -(-int(self._kept.ctypes.data) // _ALIGNMENT) * _ALIGNMENT
        self._groups[:, Group.IN_FLIGHT] = start + slots * np.uint64(kept)
        self._groups[:, Group.LDS_SHADOW] = _planes_of(self._lds) + slots * np.uint64(
            self._lds.strides[0]
        )

    def was_atomic(self, address: int) -> bool:
        """Whether the launch has surely used a dword of global memory atomically."""
        for start, end, shadow, plane in self._shadows.tolist():
            if shadow and start <= address < end:
                place = shadow + plane * Plane.CLOCK + (address - start) // 4 * FIELD_BYTES
                clock = ctypes.c_uint64.from_address(place).value
                return clock >> 32 >= int(self._fields[Race.FIRST])
        return False

    @property
    def address(self) -> int:
        """The address of the launch's `layout.Race`."""
        return int(self._fields.ctypes.data)

    def end(self) -> None:
        """The launch is over: let the next one begin."""
        self._memory.end(int(self._fields[Race.TIME]))
        self._memory.lock.release()


def begin_race_launch(
    memory: DeviceMemory,
    function: EmulatedFunction,
    compiled: HostKernel,
    geometry: LaunchShape,
    residents: int,
) -> RaceLaunch:
    """Wait for other launches that check for races, and prepare one; its `end` lets the next one
    begin."""
    race = memory.observer(RaceMemory)
    race.lock.acquire()
    try:
        return RaceLaunch(
            race,
            memory.table(),
            function=function,
            compiled=compiled,
            geometry=geometry,
            residents=residents,
        )
    except BaseException:
        race.lock.release()
        raise


def _plane_bytes(start: int, end: int) -> int:
    """Return the bytes of one tag for each dword, and some more for accesses that cross the end."""
    return (-(-(end - start) // 4) + _SLACK) * FIELD_BYTES


def _shadow_fields(start: int, end: int) -> int:
    return Summary.FIELDS + _plane_bytes(start, end) // FIELD_BYTES * Plane.COUNT


def _planes_of(shadow: NDArray[np.uint64]) -> int:
    """Return the address of the planes, which follow the summary."""
    return int(shadow.ctypes.data) + Summary.FIELDS * FIELD_BYTES


def _zeros(count: int) -> NDArray[np.uint64]:
    return np.zeros(max(count, 1), np.uint64)


def _addresses(arrays: Iterable[NDArray[np.uint64]]) -> list[int]:
    return [int(array.ctypes.data) for array in arrays]
