"""A launch that can be stopped before each instruction, and taken back to any earlier one."""

from __future__ import annotations

import copy
import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from amdjit.abi.launch_shape import LaunchShape
from amdjit.diagnostics.errors import KernelFault, LaunchError
from amdjit.emulator.host.native_library import NativeLibrary
from amdjit.emulator.launch.dispatch import check_launch
from amdjit.emulator.launch.faults import fault_from_record
from amdjit.emulator.launch.host_services import HostSide
from amdjit.emulator.launch.loader import EmulatedFunction
from amdjit.emulator.launch.workspace import Workspace, make_plan
from amdjit.emulator.layout import (
    SCALAR_BYTES,
    SCALAR_SLOTS,
    STEP_PATIENCE_SLOT,
    Context,
)
from amdjit.emulator.memory import DeviceMemory
from amdjit.emulator.scheduling.driver import ENDED, STOPPED, Turn, single_step_symbol
from amdjit.emulator.scheduling.release import RESUME
from amdjit.emulator.stepping.schedule import InOrder, Schedule, Shaken
from amdjit.emulator.stepping.snapshots import Snapshots
from amdjit.emulator.stepping.writes import NATIVES, WriteInstrument
from amdjit.emulator.tiers.compilation import HostKernel
from amdjit.emulator.tiers.steps import ANY_WAVE, EVENT_ROW, EVENT_ROWS, Event, Flag, Mode, Steps
from amdjit.isa.register_numbers import HALF_LANES, HALF_VGPRS
from amdjit.target import Target

__all__ = ["Group", "SteppedLaunch", "Wanted", "WaveState"]

# Instructions between two snapshots: about 10 ms. There are fewer if they take much memory.
_INTERVAL = 200_000
_NOBODY = -2
_NEVER = 1 << 62
_SINGLE_STEP = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)

# The position of a workgroup in the grid.
Group = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class WaveState:
    """A wave at the present time."""

    pc: int | None
    """Of its next instruction, None if it has ended."""
    scalars: NDArray[np.uint32]
    """The dwords of its scalar state, by number (`isa/register_numbers.py`)."""
    vectors: NDArray[np.uint32]
    """Its VGPRs, then its AGPRs if it has some: a row of lanes each."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What somebody waits for."""

    focus: tuple[Group, int] | None = None
    """A workgroup and the number of a wave in it, None for any."""
    lines: bool = False
    """Each time that the wave goes on to another line."""
    instructions: bool = False
    """Each instruction of the wave."""
    pcs: frozenset[int] = frozenset()
    """The instructions at these pcs."""
    line_starts: frozenset[int] = frozenset()
    """Those at these pcs, where the wave comes from another line."""
    writes: tuple[int, int, Group | None] | None = None
    """Writes of memory: the first address, one past the last, and the workgroup if it is LDS or
    private memory."""


NOTHING = Wanted()


