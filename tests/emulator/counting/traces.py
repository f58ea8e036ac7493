"""The oracle of the counters: a trace of every instruction that each wave executes, with EXEC and
the addresses of each access, from which Python counts again.

The trace is made in the same launch, by an instrument that shares nothing with the counters.
"""

from __future__ import annotations

import itertools
import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

import amdjit
from amdjit.emulator.checks.lane_addresses import lane_addresses
from amdjit.emulator.counting.instrument import CountingInstrument
from amdjit.emulator.counting.lds_banks import bank_cycles
from amdjit.emulator.counting.session import CountingSession
from amdjit.emulator.host.builder import Value, constant
from amdjit.emulator.host.function import NativeFunction, i64
from amdjit.emulator.host.native_sources import NativeSources
from amdjit.emulator.layout import Context, Launch
from amdjit.emulator.wave.frame import CONTEXT, AccessKind, Frame, Instrument, MemoryAccess
from amdjit.isa.instruction import Instruction
from amdjit.isa.register_numbers import EXEC_LO
from amdjit.profiling.profile import LaunchProfile

LINE = 128
_ROW = 40
_CAPACITY = 200_000
_SPACES = "svlpfk"
_SHARED, _PRIVATE = 0x01000000, 0x02000000
_NUMBERS = itertools.count()

Key = tuple[int, int]


def _row_text(attributes: str) -> str:
    """Return `aj_test_row`: append a row to a trace."""
    f = NativeFunction(
        "aj_test_row",
        "void",
        [
            ("ptr", "context"), ("ptr", "trace"), ("i64", "tag"), ("i64", "a"), ("i64", "b"),
            ("i64", "c"), ("ptr", "addresses"),
        ],
    )  # fmt: skip
    trace = f.parameter("trace")
    number = f.atomic("add", trace, i64(1))
    with f.unless(f.compare("ult", number, i64(_CAPACITY))):
        f.give()
    row = f.offset(f.load("ptr", f.offset(trace, 8), 8), f.mul(number, i64(_ROW * 8)))
    launch = f.thread.follow(Context.LAUNCH)
    column = f.add(
        f.context(Context.GROUP_Y), f.mul(f.context(Context.GROUP_Z), launch.get(Launch.GRID_Y))
    )
    group = f.add(f.context(Context.GROUP_X), f.mul(column, launch.get(Launch.GRID_X)))
    values = [group, f.context(Context.WAVE), *(f.parameter(name) for name in ("tag", *"abc"))]
    for place, value in enumerate(values):
        f.store(value, f.offset(row, 8 * place), 8)
    with f.unless(f.compare("eq", f.cast("ptrtoint", f.parameter("addresses"), "i64"), i64(0))):
        f.copy(f.offset(row, 64), f.parameter("addresses"), 256)
    f.give()
    return f.text(attributes)


_NATIVES = NativeSources({"aj_test_row": _row_text})


@dataclass
class Memory:
    """The rows of one trace, in the order in which host code wrote them."""

    rows: NDArray[np.int64] = field(default_factory=lambda: np.zeros((_CAPACITY, _ROW), np.int64))
    header: NDArray[np.int64] = field(default_factory=lambda: np.zeros(2, np.int64))

    def __post_init__(self) -> None:
        self.header[1] = self.rows.ctypes.data

    def taken(self) -> NDArray[np.int64]:
        count = int(self.header[0])
        assert count <= _CAPACITY, "the trace is too short for this kernel"
        return self.rows[:count]


