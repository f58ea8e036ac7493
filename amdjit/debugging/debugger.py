"""A launch under a debugger."""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from types import CodeType, TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from amdjit.checking.array_places import ArrayArgument
from amdjit.code_object.debug_info import Variable
from amdjit.debugging.launch_code import LaunchCode, Line, is_break
from amdjit.debugging.values import (
    Place,
    Registers,
    Value,
    place_of,
    private_address,
    read_value,
    type_of,
)
from amdjit.diagnostics import KernelFault, LaunchError
from amdjit.emulator.device import EmulatorDevice
from amdjit.emulator.layout import PRIVATE_APERTURE_HIGH, SHARED_APERTURE_HIGH
from amdjit.emulator.stepping.launch import Group, SteppedLaunch, Wanted, WaveState
from amdjit.isa.register_numbers import EXEC_LO
from amdjit.isa.text import disassemble
from amdjit.isa.traits import SingleLane
from amdjit.options import Environment
from amdjit.replaying import ReplayMemory, element_type
from amdjit.runtime.recording import RecordedLaunch
from amdjit.target import emulated_for, find_target

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Breakpoint", "Change", "Debugger"]

_NEVER = 1 << 62
# Processors whose scratch memory is accessed through buffers.
_IN_BUFFERS = ("gfx908", "gfx90a")
_FRAME_REGISTER = Place("s", 33)


@dataclass(frozen=True, slots=True)
class Change:
    """The instruction that wrote something."""

    time: int
    """The number of the instruction, counted over all waves."""
    block: Group
    wave: int
    """The number of the wave in its workgroup."""
    lanes: tuple[int, ...]
    """The lanes that wrote it; all active ones of an instruction that writes registers."""
    line: Line | None
    instruction: str
    """With its pc."""

    def __str__(self) -> str:
        where = "" if self.line is None else f" at {PurePath(self.line[0]).name}:{self.line[1]}"
        lanes = "lane " + ", ".join(map(str, self.lanes[:4])) + ", …" * (len(self.lanes) > 4)
        return (
            f"time {self.time}: block {self.block}, wave {self.wave}, {lanes}{where}\n"
            f"  {self.instruction}"
        )


@dataclass(frozen=True, slots=True)
class Breakpoint:
    """Where launches stop. when: a Python expression of variables, "" for always."""

    number: int
    line: Line
    when: str = ""
    pcs: frozenset[int] = field(default_factory=frozenset, repr=False)
    """Where a round of a loop on that line begins."""
    starts: frozenset[int] = field(default_factory=frozenset, repr=False)
    """Where it begins for a wave that comes from another line."""