class SteppedLaunch:
    """One launch. It begins stopped before its first instruction.

    lines: the number of a pc's line, 0 for none. schedule: "in-order", "backwards", or a seed for
    an order that interrupts waves. LaunchError if the device cannot run the launch.
    """

    def __init__(
        self,
        function: EmulatedFunction,
        shape: LaunchShape,
        kernarg: bytes,
        *,
        memory: DeviceMemory,
        target: Target,
        library: NativeLibrary,
        lines: Callable[[int], int],
        schedule: str | int = "in-order",
    ) -> None:
        check_launch(function.kernel, shape, target, memory.room)
        library.add(NATIVES)
        self._function, self._shape, self._memory = function, shape, memory
        self._wave_size = function.kernel.descriptor.wave_size
        self.schedule = _schedule(schedule)
        self._compiled = self._translated()
        self.pcs = self._all_pcs()
        self.loops = self._loops()
        """Where the code jumps back to, and the last such jump."""
        self._plan = make_plan(function, self._compiled, shape, 1)
        self._workspace = Workspace(self._plan, HostSide(memory, self._write))
        self._workspace.begin(kernarg, 1, memory.table())
        self._actions = {
            action: _SINGLE_STEP(library.address(single_step_symbol(action, self._wave_size)))
            for action in ("begin", "turn", "release")
        }
        self._tables = _Tables(self.pcs, lines)
        self._steps, self._context = self._tables.steps, self._workspace.context
        self._context[Context.STEPS] = self._steps.ctypes.data
        self._context[Context.CALLBACK] = 0
        self._resident: dict[int, Group] = {}
        self._next_group = self._target_time = 0
        self._begun: dict[Group, int] = {}
        """When each workgroup began, as far as the launch has come."""
        self._interval, self._furthest = _INTERVAL, -1
        self.fault: KernelFault | None = None
        """What stops the launch at the present instruction."""
        self.has_ended = self._fault_is_new = False
        self.texts: list[str] = []
        self._want(NOTHING, stops=False)
        while self.schedule.advance(self):  # to the first instruction
            pass
        self._snapshots = Snapshots([*self._workspace.changing, *memory.contents()])
        self._snapshots.take(0, self._state())

    def _translated(self) -> HostKernel:
        kernels, kernel = self._function.module.kernels, self._function.kernel
        full_waves = self._shape.items % self._wave_size == 0
        compiled = kernels.stepping(kernel, full_waves, (WriteInstrument,))
        # A shaken schedule lets many workgroups run at the same time, as if they could wait.
        return replace(compiled, may_yield=compiled.may_yield or isinstance(self.schedule, Shaken))

    def _all_pcs(self) -> tuple[int, ...]:
        """Return the pcs of all instructions, whose ids come last."""
        blocks = self._function.module.kernels.graph(self._function.kernel).blocks.values()
        pcs = sorted(instruction.pc for block in blocks for instruction in block.instructions)
        assert pcs == list(self._compiled.resume_pcs[-len(pcs) :]), "the code has other steps"
        return tuple(pcs)

    def _loops(self) -> dict[int, int]:
        blocks = self._function.module.kernels.graph(self._function.kernel).blocks.values()
        found: dict[int, int] = {}
        for block in blocks:
            end = block.instructions[-1].pc
            for successor in block.successors:
                if successor <= end:
                    found[successor] = max(end, found.get(successor, 0))
        return found

    # Time

    @property
    def time(self) -> int:
        """How many instructions have begun, of all waves."""
        return int(self._steps[Steps.COUNT])

    @property
    def current(self) -> tuple[Group, int] | None:
        """The wave that executes the next instruction: its workgroup and its number. None if the
        launch has ended."""
        if self.has_ended:
            return None
        slot, wave = self.schedule.current
        return self._resident[slot], wave % self.waves

    def go_to(self, time: int) -> None:
        """Go forward or back to the moment before the instruction of that number; to the end if
        there are fewer."""
        if time < self.time:
            self._restore(time)
        self._run(time, NOTHING, stops=False)

    def run(self, wanted: Wanted, until: int = _NEVER) -> bool:
        """Go forward to the next event after the present one; return whether there is one before
        the time `until`, where the launch stops otherwise."""
        self._run(until, wanted, stops=True)
        return not self.has_ended and self.fault is None and self.time < until

    def back(self, wanted: Wanted) -> bool:
        """Go back to the last event before the present; return whether there is one. Otherwise the
        time stays."""
        found = self.last(wanted)
        if found is not None:
            self.go_to(found[0])
        return found is not None

    def last(self, wanted: Wanted) -> tuple[int, int] | None:
        """Return the time of the last event before the present, and its lanes if it is a write;
        None if there is none."""
        now, end = self.time, self.time
        found: tuple[int, int] | None = None
        # Before a workgroup begins, its waves do nothing.
        first = self._begun.get(wanted.focus[0], 0) if wanted.focus is not None else 0
        while found is None and end > first:
            start = self._snapshots.before(end - 1).time
            self._restore(start)
            self._steps[Steps.EVENT_COUNT] = 0
            self._run(end, wanted, stops=False)
            found = self._last_event(end)
            end = start
        self.go_to(now)
        return found

    def _last_event(self, before: int) -> tuple[int, int] | None:
        count = int(self._steps[Steps.EVENT_COUNT])
        for number in range(count - 1, max(count - EVENT_ROWS, 0) - 1, -1):
            row = self._tables.events[number % EVENT_ROWS]
            if row[Event.TIME] < before:
                return int(row[Event.TIME]), int(row[Event.LANES]) & (1 << 64) - 1
        return None

    def _run(self, until: int, wanted: Wanted, stops: bool) -> None:
        """Go forward to a time, or to an event if the launch stops at those."""
        self._want(wanted, stops)
        while not self.has_ended and self.fault is None and self.time < until:
            next_snapshot = max(self._snapshots.latest + self._interval, self.time + 1)
            self._target_time = min(until, next_snapshot)
            events = self._steps[Steps.EVENT_COUNT]
            try:
                while self.schedule.advance(self):
                    pass
            except BaseException:  # Ctrl-C: between two turns, or in the middle of one
                self._restore(self.time)
                raise
            self.has_ended = self.fault is None and self._all_ended()
            if stops and self._steps[Steps.EVENT_COUNT] != events:
                break
            if not self.has_ended and self.time == next_snapshot:
                self._take_snapshot()
        self._furthest = max(self._furthest, self.time)
        if self._fault_is_new:
            self._stop_before_fault()

    def _stop_before_fault(self) -> None:
        """Go back to the moment before the instruction at which a fault has stopped the launch."""
        fault, time = self.fault, self.time - 1
        self._restore(time)
        self._run(time, NOTHING, stops=False)
        self.fault = fault

    def _all_ended(self) -> bool:
        return not self._resident and self._next_group >= self._shape.workgroups

    def _take_snapshot(self) -> None:
        if self._snapshots.take(self.time, self._state()):
            self._interval *= 2

    def _want(self, wanted: Wanted, stops: bool) -> None:
        self._wanted = wanted
        mode = Mode.EACH_LINE * wanted.lines | Mode.EACH_INSTRUCTION * wanted.instructions
        self._steps[Steps.MODE] = mode | Mode.STOPS * stops
        self._steps[Steps.SKIPPED] = self.time if stops else -1
        self._tables.mark(wanted.pcs, wanted.line_starts)
        first, end, _ = wanted.writes or (0, 0, None)
        self._steps[[Steps.WATCH_FIRST, Steps.WATCH_END]] = first, end
        self._focus()

    def _focus(self) -> None:
        """Tell native code in which slots the workgroups are that matter."""
        wanted, slots = self._wanted, {group: slot for slot, group in self._resident.items()}
        self._steps[Steps.FOCUS] = ANY_WAVE
        if wanted.focus is not None:
            group, wave = wanted.focus
            slot = slots.get(group)
            self._steps[Steps.FOCUS] = _NOBODY if slot is None else slot * self.waves + wave
        self._steps[Steps.WATCH_SLOT] = -1
        if wanted.writes is not None and wanted.writes[2] is not None:
            self._steps[Steps.WATCH_SLOT] = slots.get(wanted.writes[2], self.slots)

    def _state(self) -> tuple[Schedule, dict[int, Group], int]:
        return copy.copy(self.schedule), dict(self._resident), self._next_group

    def _restore(self, time: int) -> None:
        snapshot = self._snapshots.before(time)
        self._snapshots.restore(snapshot)
        schedule, resident, self._next_group = snapshot.state
        self.schedule, self._resident = copy.copy(schedule), dict(resident)
        self._steps[Steps.COUNT] = snapshot.time
        self.fault, self.has_ended, self._fault_is_new = None, False, False

    # What the schedule works with (`schedule.Machine`)

    @property
    def waves(self) -> int:
        """How many waves a workgroup has."""
        return self._plan.waves

    @property
    def slots(self) -> int:
        """How many workgroups can be under way at the same time."""
        return self._workspace.residents

    @property
    def together(self) -> bool:
        """Whether all workgroups must be."""
        return self._shape.cooperative

    def begin(self, slot: int) -> bool:
        """Begin the next workgroup of the grid in a slot; return whether there is one."""
        self._resident.pop(slot, None)
        number = self._next_group
        has_next = number < self._shape.workgroups
        if has_next:
            self._next_group += 1
            self._act("begin", slot, number)
            width, height, _ = self._shape.grid
            group = self._resident[slot] = (
                number % width,
                number // width % height,
                number // width // height,
            )
            self._begun[group] = self.time
        self._focus()
        return has_next

    def is_vacant(self, slot: int) -> bool:
        """Return whether no workgroup is under way in a slot."""
        return slot not in self._resident

    def run_wave(self, slot: int, wave: int, until: int | None) -> Turn | None:
        """Run a wave until it gives way, or until a time; None if the launch has stopped before."""
        ends = _NEVER if until is None else until
        self._steps[Steps.LIMIT] = min(self._target_time, ends)
        result = self._act("turn", slot, wave)
        if result == STOPPED:
            self._note_fault()
            return None
        scalars = self._workspace.resident[0][slot * self.waves + wave, :SCALAR_BYTES]
        if scalars.view(np.uint32)[STEP_PATIENCE_SLOT] == 0 or not result & Turn.RAN:
            return Turn(result)
        return Turn.RAN | Turn.BUSY if self.time >= ends else None

    def release(self, slot: int) -> bool | None:
        """Wake the waves that the barrier of a workgroup releases; return whether all have ended,
        None if they wait for ever."""
        result = self._act("release", slot, 0)
        if result == STOPPED:
            self._note_fault()
            return None
        if result == ENDED:
            self._resident.pop(slot)
        return result == ENDED

    def _act(self, action: str, slot: int, number: int) -> int:
        result: int = self._actions[action](self._context.ctypes.data, slot, number)
        return result

    def _note_fault(self) -> None:
        self._fault_is_new = True
        workspace, plan = self._workspace, self._plan
        self.fault = fault_from_record(
            [int(value) for value in workspace.record],
            self._function,
            compiled=plan.compiled,
            geometry=plan.geometry,
            memory=self._memory,
            group=workspace.stopped_group(),
            grid=workspace.grid() if plan.geometry.cooperative else (),
            calls=workspace.calls,
        )

    def _write(self, stream: int, data: bytes) -> None:
        """Keep what the kernel prints, once."""
        if self.time > self._furthest:
            self.texts.append(data.decode("utf-8", "replace"))

    # What there is to see

    def wave(self, group: Group, number: int) -> WaveState | None:
        """Return a wave as it is, None if its workgroup is not under way."""
        slot = next((slot for slot, each in self._resident.items() if each == group), None)
        if slot is None:
            return None
        states, resumes, _ = self._workspace.resident
        index = slot * self.waves + number
        resume = int(resumes[index])
        state = states[index].copy().view(np.uint32)
        return WaveState(
            None if resume < 0 else self._compiled.resume_pcs[resume & RESUME],
            state[:SCALAR_SLOTS],
            self._vectors(state[SCALAR_SLOTS:].reshape(-1, HALF_LANES)),
        )

    def _vectors(self, halves: NDArray[np.uint32]) -> NDArray[np.uint32]:
        if self._wave_size == HALF_LANES:
            return halves
        lower = np.arange(len(halves)) & HALF_VGPRS == 0
        return np.concatenate([halves[lower], halves[~lower]], axis=1)

    def has_begun(self, group: Group) -> bool:
        """Return whether a workgroup has begun at the present time."""
        return self._begun.get(group, _NEVER) <= self.time

    @property
    def groups(self) -> tuple[Group, ...]:
        """The workgroups that are under way."""
        return tuple(self._resident.values())

    def lds(self, group: Group) -> NDArray[np.uint8]:
        """Return the LDS of a workgroup that is under way."""
        slot = next(slot for slot, each in self._resident.items() if each == group)
        context = self._context
        start = int(context[Context.LDS_ALL]) + slot * int(context[Context.LDS_STRIDE])
        return _bytes_at(start, int(context[Context.LDS_SIZE]))

    def private(self, group: Group, wave: int) -> NDArray[np.uint8]:
        """Return the private memory of a wave's lanes, a row for each."""
        slot = next(slot for slot, each in self._resident.items() if each == group)
        each = int(self._context[Context.SCRATCH_LANE_BYTES])
        nbytes = each * self._wave_size
        first = int(self._context[Context.SCRATCH_ALL]) + (slot * self.waves + wave) * nbytes
        return _bytes_at(first, nbytes).reshape(self._wave_size, each)