def _instrument(memory: Memory) -> type[Instrument]:
    """Make an instrument that writes to a trace; its address is part of the code."""
    trace = Value("ptr", f"inttoptr (i64 {memory.header.ctypes.data} to ptr)")
    place = Value("ptr", "%test.addresses")
    null = Value("ptr", "null")

    class Trace(Instrument):
        name = f"trace {os.getpid()} {next(_NUMBERS)}"

        def entry(self, frame: Frame) -> None:
            frame.builder.reserve(place, "<32 x i64>")

        def _row(self, frame: Frame, tag: int, values: Sequence[Value], addresses: Value) -> None:
            wide = [frame.builder.resize(value, 64) for value in values]
            arguments = [CONTEXT, trace, constant("i64", tag), *wide, addresses]
            frame.native_void("aj_test_row", arguments)

        def before(self, frame: Frame, instruction: Instruction) -> None:
            registers = frame.registers
            halves = [registers.scalar(EXEC_LO + half) for half in range(registers.halves)]
            zero = constant("i64", 0)
            self._row(frame, instruction.pc * 2, [*halves, zero, zero][:3], null)

        def accessed(self, frame: Frame, instruction: Instruction, access: MemoryAccess) -> None:
            b = frame.builder
            if access.space == "p":
                wide = b.resize(b.add(access.address[0], b.splat(access.address[1])), 64)
            else:
                wide = lane_addresses(b, access)
            b.store(wide, place, 64)
            what = frame.registers.wave_half | access.kind << 1
            what |= _SPACES.index(access.space) << 4
            sizes = access.size | access.element << 16
            self._row(
                frame,
                instruction.pc * 2 + 1,
                [constant("i64", what), constant("i64", sizes), access.lanes],
                place,
            )

    return Trace


@contextmanager
def traced() -> Iterator[Memory]:
    """Trace the profiled launches of a block."""
    memory = Memory()
    before = CountingSession.instruments, CountingSession.natives
    CountingSession.instruments = (CountingInstrument, _instrument(memory))
    CountingSession.natives = (*before[1], _NATIVES)
    try:
        yield memory
    finally:
        CountingSession.instruments, CountingSession.natives = before


@dataclass
class Access:
    """One access of a half wave. addresses: of the active lanes by their number in the half."""

    half: int
    kind: AccessKind
    space: str
    size: int
    element: int
    addresses: dict[int, int]

    @classmethod
    def read(cls, row: NDArray[np.int64]) -> Access:
        what, sizes, lanes = (int(value) for value in row[3:6])
        addresses = {n: int(row[8 + n]) & (1 << 64) - 1 for n in range(32) if lanes >> n & 1}
        space = _SPACES[what >> 4]
        if space == "k" and addresses[0] == 0:
            addresses = {}
        size, element = sizes & 0xFFFF, sizes >> 16
        return cls(what & 1, AccessKind(what >> 1 & 7), space, size, element or size, addresses)

    def parts(self, wave_lanes: int) -> Iterator[tuple[str, int, dict[int, int]]]:
        """Yield the places in memory and LDS, with the bytes of a lane."""
        shared = {n: a & 0xFFFFFFFF for n, a in self.addresses.items() if self._is(a, _SHARED)}
        private = {n: a & 0xFFFFFFFF for n, a in self.addresses.items() if self._is(a, _PRIVATE)}
        others = {n: a for n, a in self.addresses.items() if n not in shared and n not in private}
        if self.space == "p":
            private, others = others, {}
        if self.space == "l":
            shared, others = others, {}
        for first in range(0, self.size, self.element):
            yield "LDS", self.element, {n: a + first for n, a in shared.items()}
        yield "memory", self.size, others
        for first in range(0, self.size, 4):
            yield (
                "memory",
                min(4, self.size),
                {
                    n: _swizzled(a + first, n + 32 * self.half, wave_lanes)
                    for n, a in private.items()
                },
            )

    def _is(self, address: int, aperture: int) -> bool:
        return self.space == "f" and address >> 32 == aperture


def _swizzled(offset: int, lane: int, wave_lanes: int) -> int:
    return (1 << 60) + offset // 4 * wave_lanes * 4 + lane * 4 + offset % 4


