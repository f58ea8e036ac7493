"""What launches of a kernel with one geometry share, and the memory that they reuse.

Once this exists, a launch only writes its arguments, resets a few fields and runs.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from amdjit.abi.launch_shape import LaunchShape
from amdjit.code_object import Kernel
from amdjit.emulator.launch.host_services import HostCalls, HostSide, prints_to_buffer
from amdjit.emulator.launch.kernarg import (
    GRID_BARRIER_BYTES,
    NOTHING_HIDDEN,
    Hidden,
    build_segment,
    explicit_size,
    first_scalars,
    grid_barrier_state,
    place_slots,
    segment_size,
    user_sgprs,
)
from amdjit.emulator.launch.loader import EmulatedFunction
from amdjit.emulator.layout import (
    BARRIER_ROW,
    END_SITE_SLOT,
    JOINED_SLOT,
    SCALAR_SLOTS,
    SIGNALLED_SLOT,
    SITE_ROW,
    SLOT_ROW,
    VGPR_BYTES,
    WAVE_NAMED,
    Context,
    Fault,
    Launch,
    SlotField,
    Stop,
    state_bytes,
)
from amdjit.emulator.memory import Table
from amdjit.emulator.scheduling.release import WAITING
from amdjit.emulator.scheduling.standstill import PATIENCE
from amdjit.emulator.scheduling.workers import PeriodicCallback
from amdjit.emulator.tiers.compilation import HostKernel
from amdjit.isa.instruction_set import Accumulation, InstructionSet
from amdjit.isa.register_numbers import HALF_LANES
from amdjit.late import late
from amdjit.late_methods import dataclass, field

if TYPE_CHECKING:
    from amdjit.emulator.launch import faults
else:
    faults = late("amdjit.emulator.launch.faults")

# A work-item's stack if the compiler does not know its depth (recursion, unknown calls).
_DYNAMIC_STACK = 16 * 1024
_CHUNKS_PER_THREAD = 8
# Workgroups that wait for each other must be resident together: if their memory allows, as many
# waves as on the largest processor of the family, 64 compute units of 2 SIMDs of 16 waves (RDNA 4
# ISA, 2.1; Radeon RX 9070 XT).
_RESIDENT_WAVES = 2048
_RESIDENT_BYTES = 256 << 20
# Larger workspaces, and more than two launches at a time need, are freed after their launch.
_KEPT_BYTES = 128 << 20
_KEPT = 2
# What GROUP_X of a slot is before a workgroup of a cooperative launch begins there.
_NEVER_USED = np.iinfo(np.int64).min


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """A translated kernel with a geometry."""

    kernel: Kernel
    compiled: HostKernel
    geometry: LaunchShape
    """The grid and the block."""
    load_bias: int
    """What is added to addresses of the code object to get those in memory."""
    threads: int
    """How many host threads run it: one if the kernel prints, so that the order of texts is
    reproducible."""
    short: bool
    """Whether the launch is so short that handing it to another thread would take longer."""
    execs: NDArray[np.uint32]
    """What EXEC begins with: a dword for each 32 lanes of a workgroup."""
    item_ids: NDArray[np.uint32]
    """What the registers with the ids of work-items begin with (`work_items`)."""
    instruction_set: InstructionSet
    printf_formats: tuple[str, ...]
    """The formats of HIP's printf, by number, from the metadata."""
    idle: list[Workspace] = field(default_factory=list)
    """The workspaces that no launch uses now."""

    @property
    def waves(self) -> int:
        """Waves of a workgroup."""
        return -(-self.geometry.items // self.wave_size)

    @property
    def wave_size(self) -> int:
        """Lanes of a wave."""
        return self.kernel.descriptor.wave_size

    @property
    def state_bytes(self) -> int:
        """Bytes of a wave's registers."""
        accumulates = self.instruction_set.accumulation is not Accumulation.NONE
        return state_bytes(self.wave_size, accumulates)

    def take(self, side: HostSide) -> Workspace:
        """Return a workspace for one launch."""
        try:
            return self.idle.pop()
        except IndexError:
            return Workspace(self, side)

    def give_back(self, workspace: Workspace) -> None:
        """Return a workspace for the next launch."""
        if len(self.idle) < _KEPT and workspace.nbytes <= _KEPT_BYTES:
            self.idle.append(workspace)


def make_plan(
    function: EmulatedFunction, compiled: HostKernel, geometry: LaunchShape, threads: int
) -> Plan:
    """Plan launches. threads: the most host threads that they may use."""
    descriptor = function.kernel.descriptor
    waves = -(-geometry.items // descriptor.wave_size)
    ids, execs = work_items(
        geometry,
        descriptor.workitem_id_components,
        waves * descriptor.wave_size,
        function.module.instruction_set.packs_item_ids,
    )
    short = compiled.is_short(len(execs) * geometry.workgroups)
    alone = short or compiled.calls_host or prints_to_buffer(function.kernel)
    used = 1 if alone else min(threads, geometry.workgroups)
    module = function.module
    return Plan(
        function.kernel,
        compiled,
        geometry=geometry,
        load_bias=module.load_bias,
        threads=used,
        short=short,
        execs=execs,
        item_ids=ids,
        instruction_set=module.instruction_set,
        printf_formats=module.code_object.printf_formats,
    )


class Workspace:
    """The memory that native code works with in one launch at a time; it must outlive the native
    calls.

    contexts: the address of each host thread's context. callback: what the first thread calls
    back. nbytes: about how much memory it takes. residents: how many workgroups a host thread may
    have under way. calls: what the host does for the kernel, None if that asks for nothing.
    """

    def __init__(self, plan: Plan, side: HostSide) -> None:
        memory = side.memory
        # No reference to the plan: it refers to this workspace, and only the garbage collector
        # would free the cycle.
        self._kernel, self._geometry = plan.kernel, plan.geometry
        self._kept: list[NDArray[Any]] = [plan.execs, plan.item_ids]
        self.nbytes = 0
        self.residents = 1
        size = segment_size(plan.kernel)
        writable = size - GRID_BARRIER_BYTES
        pieces = ((0, writable, False), (writable, size, True))
        self._address = memory.allocate(size, "kernel arguments", pieces)
        weakref.finalize(self, memory.free, self._address).atexit = False
        self._segment = memory.view(self._address, size)
        self._explicit_size = explicit_size(plan.kernel)
        self._is_written = False
        self._sgprs_vary = plan.kernel.descriptor.kernarg_preload_dwords > 0 or any(
            sgpr.name == "dispatch_id" for sgpr in plan.kernel.descriptor.user_sgprs
        )
        self.record: NDArray[np.int64] = np.zeros(Fault.FIELDS, np.int64)
        self._scalars = first_scalars(plan.instruction_set)
        self._compiled = plan.compiled
        self._changed: HostKernel | None = None
        self._launch = self._shared(plan)
        self._start_with(plan.compiled)
        self._sites: list[NDArray[np.uint8]] = []
        self._table: Table | None = None
        self._rows: NDArray[np.uint64] | None = None
        self._waves, self._state_bytes = plan.waves, plan.state_bytes
        self._groups: list[tuple[NDArray[np.uint8], ...]] = []
        self._contexts: NDArray[np.uint64] = np.zeros((plan.threads, Context.FIELDS), np.uint64)
        for thread, context in enumerate(self._contexts):
            context[Context.THREAD] = thread
            self._fill(context, plan)
        self.callback = PeriodicCallback()
        self._contexts[0, Context.CALLBACK] = self.callback.address
        self.contexts = [row.ctypes.data for row in self._contexts]
        calls_host, formats = plan.compiled.calls_host, plan.printf_formats
        self.calls = HostCalls.of(plan.kernel, formats, side, self._contexts[0], calls_host)
        if self.calls is not None:
            self._launch[Launch.HOST] = self.calls.callback.address

    def begin(
        self,
        explicit: bytes,
        dispatch: int,
        table: Table,
        checks: int = 0,
        counters: Sequence[int] = (),
    ) -> None:
        """Set up a launch with these arguments. LaunchError if they do not fit the kernel.

        checks: the address of the checks' `layout.Sanitizer`, 0 without checks. counters: where
        each host thread counts, if the code does.
        """
        self._write_arguments(explicit, dispatch)
        if self.calls is not None:
            self.calls.begin()
        if table.rows is not self._rows:
            self._rows = table.rows
            self._contexts[:, Context.TABLE] = table.rows.ctypes.data
            self._contexts[:, Context.TABLE_COUNT] = len(table.rows)
            for sites in self._sites:
                sites[:] = 0  # they name allocations
        self._table = table
        self._launch[Launch.SANITIZER] = checks
        if counters:
            self._contexts[:, Context.COUNTERS] = counters
        self._launch[Launch.STOP] = Stop.RUN
        self._launch[Launch.NEXT_GROUP] = 0
        self._launch[Launch.LIVE_THREADS : Launch.CONFIRMATIONS + 1] = 0
        if self._changed is not None:
            self._start_with(self._compiled)
            self._changed = None
        self.record[Fault.CLAIMED] = 0
        if self._geometry.cooperative:
            for _, _, slots in self._groups:
                slots.view(np.int64).reshape(-1, SLOT_ROW)[:, SlotField.GROUP_X] = _NEVER_USED

    def end(self) -> None:
        """Release memory that was freed while the launch ran."""
        self._table = None

    def change(self, compiled: HostKernel) -> None:
        """Make the waves of a launch in the quick tier continue in full code, each when it next
        pauses or repeats a loop.

        Sites and resume ids are the same in both.
        """
        if (
            compiled.site_pcs != self._compiled.site_pcs
            or compiled.resume_pcs != self._compiled.resume_pcs
        ):
            raise AssertionError("the tiers number sites or pauses differently")
        self._changed = compiled  # Native code must not be unmapped while it may run.
        self._launch[Launch.WAVE_FUNCTION] = compiled.address
        self._launch[Launch.CHANGED] = 1

    def _start_with(self, compiled: HostKernel) -> None:
        self._launch[Launch.WAVE_FUNCTION] = compiled.address
        self._launch[Launch.PROGRAM] = (
            compiled.program.ctypes.data if compiled.program is not None else 0
        )
        self._launch[Launch.CHANGED] = 0

    def stop(self, reason: Stop) -> None:
        """Ask all threads to stop. If there is a fault already, it remains the reason."""
        if self._launch[Launch.STOP] == Stop.RUN:
            self._launch[Launch.STOP] = reason

    def stopped_group(self) -> faults.StoppedGroup:
        """Return where the waves of the workgroup that stopped the launch are."""
        slot = int(self.record[Fault.SLOT])
        states, resumes, slots = self._groups[int(self.record[Fault.THREAD])]
        first, end = slot * self._waves, (slot + 1) * self._waves
        scalars = states[first * self._state_bytes : end * self._state_bytes].reshape(
            self._waves, -1
        )
        rows = slots.view(np.int64)[slot * SLOT_ROW : (slot + 1) * SLOT_ROW][SlotField.BARRIERS :]
        barriers = [tuple(map(int, row)) for row in rows.reshape(-1, BARRIER_ROW)]
        completed = barriers[0][-1]
        kept = [row[: SCALAR_SLOTS * 4].view(np.int32) for row in scalars]
        ids = resumes.view(np.int32)[first:end]
        waves = [
            _stopped_wave(int(resume), completed, row)
            for resume, row in zip(ids, kept, strict=True)
        ]
        return faults.StoppedGroup(tuple(waves), tuple((row[0], row[1]) for row in barriers))

    def grid(self) -> list[faults.GroupOfGrid]:
        """Return where the workgroups of a cooperative launch are."""
        found = []
        for states, resumes, slots in self._groups:
            rows = slots.view(np.int64).reshape(-1, SLOT_ROW)
            ids = resumes.view(np.int32)[: len(rows) * self._waves].reshape(len(rows), -1)
            scalars = states[: ids.size * self._state_bytes].reshape(len(rows), self._waves, -1)
            ends = scalars[:, 0, 4 * END_SITE_SLOT : 4 * END_SITE_SLOT + 4].view(np.int32)[:, 0]
            found += [
                _group_of_grid(row, resume, int(end))
                for row, resume, end in zip(rows, ids, ends, strict=True)
                if row[SlotField.GROUP_X] != _NEVER_USED
            ]
        return found

    @property
    def context(self) -> NDArray[np.uint64]:
        """The context of the first host thread."""
        context: NDArray[np.uint64] = self._contexts[0]
        return context

    @property
    def resident(self) -> tuple[NDArray[np.uint8], NDArray[np.int32], NDArray[np.int64]]:
        """The workgroups on the first host thread: a row with the state of each wave, where each
        wave goes on, and a row of each slot."""
        states, resumes, slots = self._groups[0]
        waves = self.residents * self._waves
        return (
            states[: waves * self._state_bytes].reshape(waves, -1),
            resumes.view(np.int32)[:waves],
            slots.view(np.int64).reshape(-1, SLOT_ROW)[: self.residents],
        )

    @property
    def changing(self) -> list[NDArray[np.uint8]]:
        """All memory besides the device's that a launch on one host thread changes."""
        others = (self._contexts, self._launch, self.record)
        return [*self._kept[2:], *(each.reshape(-1).view(np.uint8) for each in others)]

    def _write_arguments(self, explicit: bytes, dispatch: int) -> None:
        first = not self._is_written
        if first or len(explicit) != self._explicit_size:
            self._segment[:] = build_segment(
                self._kernel, self._geometry, explicit, self._address, self._hidden()
            )
            self._is_written = True
        else:
            self._segment[: self._explicit_size] = explicit
            if self._geometry.cooperative:
                self._segment[-GRID_BARRIER_BYTES:] = grid_barrier_state(self._geometry)
        if first or self._sgprs_vary:
            for index, value in user_sgprs(self._kernel, self._segment, self._address, dispatch):
                self._scalars[index] = value

    def _hidden(self) -> Hidden:
        return NOTHING_HIDDEN if self.calls is None else self.calls.hidden

    def _shared(self, plan: Plan) -> NDArray[np.uint64]:
        groups, together = plan.geometry.workgroups, _runs_together(plan)
        values = {
            Launch.GROUPS: groups,
            # A thread must not take more workgroups of a cooperative launch than it can begin,
            # because the others wait for them.
            Launch.CHUNK: 1 if together else max(1, groups // (plan.threads * _CHUNKS_PER_THREAD)),
            Launch.COOPERATIVE: together,
            Launch.SWEEPS: PATIENCE.sweeps,
            Launch.LOOKS: PATIENCE.looks,
            Launch.GRID_X: plan.geometry.grid[0],
            Launch.GRID_Y: plan.geometry.grid[1],
            Launch.WAVES: plan.waves,
            Launch.STATE_BYTES: plan.state_bytes,
            Launch.SCALARS: self._scalars.ctypes.data,
            Launch.EXECS: plan.execs.ctypes.data,
            Launch.ITEM_IDS: plan.item_ids.ctypes.data,
            Launch.FAULT: self.record.ctypes.data,
            Launch.ITEM_BYTES: VGPR_BYTES * plan.item_ids.shape[1],
            **place_slots(plan.kernel, plan.instruction_set),
        }
        launch: NDArray[np.uint64] = np.zeros(Launch.FIELDS, np.uint64)
        launch[list(values)] = list(values.values())
        return launch

    def _buffer(self, nbytes: int) -> NDArray[np.uint8]:
        self._kept.append(storage := _aligned(max(nbytes, 64)))
        self.nbytes += storage.nbytes
        return storage

    def _fill(self, context: NDArray[np.uint64], plan: Plan) -> None:
        compiled, waves = plan.compiled, plan.waves
        lds = plan.kernel.descriptor.group_segment_bytes + plan.geometry.dynamic_lds
        lds_stride = -(-lds // 64) * 64
        lane_bytes = private_bytes(plan.kernel)
        group_bytes = waves * (plan.state_bytes + lane_bytes * plan.wave_size) + lds_stride
        residents = self.residents = _residents(plan, group_bytes)
        sites = self._buffer(len(compiled.site_pcs) * SITE_ROW * 8)
        self._sites.append(sites)
        states = self._buffer(residents * plan.state_bytes * waves)
        resumes, slots = self._buffer(residents * 4 * waves), self._buffer(residents * SLOT_ROW * 8)
        self._groups.append((states, resumes, slots))
        scratch = self._buffer(residents * lane_bytes * plan.wave_size * waves)
        values = {
            Context.LAUNCH: self._launch.ctypes.data,
            Context.SITES: sites.ctypes.data,
            Context.LDS_ALL: self._buffer(residents * lds_stride).ctypes.data,
            Context.LDS_STRIDE: lds_stride,
            Context.LDS_SIZE: lds,
            Context.SCRATCH_LANE_BYTES: lane_bytes,
            Context.SCRATCH_ALL: scratch.ctypes.data,
            Context.STATES: states.ctypes.data,
            Context.RESUMES: resumes.ctypes.data,
            Context.SLOTS: slots.ctypes.data,
            Context.RESIDENTS: residents,
            Context.LOAD_BIAS: plan.load_bias,
        }
        context[list(values)] = list(values.values())


def _stopped_wave(resume: int, completed: int, scalars: NDArray[np.int32]) -> faults.StoppedWave:
    joined = int(scalars[JOINED_SLOT]) - 1
    return faults.StoppedWave(
        None if resume < 0 else resume & WAVE_NAMED - 1,
        resume >= 0 and bool(resume & WAVE_NAMED),
        joined if joined > 0 else None,
        int(scalars[SIGNALLED_SLOT]) == completed + 1,
        int(scalars[END_SITE_SLOT]),
    )


def _group_of_grid(
    row: NDArray[np.int64], resumes: NDArray[np.int32], end: int
) -> faults.GroupOfGrid:
    x, y, z = map(int, row[: SlotField.GROUP_Z + 1])
    spinning = next((int(resume) for resume in resumes if 0 <= resume < WAITING), None)
    # A vacant slot has the inverted x of the workgroup that ended there.
    return faults.GroupOfGrid((x if x >= 0 else ~x, y, z), spinning, end)


def private_bytes(kernel: Kernel) -> int:
    """Return how many bytes of scratch memory a work-item has."""
    private = kernel.descriptor.private_segment_bytes
    if kernel.metadata.uses_dynamic_stack:
        private = max(private, _DYNAMIC_STACK)
    return -(-private // 16) * 16


def _runs_together(plan: Plan) -> bool:
    """Return whether all workgroups of a launch must be resident at the same time: it is
    cooperative, and its waves may wait for others."""
    return plan.geometry.cooperative and plan.compiled.may_yield


def _residents(plan: Plan, group_bytes: int) -> int:
    """Return how many workgroups may be resident on a host thread."""
    if not plan.compiled.may_yield:
        return 1
    if _runs_together(plan):
        return -(-plan.geometry.workgroups // plan.threads)
    most = min(_RESIDENT_WAVES // plan.waves, _RESIDENT_BYTES // group_bytes) // plan.threads
    return max(1, min(most, plan.geometry.workgroups))


def _aligned(nbytes: int) -> NDArray[np.uint8]:
    storage: NDArray[np.uint8] = np.zeros(nbytes + 64, np.uint8)
    start = -storage.ctypes.data % 64
    return storage[start : start + nbytes]


# Which work-items a workgroup has: the ids and EXEC that its waves begin with.


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