class Debugger:
    """One launch, stopped before an instruction of the wave that is looked at.

    It runs on memory of its own: the arrays of the program stay as they are. Time is the number of
    instructions that all waves have begun, so that each moment has one number. It can be used as a
    `with` block, and is closed at its end.

    schedule: as `amdjit.debug` has it. arguments: further names for expressions. assigned:
    parameters that the kernel assigns, whose values nothing describes. environment: how
    the emulator computes, by default as environment variables say.
    block, wave, lane: what is looked at; `select` chooses. file and numbers of lines are those of
    the debug information.
    """

    def __init__(
        self,
        launch: RecordedLaunch,
        *,
        schedule: str | int = "in-order",
        arguments: Mapping[str, Any] | None = None,
        assigned: Collection[str] = (),
        environment: Environment | None = None,
    ) -> None:
        self.launch, self.schedule, self._environment = launch, schedule, environment
        self.arguments, self._assigned = dict(arguments or {}), frozenset(assigned)
        target = find_target(launch.target)
        if target is None or emulated_for(target) is None:
            raise LaunchError(f"the launch is for {launch.target}, which is not emulated")
        self.device = EmulatorDevice(
            emulated_for(target) or target, threads=1, environment=environment
        )
        self._memory = ReplayMemory(self.device, launch)
        self._memory.__enter__()
        self._is_closed = False
        function = self.device.load(launch.code_object).function(launch.kernel)
        self.code = LaunchCode(launch, function)
        self._wave_size = function.kernel.descriptor.wave_size
        self._launched: SteppedLaunch = self.device.step(
            function,
            launch.shape,
            bytes(self._memory.kernarg()),
            lines=self.code.number_of_line,
            schedule=schedule,
        )
        self.breakpoints: list[Breakpoint] = []
        self._made = 0
        self._break_marks = frozenset(
            pc for pc in self._stepped.pcs if is_break(self.code.decoded(pc))
        )
        self.block: Group = (0, 0, 0)
        self.wave = self.lane = 0
        self._follows_lane = False
        self._look_at_current()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Free the memory of the launch, which cannot be looked at any more."""
        if not self._is_closed:
            self._is_closed = True
            self._memory.__exit__()

    @property
    def _stepped(self) -> SteppedLaunch:
        if self._is_closed:
            raise LaunchError("the debugger is closed")
        return self._launched

    # Where it is

    @property
    def time(self) -> int:
        """How many instructions have begun, of all waves."""
        return self._stepped.time

    @property
    def fault(self) -> KernelFault | None:
        """The fault that stopped the launch, or the failed `assert` of one that has finished."""
        if self._stepped.fault is None and self._stepped.has_ended:
            return self._memory.fault()
        return self._stepped.fault

    @property
    def has_ended(self) -> bool:
        """Whether all waves have ended."""
        return self._stepped.has_ended

    @property
    def printed(self) -> str:
        """What HIP's printf has printed so far; what amdjit's `print` puts into memory is not
        here."""
        return "".join(self._stepped.texts)

    @property
    def state(self) -> WaveState | None:
        """The wave that is looked at; None if its workgroup has not begun, or has ended."""
        return self._stepped.wave(self.block, self.wave)

    @property
    def pc(self) -> int | None:
        """The address of the wave's next instruction; None if it has ended."""
        return None if self.state is None else self.state.pc

    @property
    def line(self) -> Line | None:
        """File and line of the wave's next instruction, None if they are not known."""
        return None if self.pc is None else self.code.line_of(self.pc)

    @property
    def instruction(self) -> str:
        """The wave's next instruction, "" if it has ended."""
        return "" if self.pc is None else disassemble(self.code.decoded(self.pc))

    @property
    def thread(self) -> Group:
        """The work-item that is looked at, in its workgroup."""
        return self._thread(self.wave, self.lane)

    def _thread(self, wave: int, lane: int) -> Group:
        x, y, _ = self.launch.shape.block
        item = wave * self._wave_size + lane
        return item % x, item // x % y, item // (x * y)

    @property
    def blocks(self) -> tuple[Group, ...]:
        """The workgroups that are under way."""
        return self._stepped.groups

    @property
    def waves(self) -> int:
        """How many waves a workgroup has."""
        return self._stepped.waves

    def select(
        self,
        *,
        block: Group | int | None = None,
        thread: Group | int | None = None,
        wave: int | None = None,
        lane: int | None = None,
    ) -> None:
        """Look at another wave, or at one work-item: steps then stop only where it is active.

        LaunchError if the launch has no such block, thread, wave or lane.
        """
        if block is not None:
            self.block = self._checked("block", block, self.launch.shape.grid)
        if thread is not None:
            x, y, z = self._checked("thread", thread, self.launch.shape.block)
            width, height, _ = self.launch.shape.block
            wave, lane = divmod(x + width * (y + height * z), self._wave_size)
        if wave is not None:
            self.wave = _within("wave", wave, self.waves)
        if lane is not None:
            self.lane = _within("lane", lane, self._wave_size)
        self._follows_lane = lane is not None or (self._follows_lane and wave is None)

    def _checked(self, what: str, given: Group | int, size: Group) -> Group:
        try:
            numbers = (given, 0, 0) if isinstance(given, int) else (*given, 0, 0)[:3]
            x, y, z = map(operator.index, numbers)
        except TypeError:
            raise LaunchError(f"{what}={given!r}: give a number or up to three") from None
        if not all(0 <= each < extent for each, extent in zip((x, y, z), size, strict=True)):
            raise LaunchError(f"there is no {what} {(x, y, z)} in {size}")
        return x, y, z

    def _look_at_current(self) -> None:
        current = self._stepped.current
        if current is not None and not (self._follows_lane and self._is_followed(current)):
            self.block, self.wave = current
            active = self.lanes
            if active and self.lane not in active:
                self.lane = active[0]
        if self.fault is not None and self.fault.thread is not None:
            self.select(block=self.fault.block, thread=self.fault.thread)

    def _is_followed(self, current: tuple[Group, int]) -> bool:
        return current == (self.block, self.wave)

    # Steps

    @property
    def _focus(self) -> tuple[Group, int]:
        return self.block, self.wave

    def step(self, count: int = 1, *, instructions: bool = False) -> bool:
        """Go on to the next line of the wave, or the next instruction, `count` times; return
        whether there is one. Other waves run where this one waits for them."""
        wanted = Wanted(self._focus, lines=not instructions, instructions=instructions)
        return all(self._forward(wanted) for _ in range(_positive(count)))

    def back(self, count: int = 1, *, instructions: bool = False) -> bool:
        """Undo a step, `count` times; return whether there was one. At the start of the wave the
        time stays."""
        wanted = Wanted(self._focus, lines=not instructions, instructions=instructions)
        return all(self._backward(wanted) for _ in range(_positive(count)))

    def run_to(self, line: int, file: str = "") -> bool:
        """Go on until the wave comes to a line; return whether it does."""
        _, pcs, starts = self.code.starts(self._stepped, line, file)
        return self._forward(Wanted(self._focus, pcs=pcs, line_starts=starts))

    def back_to(self, line: int, file: str = "") -> bool:
        """Go back to the last time that the wave came to a line; return whether it did."""
        _, pcs, starts = self.code.starts(self._stepped, line, file)
        return self._backward(Wanted(self._focus, pcs=pcs, line_starts=starts))

    def break_at(self, line: int, when: str = "", file: str = "") -> Breakpoint:
        """Let `resume` stop where a wave comes to a line.

        when: a Python expression, evaluated for each lane: the variables of the line, `lane`,
        `block` and `thread`; the launch stops if it holds in an active lane, which is looked at
        then. file: the end of the file's name, if there are several. LaunchError if the line has no
        code.
        """
        place, pcs, starts = self.code.starts(self._stepped, line, file)
        when = when.strip()
        if when:
            compile(when, "<when>", "eval")
        self._made += 1
        made = Breakpoint(self._made, place, when, pcs, starts)
        self.breakpoints.append(made)
        return made

    def clear(self, number: int) -> None:
        """Remove a breakpoint; LaunchError if there is none of that number."""
        kept = [each for each in self.breakpoints if each.number != number]
        if len(kept) == len(self.breakpoints):
            raise LaunchError(f"there is no breakpoint {number}")
        self.breakpoints = kept

    def resume(self) -> Breakpoint | None:
        """Go on until some wave comes to a breakpoint, or to a `breakpoint()` of the kernel, and
        look at that wave. Return the breakpoint, None for the kernel's own and at the end."""
        wanted = self._stops()
        while self._stepped.run(wanted):
            found = self._met()
            if found is not None:
                return found[0]
        self._look_at_current()
        return None

    def reverse(self) -> Breakpoint | None:
        """Go back to the last time that some wave came to a breakpoint, as `resume` goes on; to the
        start if there is none."""
        wanted = self._stops()
        while self._stepped.back(wanted):
            found = self._met()
            if found is not None:
                return found[0]
        self.go_to(0)
        return None

    def go_to(self, time: int) -> None:
        """Go to a time, forward or back, and look at the wave that executes the next
        instruction."""
        self._stepped.go_to(max(time, 0))
        self._follows_lane = False
        self._look_at_current()

    def finish(self) -> dict[str, NDArray[Any]]:
        """Go on to the end, and return the arrays. Raises the fault that stops the launch."""
        self._stepped.go_to(_NEVER)
        if self.fault is not None:
            raise self.fault
        return self._memory.results()

    def shake(self, count: int = 8) -> dict[int, list[str]]:
        """Run the launch from its start to its end in `count` orders that interrupt waves, and
        return the seeds that give other results than the emulator's own order, with
        the names of the arrays that differ. A correct kernel has none; a race has some if it can
        change results, and sums of floats by atomics do. A fault counts as a difference of all
        arrays, unless every order has one."""
        expected = self._results("in-order")
        different: dict[int, list[str]] = {}
        for seed in range(1, _positive(count) + 1):
            found = self._results(seed)
            names = [
                each.name
                for each in self.launch.arrays
                if not each.in_lds
                and (found is None or expected is None or found[each.name] != expected[each.name])
            ]
            if names and (found is not None or expected is not None):
                different[seed] = names
        return different

    def _results(self, schedule: str | int) -> dict[str, bytes] | None:
        """Return the arrays after a launch, None if a fault stops it."""
        environment = self._environment
        with Debugger(self.launch, schedule=schedule, environment=environment) as other:
            other.go_to(_NEVER)
            if other.fault is not None:
                return None
            return {name: array.tobytes() for name, array in other.arrays.items()}

    def _forward(self, wanted: Wanted) -> bool:
        while self._stepped.run(wanted):
            if not self._follows_lane or self.lane in self.lanes:
                return True
        return False

    def _backward(self, wanted: Wanted) -> bool:
        start = self.time
        while self._stepped.back(wanted):
            if not self._follows_lane or self.lane in self.lanes:
                return True
        self._stepped.go_to(start)
        return False

    def _stops(self) -> Wanted:
        return Wanted(
            pcs=self._break_marks.union(*(each.pcs for each in self.breakpoints)),
            line_starts=frozenset().union(*(each.starts for each in self.breakpoints)),
        )

    def _met(self) -> tuple[Breakpoint | None] | None:
        """Return the breakpoint at which the current wave is, and look at that wave; None if its
        condition does not hold."""
        current = self._stepped.current
        assert current is not None
        state = self._stepped.wave(*current)
        assert state is not None
        if state.pc in self._break_marks:
            self._look_at_all(current)
            return (None,)
        before = self.block, self.wave, self.lane, self._follows_lane
        for each in self.breakpoints:
            if state.pc in each.pcs or state.pc in each.starts:
                self._look_at_all(current)
                lanes = self._where(each.when) if each.when else self.lanes
                if lanes:
                    self.lane = lanes[0]
                    return (each,)
        self.block, self.wave, self.lane, self._follows_lane = before
        return None

    def _look_at_all(self, current: tuple[Group, int]) -> None:
        self._follows_lane = False
        self.block, self.wave = current

    def _where(self, expression: str) -> list[int]:
        """Return the active lanes in which an expression holds."""
        code = compile(expression, "<when>", "eval")
        known = self._known(code)
        return [lane for lane in self.lanes if self._evaluate(code, known, lane)]

    def evaluate(self, expression: str, lane: int | None = None) -> Any:
        """Evaluate a Python expression with the variables of a lane, by default of the one that is
        looked at. Arrays are the launch's as they are now; `np` is NumPy."""
        code = compile(expression, "<expression>", "eval")
        return self._evaluate(code, self._known(code), self.lane if lane is None else lane)

    def _evaluate(self, code: CodeType, known: Mapping[str, Any], lane: int) -> Any:
        names = {"np": np, "lane": lane, "block": self.block}
        names["thread"] = self._thread(self.wave, lane)
        for name, value in known.items():
            names[name] = value.of(lane) if isinstance(value, Value) else value
        return eval(code, names)

    def _known(self, code: CodeType) -> dict[str, Any]:
        """Return what the names of an expression stand for, variables for all lanes. LaunchError
        for one whose value is not known."""
        variables = self._scope
        known: dict[str, Any] = {}
        for name in names_of(code):
            value = variables.get(name)
            if value is not None and " in LDS" in value.type:
                known[name] = self._in_lds(self._array_of(value), self.lds.copy())
            elif value is not None:
                if value.lanes is None:
                    raise LaunchError(f"{name} cannot be read here: {value.where}")
                known[name] = value
            elif self._is_in_kernel:
                known |= self._of_launch(name)
        return known

    def _array_of(self, value: Value) -> ArrayArgument:
        """Return the array in LDS that a variable stands for: the one with its name, else the one
        at its address."""
        arrays = [each for each in self.launch.arrays if each.in_lds]
        chosen = named = [each for each in arrays if each.name == value.name]
        if len(named) != 1:
            address = value.of(self.lane)
            chosen = [each for each in named or arrays if each.address == address]
        if len(chosen) != 1:
            raise LaunchError(f"nothing says which array in LDS {value.name} is here")
        return chosen[0]

    @staticmethod
    def _in_lds(array: ArrayArgument, data: NDArray[np.uint8]) -> NDArray[Any]:
        dtype = _element_type(array)
        found: NDArray[Any] = np.ndarray(
            array.shape, dtype, data.data, array.address, array.strides
        )
        return found

    def _of_launch(self, name: str) -> dict[str, Any]:
        """Return an argument of the launch or an array in LDS, nothing for other names."""
        if name in self._assigned:
            raise LaunchError(
                f"{name} is assigned in the kernel, and nothing says where its value is here"
            )
        if name in self.arguments:
            return {name: self.arguments[name]}
        if sum(each.name == name for each in self.launch.arrays) > 1:
            raise LaunchError(f"the kernel has several arrays {name}: `shared` has all of them")
        return {key: array for key, array in (self.arrays | self.shared).items() if key == name}

    @property
    def _is_in_kernel(self) -> bool:
        """Whether the wave is in the kernel itself, and not in a function that it calls."""
        scope = None if self.pc is None else self.code.names.scope_at(self.pc)
        return scope is None or (not scope.calls() and self._frame_is_kernels)

    @property
    def _scope(self) -> dict[str, Value]:
        """The variables of the innermost function."""
        scope = None if self.pc is None else self.code.names.scope_at(self.pc)
        function = "" if scope is None else scope.function
        return self._variables(lambda each: not function or each.function in ("", function))

    # What there is to see

    @property
    def lanes(self) -> list[int]:
        """The active lanes of the wave."""
        state = self.state
        if state is None:
            return []
        mask = int(state.scalars[EXEC_LO])
        if self._wave_size > 32:
            mask |= int(state.scalars[EXEC_LO + 1]) << 32
        return [lane for lane in range(self._wave_size) if mask >> lane & 1]

    @property
    def registers(self) -> Registers:
        """The wave's registers, by name. LaunchError if it has ended."""
        return Registers(self._living())

    @property
    def variables(self) -> dict[str, Value]:
        """The variables of the wave's line that debug information describes there, by name."""
        return self._variables(lambda _: True)

    def _variables(self, belongs: Callable[[Variable], bool]) -> dict[str, Value]:
        state = self.state
        if state is None or state.pc is None:
            return {}
        private, frame = self._stepped.private(self.block, self.wave), self._frame
        known = filter(belongs, self.code.names.variables_at(state.pc))
        return {each.name: read_value(each, state, private, frame) for each in known}

    @property
    def _frame_is_kernels(self) -> bool:
        """Whether the wave executes the kernel's own code."""
        return self.pc is None or self.code.function_at(self.pc) in (None, self.code.entry)

    @property
    def _frame(self) -> int | None:
        """The address of the present function's frame in private memory, None if it is not known.

        A kernel's is at 0. In functions it is in s33, if they write that, and else in s32 (LLVM
        AMDGPU guide, "Non-Kernel Functions"); where scratch memory is in buffers, these count the
        bytes of all lanes.
        """
        if self._frame_is_kernels or self.pc is None:
            return 0
        start = self.code.function_at(self.pc)
        if self.launch.target in _IN_BUFFERS or start is None:
            return None
        written = [
            pc
            for pc in self.code.writers(self._stepped.pcs, _FRAME_REGISTER)
            if self.code.function_at(pc) == start
        ]
        if not written:
            return int(self.registers["s32"])
        return int(self.registers["s33"]) if min(written) < self.pc <= max(written) else None

    @property
    def lds(self) -> NDArray[np.uint8]:
        """The bytes of LDS of the workgroup. LaunchError if it is not under way."""
        self._living()
        return self._stepped.lds(self.block)

    @property
    def shared(self) -> dict[str, NDArray[Any]]:
        """The arrays of the kernel in LDS, by name; empty if the workgroup is not under way."""
        if self.state is None:
            return {}
        data = self._stepped.lds(self.block).copy()
        found: dict[str, NDArray[Any]] = {}
        for each in self.launch.arrays:
            if each.in_lds:
                array = self._in_lds(each, data)
                number = sum(name.partition(" ")[0] == each.name for name in found)
                found[f"{each.name} ({number + 1})" if number else each.name] = array
        return found

    @property
    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays of the launch as they are now, by name."""
        return self._memory.results()

    def address_of(self, name: str, *index: int) -> int:
        """Return the address of an element of an array of the launch or in LDS. LaunchError if
        there is none."""
        array = self._array(name)
        if len(index) != len(array.shape):
            raise LaunchError(f"{name} has {len(array.shape)} axes, not {len(index)}")
        for each, extent in zip(index, array.shape, strict=True):
            if not 0 <= each < extent:
                raise LaunchError(f"{name}{list(index)} is outside of {array.shape}")
        offset = sum(map(int.__mul__, map(int, index), array.strides))
        return array.address + offset + (SHARED_APERTURE_HIGH << 32) * array.in_lds

    def _array(self, name: str) -> ArrayArgument:
        found = [each for each in self._memory.arrays() if each.name == name]
        value = self._scope.get(name)
        if len(found) != 1 and value is not None and " in LDS" in value.type:
            return self._array_of(value)
        if not found:
            raise LaunchError(f"the launch has no array {name}")
        if len(found) > 1:
            raise LaunchError(f"the kernel has several arrays {name}: give an address")
        return found[0]

    def who_wrote(self, array: str | int, *index: int, nbytes: int = 4) -> Change | None:
        """Return the last instruction that wrote an element of an array, of the launch or in the
        LDS of the workgroup that is looked at; None if none has.

        An address in place of the name stands for `nbytes` bytes there.
        """
        if isinstance(array, str):
            address, nbytes = self.address_of(array, *index), self._array(array).itemsize
            in_lds = self._array(array).in_lds
        else:
            address, in_lds = array, array >> 32 == SHARED_APERTURE_HIGH
        group = self.block if in_lds else None
        found = self._stepped.last(Wanted(writes=(address, address + nbytes, group)))
        return None if found is None else self._change(*found)

    def last_change(self, name: str) -> Change | None:
        """Return the last instruction that wrote a variable, or a register such as v3 or s[4:5], in
        the lane that is looked at; None if none has, or if it is constant. LaunchError if debug
        information describes no such variable here."""
        value = self._scope.get(name)
        place = place_of(name if value is None else value.where)
        if place is None or (value is None and place.bank in "pc"):
            known = ", ".join(self.variables) or "none"
            raise LaunchError(f"nothing says where {name} is here; known are: {known}")
        if place.bank == "c":
            return None
        if place.bank == "p" and value is not None:
            return self._last_private(place, value)
        Registers(self._living()).span(place)  # there are such registers
        wanted = Wanted(self._focus, pcs=frozenset(self.code.writers(self._stepped.pcs, place)))
        return self._last(wanted, any_lane=place.bank == "s")

    def _last_private(self, place: Place, value: Value) -> Change | None:
        address = private_address(place, self._living(), self._frame)
        if address is None:
            raise LaunchError(f"nothing says where {value.name} is here: {value.where}")
        dtype, count = type_of(value.type) or (np.dtype("u4"), 1)
        first = (PRIVATE_APERTURE_HIGH << 32) + address
        end = first + dtype.itemsize * count
        return self._last(Wanted(self._focus, writes=(first, end, self.block)))

    def _last(self, wanted: Wanted, any_lane: bool = False) -> Change | None:
        """Return the last event in which the lane took part, or any lane."""
        now = self.time
        try:
            while (found := self._stepped.last(wanted)) is not None:
                change = self._change(*found)
                if any_lane or self.lane in change.lanes:
                    return change
                self._stepped.go_to(found[0])
            return None
        finally:
            self._stepped.go_to(now)

    def _change(self, time: int, lanes: int) -> Change:
        """Describe the instruction that began at a time. lanes: 0 for all active ones."""
        now = self.time
        self._stepped.go_to(time)
        current = self._stepped.current
        assert current is not None
        state = self._stepped.wave(*current)
        assert state is not None
        assert state.pc is not None
        active = int(state.scalars[EXEC_LO]) | int(state.scalars[EXEC_LO + 1]) << 32
        traits = self.code.decoded(state.pc).traits
        if not lanes and (traits.ignores_exec or traits.single_lane is SingleLane.WRITE):
            active = -1
        mask = lanes or active
        chosen = tuple(lane for lane in range(self._wave_size) if mask >> lane & 1)
        line = self.code.line_of(state.pc)
        text = self.code.text_at(state.pc)
        self._stepped.go_to(now)
        return Change(time, *current, chosen, line, text)

    def _living(self) -> WaveState:
        state = self.state
        if state is None:
            raise LaunchError(f"block {self.block} is not under way at time {self.time}")
        return state

    # Text

    def where(self, around: int = 3) -> str:
        """Return where the wave is, with the lines around, and its lanes: `#` for active ones."""
        head = f"block {self.block}, wave {self.wave}, time {self.time}"
        if self.pc is None:
            head += f": {self._why_not()}"
        if self.fault is not None and (self.has_ended or self._stepped.current == self._focus):
            head += f"\n{self.fault}"
        if self.pc is None:
            return head
        active = set(self.lanes)
        strip = "".join("#" if lane in active else "." for lane in range(self._wave_size))
        rows = [head, f"lanes {strip}, looking at {self.lane}: thread {self.thread}"]
        if self.line is not None:
            rows += self._listing(*self.line, around)
        rows.append(f"  {self.pc:#x}: {self.instruction}")
        return "\n".join(rows)

    def _why_not(self) -> str:
        """Return why the wave has no next instruction."""
        if self.has_ended:
            return "the launch has ended"
        has_begun = self._stepped.has_begun(self.block)
        return "the wave has ended" if has_begun else "the workgroup has not begun"

    def _listing(self, file: str, line: int, around: int) -> Iterator[str]:
        yield f"{PurePath(file).name}:{line}"
        stops = {each.line for each in self.breakpoints}
        for number in range(max(line - around, 1), line + around + 1):
            text = self.code.source(file, number)
            if text is not None:
                mark = "->" if number == line else "  "
                stop = "B" if (file, number) in stops else " "
                yield f"{number:>5} {stop}{mark} {text}".rstrip()


def names_of(code: CodeType) -> set[str]:
    """Return the names that code reads from around it, that of comprehensions in it included."""
    inner = (each for each in code.co_consts if isinstance(each, CodeType))
    return set(code.co_names).union(*map(names_of, inner))


def _positive(count: int) -> int:
    if count < 1:
        raise LaunchError(f"{count} times: give 1 or more")
    return count


def _element_type(array: ArrayArgument) -> np.dtype[Any]:
    known = type_of(array.dtype)
    return element_type(array) if known is None or known[1] != 1 else known[0]


def _within(what: str, number: int, extent: int) -> int:
    if not 0 <= number < extent:
        raise LaunchError(f"there is no {what} {number}: there are {extent}")
    return number
