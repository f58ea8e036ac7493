"""Launches: set-up of waves, host threads, time limit, interruption."""

from __future__ import annotations

import ctypes
import itertools
import time
from concurrent.futures import ThreadPoolExecutor, wait

import numpy as np
from numpy.typing import NDArray

from amdjit.code_object import Kernel
from amdjit.diagnostics.errors import LaunchError
from amdjit.emulator.faults import fault_from_record
from amdjit.emulator.interrupts import DeferredInterrupt
from amdjit.emulator.kernarg import Geometry, build_segment, segment_size, user_sgprs
from amdjit.emulator.layout import (
    SCALAR_BYTES,
    SCALAR_SLOTS,
    SITE_ROW,
    VGPR_BYTES,
    Context,
    Fault,
    Launch,
    Stop,
)
from amdjit.emulator.loader import CompiledKernel, EmulatedFunction
from amdjit.emulator.memory import DeviceMemory
from amdjit.target import Target

_VGPRS = 256
_STATE_BYTES = SCALAR_BYTES + _VGPRS * VGPR_BYTES
_DRIVE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
# A work-item's stack where the compiler does not know how deep it gets (recursion, unknown calls).
_DYNAMIC_STACK = 16 * 1024
_POLL_SECONDS = 0.05
_CHUNKS_PER_THREAD = 8


class Dispatcher:
    """Runs kernels on a pool of host threads. Safe to use from several threads."""

    def __init__(self, memory: DeviceMemory, target: Target, threads: int, drive: int) -> None:
        self._memory = memory
        self._target = target
        self._threads = threads
        self._drive = _DRIVE(drive)
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="amdjit-emulator")
        self._dispatches = itertools.count(1)

    def launch(self, function: EmulatedFunction, geometry: Geometry, kernarg: bytes, time_limit: float | None) -> None:
        """Run a kernel to its end. KernelFault for what it does wrong, LaunchError if it cannot start."""
        check_launch(function.kernel, geometry, self._target)
        compiled = function.module.compiled(function.kernel, geometry.items % 32 == 0)
        with DeferredInterrupt() as interrupt:
            address = self._allocate_arguments(function.kernel)
            try:
                run = _Run(self, function, compiled, geometry, kernarg, address)
                self._run(run, time_limit, interrupt)
            finally:
                self._memory.free(address)
        if run.record[Fault.CLAIMED]:
            record = [int(value) for value in run.record]
            raise fault_from_record(record, function, compiled, geometry, self._memory)

    def _allocate_arguments(self, kernel: Kernel) -> int:
        size = segment_size(kernel)
        return self._memory.allocate(size, "kernel arguments", ((0, size, False),))

    def _run(self, run: _Run, time_limit: float | None, interrupt: DeferredInterrupt) -> None:
        futures = [self._pool.submit(self._drive, address) for address in run.context_addresses]
        deadline = None if time_limit is None else time.monotonic() + time_limit
        # Native code uses the memory of `run`: nothing may leave before the last thread has.
        while wait(futures, _pause(deadline)).not_done:
            if interrupt.requested:
                run.stop(Stop.INTERRUPT)
            elif deadline is not None and time.monotonic() >= deadline:
                run.stop(Stop.TIME_LIMIT)
        for future in futures:
            future.result()

    @property
    def memory(self) -> DeviceMemory:
        """The memory that kernels see."""
        return self._memory

    @property
    def threads(self) -> int:
        """How many host threads a launch may use."""
        return self._threads

    def next_dispatch(self) -> int:
        """Return a number for a launch."""
        return next(self._dispatches)


def _pause(deadline: float | None) -> float:
    """Return for how many seconds to wait until the next look at the clock and at Ctrl-C."""
    if deadline is None:
        return _POLL_SECONDS
    return min(_POLL_SECONDS, max(deadline - time.monotonic(), 0.001))


def check_launch(kernel: Kernel, geometry: Geometry, target: Target) -> None:
    """LaunchError if the device could not run such a launch."""
    name = kernel.name
    if kernel.descriptor.wavefront_size != 32:
        raise LaunchError(f"{name}: the emulator runs wave32 code only; compile it for wavefronts of 32 lanes")
    descriptor = kernel.descriptor
    if descriptor.float_round_mode_32 or descriptor.float_round_mode_16_64 or descriptor.float_denorm_mode_16_64 != 3:
        raise LaunchError(
            f"{name}: the emulator rounds to nearest even and keeps half and double denormals; the kernel asks for "
            "another mode"
        )
    if min(geometry.block) < 1 or min(geometry.grid) < 1:
        raise LaunchError(f"{name}: grid {geometry.grid} and block {geometry.block} must be at least 1 everywhere")
    limit = min(kernel.metadata.max_flat_workgroup_size, target.max_workgroup_size)
    if geometry.items > limit:
        raise LaunchError(f"{name}: a block of {geometry.items} work-items is over the limit of {limit}")
    required = kernel.metadata.required_workgroup_size
    if required is not None and required != geometry.block:
        raise LaunchError(f"{name}: the kernel requires blocks of {required}, not {geometry.block}")
    if max(geometry.grid[1:]) > 0xFFFF or geometry.grid[0] > 0x7FFFFFFF:
        raise LaunchError(f"{name}: grid {geometry.grid} is over the limit of (2147483647, 65535, 65535)")
    lds = kernel.descriptor.group_segment_bytes + geometry.dynamic_lds
    if geometry.dynamic_lds < 0 or lds > target.lds_per_workgroup:
        raise LaunchError(f"{name}: {lds} bytes of LDS are over the limit of {target.lds_per_workgroup}")


