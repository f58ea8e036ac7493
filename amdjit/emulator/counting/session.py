"""One counted launch: the memory of its counters, and what they hold at its end."""

from __future__ import annotations

from collections.abc import Sequence
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from amdjit.abi.launch_shape import LaunchShape
from amdjit.checking.profiling import ProfileBlock
from amdjit.diagnostics.errors import KernelFault
from amdjit.emulator.counting.counted_launch import CountedLaunch
from amdjit.emulator.counting.instrument import CountingInstrument
from amdjit.emulator.counting.layout import Header
from amdjit.emulator.counting.lds_native import lds_sources
from amdjit.emulator.counting.lines_native import Directories, TouchedLines, line_sources
from amdjit.emulator.counting.paths import SpareMemory
from amdjit.emulator.counting.places_native import (
    DISTINCT,
    ENTER,
    MORE,
    PLACES,
    REPEATED,
    distinct_text,
    enter_text,
    more_text,
    places_text,
    repeated_text,
)
from amdjit.emulator.counting.plan import CountingPlan, make_plan
from amdjit.emulator.counting.samples import Sample, SampleSize, write_unrecorded
from amdjit.emulator.host.native_sources import NativeSources
from amdjit.emulator.launch.dispatch import Dispatcher
from amdjit.emulator.launch.loader import EmulatedFunction
from amdjit.emulator.launch.workspace import Plan
from amdjit.emulator.memory import Table
from amdjit.emulator.wave.frame import Instruments
from amdjit.target import find_target

__all__ = ["Counters", "CountingSession"]


# The native functions that counted code calls.

NATIVES = NativeSources(
    {
        ENTER.name: enter_text,
        MORE.name: more_text,
        PLACES.name: places_text,
        DISTINCT.name: distinct_text,
        REPEATED.name: repeated_text,
        **line_sources(),
        **lds_sources(),
    }
)


# Areas of different host threads share no line of the host's caches, nor what it fetches ahead.
_ALIGNMENT = 256


class Counters:
    """The counters of the kernels of one device. Safe to use from several threads."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher
        self._directories = Directories()
        self._memory = SpareMemory()
        self._plans: WeakKeyDictionary[EmulatedFunction, dict[bool, CountingPlan]] = (
            WeakKeyDictionary()
        )

    def launch(
        self,
        function: EmulatedFunction,
        geometry: LaunchShape,
        kernarg: bytes,
        time_limit: float | None,
        blocks: Sequence[ProfileBlock],
    ) -> None:
        """Run a kernel to its end and tell all blocks what it did. Errors as those of
        `Dispatcher.launch`."""
        plan = self._plan(function, geometry)
        session = CountingSession(
            plan, _sample(plan, function, geometry, blocks, self._memory), self._directories
        )
        try:
            self._dispatcher.launch_counted(function, geometry, kernarg, time_limit, session)
            counted = session.counted(function, geometry)
        except KernelFault as fault:
            for block in blocks:
                block.note_stop(function.name, str(fault))
            raise
        finally:
            session.end()
        for block in blocks:
            block.counted(counted)

    def _plan(self, function: EmulatedFunction, geometry: LaunchShape) -> CountingPlan:
        """Return the numbers of the counters, as the translation gives them."""
        wave_size = function.kernel.descriptor.wave_size
        full_waves = geometry.items % wave_size == 0
        plans = self._plans.get(function, {})
        if full_waves not in plans:
            # The translation decides which instructions end a block, having no translation.
            natives, instruments = CountingSession.natives, CountingSession.instruments
            self._dispatcher.translate(function, full_waves, natives, instruments)
            graph = function.module.kernels.graph(function.kernel)
            # A new dictionary each time: other threads may read the old one.
            plans = {**plans, full_waves: make_plan(graph, full_waves, wave_size)}
            self._plans[function] = plans
        return plans[full_waves]


class CountingSession:
    """The counters of one launch: a `dispatch.Counting`."""

    instruments: Instruments = (CountingInstrument,)
    natives: Sequence[NativeSources] = (NATIVES,)

    def __init__(self, plan: CountingPlan, sample: Sample | None, directories: Directories) -> None:
        self._plan, self._sample, self._directories = plan, sample, directories
        self._touched: TouchedLines | None = None
        self._areas: list[NDArray[np.int64]] = []

    def prepare(self, plan: Plan, table: Table) -> Sequence[int]:
        """Return the address where each host thread counts."""
        self._areas = [_aligned(self._plan.size) for _ in range(plan.threads)]
        self._touched = TouchedLines(self._directories, table)
        for area in self._areas:
            area[Header.TOUCHED] = self._touched.address
            write_unrecorded(area)
            if self._sample is not None:
                self._sample.write_header(area)
        return [area.ctypes.data for area in self._areas]

    def counted(self, function: EmulatedFunction, geometry: LaunchShape) -> CountedLaunch:
        """Return what was counted; the launch has ended."""
        whole, kernel = function.module.code_object, function.kernel
        waves = -(-geometry.items // self._plan.wave_size)
        counters = np.stack(self._areas).sum(0)
        assert self._touched is not None
        lines = self._touched.count()
        streams = None if self._sample is None else self._sample.take()
        return CountedLaunch(
            whole,
            kernel,
            geometry=geometry,
            waves=waves,
            plan=self._plan,
            counters=counters,
            distinct_lines=lines,
            streams=streams,
        )

    def end(self) -> None:
        """The launch is over, however it went."""
        if self._touched is not None:
            self._touched.end()
        if self._sample is not None:
            self._sample.end()


def _sample(
    plan: CountingPlan,
    function: EmulatedFunction,
    geometry: LaunchShape,
    blocks: Sequence[ProfileBlock],
    memory: SpareMemory,
) -> Sample | None:
    """Return the memory of the largest sample that a block wants, None if none wants one."""
    kernel = function.kernel
    target = find_target(function.module.code_object.target_name)
    assert target is not None
    sizes = [block.sample_size(kernel, geometry, target) for block in blocks]
    wanted = max((size for size in sizes if size.workgroups), key=_extent, default=None)
    if wanted is None:
        return None
    waves = -(-geometry.items // plan.wave_size)
    return Sample(plan, wanted, geometry.workgroups, waves, memory)


def _extent(size: SampleSize) -> tuple[int, int]:
    return size.workgroups, size.instructions


def _aligned(fields: int) -> NDArray[np.int64]:
    storage: NDArray[np.int64] = np.zeros(fields + 2 * _ALIGNMENT // 8, np.int64)
    start = -storage.ctypes.data % _ALIGNMENT // 8
    return storage[start : start + fields]