@dataclass
class Step:
    """An instruction that a wave has executed."""

    pc: int
    active: int
    accesses: list[Access] = field(default_factory=list)

    def request(self, wave_lanes: int) -> dict[str, int]:
        """Count what it has accessed."""
        lanes: set[tuple[int, int]] = set()
        lines: set[int] = set()
        atomic: list[tuple[str, int]] = []
        counts: dict[str, int] = defaultdict(int)
        for access in self.accesses:
            lanes |= {(access.half, lane) for lane in access.addresses}
            for where, size, addresses in access.parts(wave_lanes):
                if not addresses:
                    continue
                counts["bytes"] += size * len(addresses)
                is_atomic = access.kind is AccessKind.ATOMIC
                if is_atomic:
                    atomic += [(where, address) for address in addresses.values()]
                if where == "memory":
                    for address in addresses.values():
                        lines |= set(range(address // LINE, (address + size - 1) // LINE + 1))
                else:
                    slots = [addresses.get(lane) for lane in range(32)]
                    cycles = bank_cycles(slots, size, atomic=is_atomic)
                    counts["lds_cycles"] += cycles.cycles
                    counts["lds_conflict_cycles"] += cycles.conflicts
        counts["requests"] = int(bool(lanes))
        counts["lanes"], counts["cache_lines"] = len(lanes), len(lines)
        counts["contention"] = len(atomic) - len(set(atomic))
        return counts


def steps_of(memory: Memory) -> dict[Key, list[Step]]:
    """Return what each wave of each workgroup has executed, in order."""
    waves: dict[Key, list[Step]] = defaultdict(list)
    for row in memory.taken():
        pc, is_access = divmod(int(row[2]), 2)
        steps = waves[int(row[0]), int(row[1])]
        if is_access:
            assert steps[-1].pc == pc
            steps[-1].accesses.append(Access.read(row))
        else:
            active = sum(bin(int(bits) & 0xFFFFFFFF).count("1") for bits in row[3:5])
            steps.append(Step(pc, active))
    return waves


FIELDS = (
    "executions", "active_lanes", "taken", "requests", "bytes", "cache_lines", "lds_cycles",
    "lds_conflict_cycles", "contention",
)  # fmt: skip


def expected_counts(
    waves: dict[Key, list[Step]], launch: LaunchProfile
) -> dict[int, dict[str, int]]:
    """Count a trace, by address."""
    addresses = [counts.address for counts in launch.instructions]
    following = dict(itertools.pairwise(addresses))
    found: dict[int, dict[str, int]] = {pc: dict.fromkeys(FIELDS, 0) for pc in addresses}
    for steps in waves.values():
        for step, after in zip(steps, [*steps[1:], None], strict=True):
            counts = found[step.pc]
            counts["executions"] += 1
            counts["active_lanes"] += step.active
            branches = after is not None and after.pc != following.get(step.pc)
            counts["taken"] += branches
            for name, value in step.request(launch.wave_size).items():
                if name in counts:
                    counts[name] += value
    return found


def check_launch(launch: LaunchProfile, memory: Memory) -> None:
    """Compare what a launch has counted and recorded with its trace."""
    waves = steps_of(memory)
    assert len(waves) == launch.waves
    expected = expected_counts(waves, launch)
    found = {
        counts.address: {name: getattr(counts, name) for name in FIELDS}
        for counts in launch.instructions
    }
    assert found == expected
    check_recording(launch, waves)


def check_recording(launch: LaunchProfile, waves: dict[Key, list[Step]]) -> None:
    """Compare the recorded waves with their traces."""
    recording = launch.recording
    assert recording is not None
    for group in recording.workgroups:
        for number, wave in enumerate(group.waves):
            steps = waves[group.number, number]
            path = recording.addresses[wave.path].tolist()
            assert path == [step.pc for step in steps]
            for step, request in zip(steps, wave.request.tolist(), strict=True):
                wanted = step.request(launch.wave_size)
                if not wanted["requests"]:
                    assert request == -1
                    continue
                lanes, asked, cycles, first, end = recording.requests[request].tolist()
                assert (lanes, asked, cycles, end - first) == (
                    wanted["lanes"], wanted["bytes"], wanted["lds_cycles"], wanted["cache_lines"]
                )  # fmt: skip
                assert len(set(recording.lines[first:end].tolist())) == end - first


def profiled_and_traced(run: Callable[[], Any], workgroups: int | None = None) -> LaunchProfile:
    """Run a launch, traced, and compare; run it again, counted alone, and compare the counts.

    Return the profile of the traced one.
    """
    with traced() as memory, amdjit.profile(workgroups=workgroups) as p:
        run()
    (launch,) = p.launches
    check_launch(launch, memory)
    with amdjit.profile(workgroups=0) as again:
        run()
    assert as_numbers(again.launches[0]) == as_numbers(launch)
    assert again.launches[0].distinct_lines == launch.distinct_lines
    return launch


def as_numbers(launch: LaunchProfile) -> list[tuple[int, ...]]:
    """Return all counts by instruction."""
    return [tuple(getattr(counts, name) for name in FIELDS) for counts in launch.instructions]