def _aligned(nbytes: int) -> NDArray[np.uint8]:
    storage: NDArray[np.uint8] = np.zeros(nbytes + 64, np.uint8)
    start = -storage.ctypes.data % 64
    return storage[start : start + nbytes]


class _Run:
    """The memory of one launch that native code works with; it must outlive the native calls."""

    def __init__(
        self,
        dispatcher: Dispatcher,
        function: EmulatedFunction,
        compiled: CompiledKernel,
        geometry: Geometry,
        kernarg: bytes,
        address: int,
    ) -> None:
        kernel = function.kernel
        segment = bytes(build_segment(kernel, geometry, kernarg, address))
        dispatcher.memory.write(address, memoryview(segment))
        self._table = dispatcher.memory.table()
        self._waves = -(-geometry.items // 32)
        threads = max(1, min(dispatcher.threads, geometry.groups))
        self.record: NDArray[np.int64] = np.zeros(Fault.FIELDS, np.int64)
        self._scalars: NDArray[np.uint32] = np.zeros(SCALAR_SLOTS, np.uint32)
        for index, value in user_sgprs(kernel, segment, address, dispatcher.next_dispatch()):
            self._scalars[index] = value
        self._ids, self._execs = _work_items(geometry, kernel.descriptor.workitem_id_components)
        self._launch = self._shared(compiled, geometry, threads)
        self._kept: list[NDArray[np.uint8]] = []
        self.contexts: NDArray[np.uint64] = np.zeros((threads, Context.FIELDS), np.uint64)
        self.context_addresses = [row.ctypes.data for row in self.contexts]
        for context in self.contexts:
            self._fill(context, function, compiled, geometry)

    def stop(self, reason: Stop) -> None:
        """Ask all threads to stop; a fault that was first stays the reason."""
        if self._launch[Launch.STOP] == Stop.RUN:
            self._launch[Launch.STOP] = reason

    def _shared(self, compiled: CompiledKernel, geometry: Geometry, threads: int) -> NDArray[np.uint64]:
        launch: NDArray[np.uint64] = np.zeros(Launch.FIELDS, np.uint64)
        values = {
            Launch.GROUPS: geometry.groups,
            Launch.CHUNK: max(1, geometry.groups // (threads * _CHUNKS_PER_THREAD)),
            Launch.GRID_X: geometry.grid[0],
            Launch.GRID_Y: geometry.grid[1],
            Launch.WAVES: self._waves,
            Launch.WAVE_FUNCTION: compiled.address,
            Launch.STATE_BYTES: _STATE_BYTES,
            Launch.SCALARS: self._scalars.ctypes.data,
            Launch.EXECS: self._execs.ctypes.data,
            Launch.ITEM_IDS: self._ids.ctypes.data,
            Launch.FAULT: self.record.ctypes.data,
        }
        for field, value in values.items():
            launch[field] = value
        return launch

    def _buffer(self, nbytes: int) -> int:
        storage = _aligned(max(nbytes, 64))
        self._kept.append(storage)
        return storage.ctypes.data

    def _fill(
        self, context: NDArray[np.uint64], function: EmulatedFunction, compiled: CompiledKernel, geometry: Geometry
    ) -> None:
        descriptor = function.kernel.descriptor
        lds = descriptor.group_segment_bytes + geometry.dynamic_lds
        private = descriptor.private_segment_bytes
        if function.kernel.metadata.uses_dynamic_stack:
            private = max(private, _DYNAMIC_STACK)
        lane_bytes = -(-private // 16) * 16
        values = {
            Context.LAUNCH: self._launch.ctypes.data,
            Context.TABLE: self._table.rows.ctypes.data,
            Context.TABLE_COUNT: len(self._table.rows),
            Context.SITES: self._buffer(len(compiled.site_pcs) * SITE_ROW * 8),
            Context.LDS: self._buffer(lds),
            Context.LDS_SIZE: lds,
            Context.SCRATCH_LANE_BYTES: lane_bytes,
            Context.SCRATCH_ALL: self._buffer(lane_bytes * 32 * self._waves),
            Context.STATES: self._buffer(_STATE_BYTES * self._waves),
            Context.RESUMES: self._buffer(4 * self._waves),
            Context.LOAD_BIAS: function.module.load_bias,
        }
        for field, value in values.items():
            context[field] = value


def _work_items(geometry: Geometry, components: int) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Return v0 of each wave (x | y << 10 | z << 20, as many as the kernel asks for) and EXEC of each wave."""
    x, y, _ = geometry.block
    waves = -(-geometry.items // 32)
    items = np.arange(waves * 32, dtype=np.uint32)
    packed = items % x
    if components > 1:
        packed |= (items // x % y) << np.uint32(10)
    if components > 2:
        packed |= (items // (x * y)) << np.uint32(20)
    execs = np.full(waves, 0xFFFFFFFF, np.uint32)
    if geometry.items % 32:
        execs[-1] = (1 << geometry.items % 32) - 1
    return packed, execs
