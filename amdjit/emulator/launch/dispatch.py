"""Launches: preparation of waves, host threads, time limit, interruption."""

from __future__ import annotations

import ctypes
import itertools
import time
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from amdjit.abi.launch_shape import LaunchShape
from amdjit.code_object import Kernel
from amdjit.code_object.resources import resident_workgroups
from amdjit.diagnostics.errors import LaunchError
from amdjit.emulator.host.native_library import NativeLibrary
from amdjit.emulator.host.native_sources import NativeSources
from amdjit.emulator.launch.host_services import HostSide
from amdjit.emulator.launch.kernarg import segment_size
from amdjit.emulator.launch.loader import EmulatedFunction
from amdjit.emulator.launch.workspace import Plan, Workspace, make_plan, private_bytes
from amdjit.emulator.layout import Fault, Stop
from amdjit.emulator.memory import DeviceMemory, Table
from amdjit.emulator.scheduling.driver import driver_symbol
from amdjit.emulator.scheduling.workers import Batch, DeferredInterrupt, Workers
from amdjit.emulator.tiers.compilation import HostKernel
from amdjit.late import late
from amdjit.target import Target

if TYPE_CHECKING:
    from amdjit.emulator.launch import faults
    from amdjit.emulator.wave.frame import Instruments

    _PlanKey = tuple[LaunchShape, Instruments]
else:
    faults = late("amdjit.emulator.launch.faults")

_DRIVE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_POLL_SECONDS = 0.05
# The most bytes of a kernarg segment, beyond which a launch is refused; compilers stay below 4 KiB.
_MOST_ARGUMENTS = 1 << 20
# How many geometries of a kernel have their plans and workspaces cached.
_PLANS = 4
# As many host threads as there are.
_ANY = 1 << 16


class Checks(Protocol):
    """What a checked launch needs in addition. Launches know nothing else of checks."""

    @property
    def instruments(self) -> Instruments:
        """What to build into the code."""
        ...

    @property
    def natives(self) -> Sequence[NativeSources]:
        """The native functions that this code calls."""
        ...

    @property
    def most_threads(self) -> int:
        """How many host threads may run the launch."""
        ...

    def prepare(self, function: EmulatedFunction, plan: Plan, residents: int) -> int:
        """Allocate the memory of the checks; return its address (`layout.Sanitizer`).

        residents: how many workgroups a host thread may have under way.
        """
        ...

    def table(self, table: Table) -> Table:
        """Return the table of the allocations that the kernel may access, and how."""
        ...


class Counting(Protocol):
    """What a counted launch needs in addition."""

    @property
    def instruments(self) -> Instruments:
        """What to build into the code."""
        ...

    @property
    def natives(self) -> Sequence[NativeSources]:
        """The native functions that this code calls."""
        ...

    def prepare(self, plan: Plan, table: Table) -> Sequence[int]:
        """Allocate the counters; return their address for each host thread.

        table: the allocations that the kernel may access.
        """
        ...