def _bytes_at(address: int, nbytes: int) -> NDArray[np.uint8]:
    return np.frombuffer(ctypes.string_at(address, nbytes), np.uint8)


class _Tables:
    """The record that native code works with, and what it points to."""

    def __init__(self, pcs: Sequence[int], lines: Callable[[int], int]) -> None:
        self._numbers = {pc: number for number, pc in enumerate(pcs)}
        self._lines = np.array([*map(lines, pcs)], np.int32)
        self._flags: NDArray[np.uint8] = np.zeros(len(pcs), np.uint8)
        self.events: NDArray[np.int64] = np.zeros((EVENT_ROWS, EVENT_ROW), np.int64)
        self.steps: NDArray[np.int64] = np.zeros(Steps.FIELDS, np.int64)
        self.steps[Steps.LINES] = self._lines.ctypes.data
        self.steps[Steps.FLAGS] = self._flags.ctypes.data
        self.steps[Steps.EVENTS] = self.events.ctypes.data

    def mark(self, pcs: frozenset[int], line_starts: frozenset[int]) -> None:
        """Make the instructions at these pcs events, and no others."""
        self._flags[:] = 0
        self._flags[[self._numbers[pc] for pc in line_starts]] = Flag.AT_NEW_LINE
        self._flags[[self._numbers[pc] for pc in pcs]] = Flag.ALWAYS


def _schedule(name: str | int) -> Schedule:
    if isinstance(name, int) and not isinstance(name, bool):
        return Shaken(name)
    if name not in ("in-order", "backwards"):
        raise LaunchError(f'schedule={name!r}: "in-order", "backwards", or an int, a seed')
    return InOrder(backwards=name == "backwards")
