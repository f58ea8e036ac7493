"""The messages of faults at barriers: a misuse, or where each of the waves or workgroups is that
would wait forever."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from amdjit.diagnostics.notebooks import shown_file
from amdjit.emulator.launch.loader import EmulatedFunction
from amdjit.emulator.layout import BarrierMisuse
from amdjit.emulator.tiers.compilation import HostKernel

# Of an instruction that waits or sleeps.
WAIT_BYTES = 4
_Extent = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class StoppedWave:
    """Where a wave was when its launch was stopped.

    resume: the id from which it would resume, None if it has ended. named: whether it waits for the
    named barrier that it has joined (`joined`, None for none). signalled: whether it has signalled
    the workgroup's barrier, which has not completed since. end_site: where it has ended.
    """

    resume: int | None
    named: bool
    joined: int | None
    signalled: bool
    end_site: int


@dataclass(frozen=True, slots=True)
class StoppedGroup:
    """The waves of a workgroup, and the signals and members of each barrier; barrier 0 is the
    workgroup's."""

    waves: tuple[StoppedWave, ...]
    barriers: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class GroupOfGrid:
    """A workgroup of a cooperative launch. resume: the id from which its first wave that is at no
    barrier would resume, None if the workgroup has ended. end_site: where its first wave has
    ended."""

    block: _Extent
    resume: int | None
    end_site: int


NO_GROUP = StoppedGroup((), ())

_UNDEFINED = "which LLVM's document on barriers leaves undefined"
_MISUSES = {
    BarrierMisuse.NO_SUCH: "there is no barrier {name}: named barriers are 1 to 16",
    BarrierMisuse.NOT_INITIALISED: "barrier {name} is used before s_barrier_init has initialised "
    "it, " + _UNDEFINED,
    BarrierMisuse.NO_COUNT: "barrier {name} is initialised with a count that is not 1 to 127, "
    "and what that does is not documented",
    BarrierMisuse.COUNT_REACHED: "barrier {name} has as many signals as the new count of members "
    "already, " + _UNDEFINED,
    BarrierMisuse.NO_MEMBERS: "barrier {name} has no members left, " + _UNDEFINED,
    BarrierMisuse.WAIT_NOT_JOINED: "a wave waits for a named barrier and has joined none, "
    + _UNDEFINED,
    BarrierMisuse.LEAVE_NOT_JOINED: "a wave leaves a named barrier and has joined none, "
    + _UNDEFINED,
    BarrierMisuse.LEAVE_SIGNALLED: "a wave leaves barrier {name}, which it has signalled and "
    "which has not completed, " + _UNDEFINED,
    BarrierMisuse.WAIT_FOR_NULL: "a wave that has joined barrier {name} waits for barrier 0, "
    "and whether that waits is not documented",
    BarrierMisuse.ENDED_SIGNALLED: "a wave ends that has signalled the workgroup's barrier, which "
    "has not completed, " + _UNDEFINED,
    BarrierMisuse.NO_STATE: "the state of barrier {name} in a workgroup of this size is not "
    "documented",
}


def misuse_message(address: int, number: int) -> str:
    """Return what is wrong. The fault's address is a `BarrierMisuse`, its size the number of the
    barrier."""
    return _MISUSES[BarrierMisuse(address)].format(name=number - (number >> 31 << 32))


def deadlock_message(group: StoppedGroup, function: EmulatedFunction, compiled: HostKernel) -> str:
    """Return one line for each run of waves at the same place."""
    lines = [_where(wave, group, function, compiled) for wave in group.waves]
    numbers = itertools.count()
    runs = [(line, [next(numbers) for _ in run]) for line, run in itertools.groupby(lines)]
    return "".join(f"\n  {_waves(which)} {line}" for line, which in runs)


def standstill_message(
    grid: Sequence[GroupOfGrid], function: EmulatedFunction, compiled: HostKernel
) -> str:
    """Return one line for the workgroups at each place, those that have ended first."""
    places: dict[str, list[_Extent]] = {}
    for group in sorted(grid, key=lambda each: (each.resume is not None, each.block[::-1])):
        if group.resume is None:
            where = f"ended at {_place(function, compiled.site_pcs[group.end_site])}"
        else:
            pc = compiled.resume_pcs[group.resume] - WAIT_BYTES
            where = f"wait at {_place(function, pc)}"
        places.setdefault(where, []).append(group.block)
    return "".join(
        f"\n  {len(blocks)} of {len(grid)} workgroups {where}: block {blocks[0]}"
        f"{' and others' * (len(blocks) > 1)}"
        for where, blocks in places.items()
    )


def _waves(numbers: Sequence[int]) -> str:
    return (
        f"wave {numbers[0]}"
        if len(numbers) == 1
        else f"each of waves {numbers[0]} to {numbers[-1]}"
    )


def _where(
    wave: StoppedWave, group: StoppedGroup, function: EmulatedFunction, compiled: HostKernel
) -> str:
    if wave.resume is None:
        member = (
            f", and has not left barrier {wave.joined}, which it had joined" if wave.joined else ""
        )
        return f"has ended at {_place(function, compiled.site_pcs[wave.end_site])}{member}"
    place = _place(function, compiled.resume_pcs[wave.resume] - WAIT_BYTES)
    if wave.named:
        return f"waits at {place} for named barrier {wave.joined}{_counts(group, wave.joined or 0)}"
    own = "" if wave.signalled else "; this wave has not signalled it"
    return f"waits at {place} for the workgroup's barrier{_counts(group, 0)}{own}"


def _counts(group: StoppedGroup, index: int) -> str:
    signals, members = group.barriers[index]
    return f", which has {signals} of {members} signals"


def _place(function: EmulatedFunction, pc: int) -> str:
    line = function.module.code_object.line_of(pc)
    return f"{shown_file(line[0])}:{line[1]}" if line else f"pc {pc:#x}"