class Dispatcher:
    """Runs kernels on host threads. Safe to use from several threads.

    host: what the host does for kernels that ask for it.
    """

    def __init__(
        self, memory: DeviceMemory, target: Target, threads: int, library: NativeLibrary
    ) -> None:
        self._memory = memory
        self.host = HostSide(memory)
        self._target = target
        self._threads = threads
        self._library = library
        self._drives: dict[int, Callable[[int], None]] = {}
        self._workers = Workers(threads)
        self._dispatches = itertools.count(1)
        self._plans: weakref.WeakKeyDictionary[EmulatedFunction, dict[_PlanKey, Plan]] = (
            weakref.WeakKeyDictionary()
        )

    def launch(
        self,
        function: EmulatedFunction,
        geometry: LaunchShape,
        kernarg: bytes,
        time_limit: float | None,
    ) -> None:
        """Run a kernel to its end. KernelFault for what it does wrong, LaunchError if it cannot
        start."""
        plan = self._plan(function, geometry)
        drive = self._drives[plan.wave_size]
        workspace = plan.take(self.host)
        self._memory.launched()
        workspace.begin(kernarg, next(self._dispatches), self._memory.table())
        running = plan.compiled.running
        start = time.perf_counter() if running is not None else 0.0
        if plan.short:
            # It ends before anyone could want to interrupt it.
            drive(workspace.contexts[0])
        else:
            tier_switch = TierSwitch(function, plan, workspace) if running is not None else None
            self._run(workspace, drive, time_limit, tier_switch)
        if running is not None:
            running.seconds += time.perf_counter() - start
        self._end(function, plan, workspace)

    @property
    def memory(self) -> DeviceMemory:
        """The memory that kernels see."""
        return self._memory

    def launch_checked(
        self,
        function: EmulatedFunction,
        geometry: LaunchShape,
        kernarg: bytes,
        time_limit: float | None,
        checks: Checks,
    ) -> None:
        """Run a kernel with checks in its code. KernelFault for what stopped it, LaunchError if it
        cannot start."""
        self._library.add(*checks.natives)
        plan = self._plan(function, geometry, checks.instruments, checks.most_threads)
        workspace = plan.take(self.host)
        address = checks.prepare(function, plan, workspace.residents)
        workspace.begin(
            kernarg, next(self._dispatches), checks.table(self._memory.table()), address
        )
        if plan.short:
            self._drives[plan.wave_size](workspace.contexts[0])
        else:
            self._run(workspace, self._drives[plan.wave_size], time_limit)
        self._end(function, plan, workspace)

    def launch_counted(
        self,
        function: EmulatedFunction,
        geometry: LaunchShape,
        kernarg: bytes,
        time_limit: float | None,
        counting: Counting,
    ) -> None:
        """Run a kernel that counts what it does. KernelFault and LaunchError as `launch`."""
        self._library.add(*counting.natives)
        # On several host threads, how often waiting waves spin would depend on timing, and so would
        # the counts.
        most_threads = 1 if geometry.cooperative else _ANY
        plan = self._plan(function, geometry, counting.instruments, most_threads)
        workspace = plan.take(self.host)
        self._memory.launched()
        table = self._memory.table()
        counters = counting.prepare(plan, table)
        workspace.begin(kernarg, next(self._dispatches), table, counters=counters)
        if plan.short:
            self._drives[plan.wave_size](workspace.contexts[0])
        else:
            self._run(workspace, self._drives[plan.wave_size], time_limit)
        self._end(function, plan, workspace)

    def translate(
        self,
        function: EmulatedFunction,
        full_waves: bool,
        natives: Sequence[NativeSources],
        instruments: Instruments,
    ) -> HostKernel:
        """Return full code with `instruments`, which call `natives`. full_waves: all lanes of all
        waves start active."""
        self._library.add(*natives)
        return function.module.kernels.full(function.kernel, full_waves, instruments)

    def _end(self, function: EmulatedFunction, plan: Plan, workspace: Workspace) -> None:
        """Return the workspace to the plan, or raise the fault that stopped this launch."""
        workspace.end()
        calls = workspace.calls
        if calls is not None:
            calls.finish()
        if workspace.record[Fault.CLAIMED]:
            record = [int(value) for value in workspace.record]
            group = workspace.stopped_group()
            grid = workspace.grid() if plan.geometry.cooperative else ()
            raise faults.fault_from_record(
                record,
                function,
                compiled=plan.compiled,
                geometry=plan.geometry,
                memory=self._memory,
                group=group,
                grid=grid,
                calls=calls,
            )
        plan.give_back(workspace)

    def _plan(
        self,
        function: EmulatedFunction,
        geometry: LaunchShape,
        instruments: Instruments = (),
        most_threads: int = _ANY,
    ) -> Plan:
        plans = self._plans.get(function)
        plan = None if plans is None else plans.get((geometry, instruments))
        if plan is not None and not plan.compiled.is_outgrown:
            return plan
        check_launch(function.kernel, geometry, self._target, self._memory.room)
        wave_size = function.kernel.descriptor.wave_size
        if wave_size not in self._drives:
            self._drives[wave_size] = _DRIVE(self._library.address(driver_symbol(wave_size)))
        compiled = self._compiled(function, geometry, instruments)
        plan = make_plan(function, compiled, geometry, min(self._threads, most_threads))
        # A new dictionary each time, because other threads may be reading the old one.
        newest = list((plans or {}).items())[1 - _PLANS :]
        self._plans[function] = dict([*newest, ((geometry, instruments), plan)])
        return plan

    def _compiled(
        self, function: EmulatedFunction, geometry: LaunchShape, instruments: Instruments
    ) -> HostKernel:
        kernel, kernels = function.kernel, function.module.kernels
        wave_size = kernel.descriptor.wave_size
        full_waves = geometry.items % wave_size == 0
        if instruments:
            return kernels.full(kernel, full_waves, instruments)
        waves = -(-geometry.items // wave_size) * geometry.workgroups
        return kernels.for_launch(kernel, full_waves, waves)

    def _run(
        self,
        workspace: Workspace,
        drive: Callable[[int], None],
        time_limit: float | None,
        tier_switch: TierSwitch | None = None,
    ) -> None:
        deadline = None if time_limit is None else time.monotonic() + time_limit
        with DeferredInterrupt() as interrupt:

            def look() -> None:
                if tier_switch is not None:
                    tier_switch.look()
                if interrupt.requested:
                    workspace.stop(Stop.INTERRUPT)
                elif deadline is not None and time.monotonic() >= deadline:
                    workspace.stop(Stop.TIME_LIMIT)

            first, *others = workspace.contexts
            batch = self._workers.start(drive, others)
            try:
                workspace.callback.run(drive, first, look)
                while others and not batch.wait(_pause(deadline)):
                    look()
            except BaseException:  # a signal handler has raised
                _abandon(workspace, batch)
                raise


def _abandon(workspace: Workspace, batch: Batch) -> None:
    """Stop a launch, and wait until the last thread has left native code, which uses the
    workspace."""
    workspace.stop(Stop.INTERRUPT)
    while True:
        try:
            if batch.wait(_POLL_SECONDS):
                return
        except BaseException:  # Only the first exception is raised.
            continue


def _pause(deadline: float | None) -> float:
    """Return how many seconds to wait before looking at the clock and for Ctrl-C again."""
    if deadline is None:
        return _POLL_SECONDS
    return min(_POLL_SECONDS, max(deadline - time.monotonic(), 0.001))


def check_launch(kernel: Kernel, geometry: LaunchShape, target: Target, room: int | None) -> None:
    """Raise LaunchError if the device cannot run such a launch. room: free bytes of memory."""
    name = kernel.name
    if min(geometry.block) < 1 or min(geometry.grid) < 1:
        raise LaunchError(
            f"{name}: grid {geometry.grid} and block {geometry.block} must be at least 1 everywhere"
        )
    limit = min(kernel.metadata.max_flat_workgroup_size, target.max_workgroup_size)
    if geometry.items > limit:
        raise LaunchError(
            f"{name}: a block of {geometry.items} work-items is over the limit of {limit}"
        )
    required = kernel.metadata.required_workgroup_size
    if required is not None and required != geometry.block:
        raise LaunchError(f"{name}: the kernel requires blocks of {required}, not {geometry.block}")
    if max(geometry.grid[1:]) > 0xFFFF or geometry.grid[0] > 0x7FFFFFFF:
        raise LaunchError(
            f"{name}: grid {geometry.grid} is over the limit of (2147483647, 65535, 65535)"
        )
    lds = kernel.descriptor.group_segment_bytes + geometry.dynamic_lds
    if geometry.dynamic_lds < 0 or lds > target.lds_per_workgroup:
        raise LaunchError(
            f"{name}: {lds} bytes of LDS are over the limit of {target.lds_per_workgroup}"
        )
    if geometry.cooperative:
        _check_residence(kernel, geometry, target)
    scratch = private_bytes(kernel) * geometry.items
    if room is not None and scratch > room:
        raise LaunchError(
            f"{name}: a workgroup needs {scratch} bytes of scratch memory, of which {room} are left"
        )
    if segment_size(kernel) > _MOST_ARGUMENTS:
        raise LaunchError(
            f"{name}: {segment_size(kernel)} bytes of arguments are over the limit of "
            f"{_MOST_ARGUMENTS}"
        )


def _check_residence(kernel: Kernel, geometry: LaunchShape, target: Target) -> None:
    """Raise LaunchError if not all workgroups of a cooperative launch can be resident at once."""
    resident = resident_workgroups(kernel, target, geometry.items, geometry.dynamic_lds)
    limit = resident * target.multiprocessors
    if geometry.workgroups > limit:
        raise LaunchError(
            f"{kernel.name}: a cooperative launch of {geometry.workgroups} workgroups is over the "
            f"limit of {limit}, {resident} on each of {target.multiprocessors} workgroup processors"
        )


# A long launch of the quick tier: the full tier's code is compiled while it runs, and its waves
# switch to it.


class TierSwitch:
    """Switches one launch from the quick tier to the full one, if it takes long enough.

    Only the thread that waits for the end of the launch calls its methods.
    """

    def __init__(self, function: EmulatedFunction, plan: Plan, workspace: Workspace) -> None:
        self._function = function
        self._plan = plan
        self._workspace = workspace
        self._start = time.perf_counter()
        self._done = False

    def look(self) -> None:
        """Start the compilation once the launch has taken long enough to be worth it, and give
        the code to the waves once it is there."""
        if self._done or not self._is_long():
            return
        geometry, function = self._plan.geometry, self._function
        full_waves = geometry.items % self._plan.wave_size == 0
        made = function.module.kernels.enterable(function.kernel, full_waves)
        if made is not None:
            self._workspace.change(made)
            self._done = True

    def _is_long(self) -> bool:
        running = self._plan.compiled.running
        return running is not None and time.perf_counter() - self._start > running.left
