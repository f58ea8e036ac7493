"""Which wave of a stepped launch runs next."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Protocol

from amdjit.emulator.scheduling.driver import Turn

__all__ = ["InOrder", "Machine", "Schedule", "Shaken"]

# How many rounds a workgroup's waves run, as long as some end or reach a barrier, before the next
# workgroup runs; and how many sweeps in which none ends before more workgroups become resident.
_ROUNDS, _IDLE_SWEEPS = 256, 256
_NOTHING = Turn(0)
# The most instructions that a wave runs before a shaken schedule interrupts it.
_LONGEST = 64


class Machine(Protocol):
    """What a schedule works with."""

    @property
    def waves(self) -> int:
        """How many waves a workgroup has."""
        ...

    @property
    def slots(self) -> int:
        """How many workgroups can be under way at the same time."""
        ...

    @property
    def together(self) -> bool:
        """Whether all workgroups must be."""
        ...

    @property
    def time(self) -> int:
        """How many instructions have begun."""
        ...

    def begin(self, slot: int) -> bool:
        """Begin the next workgroup of the grid in a slot; return whether there is one."""
        ...

    def is_vacant(self, slot: int) -> bool:
        """Return whether no workgroup is under way in a slot."""
        ...

    def run_wave(self, slot: int, wave: int, until: int | None) -> Turn | None:
        """Run a wave until it gives way, or until a time; None if the launch has stopped before.
        The turn then goes on with the next call."""
        ...

    def release(self, slot: int) -> bool | None:
        """Wake the waves that the barrier of a workgroup releases; return whether all have ended,
        None if they wait for ever, which is a fault."""
        ...


class Schedule(Protocol):
    """The order in which waves run. A copy of it goes on as it did."""

    @property
    def current(self) -> tuple[int, int]:
        """The slot and the number of the wave whose turn it is."""
        ...

    def advance(self, machine: Machine) -> bool:
        """Run the wave whose turn it is; return whether the launch goes on, False if it has stopped
        or ended."""
        ...


@dataclass
class InOrder:
    """As the emulator does on one host thread: each wave runs until it waits, ends, or has polled
    for long; workgroups come one after the other, and more of them run at a time while none
    ends."""

    backwards: bool = False
    """Whether the waves of a workgroup take their turns from the last one to the first."""
    used: int = 0
    """How many slots have been used."""
    wanted: int = 1
    """How many slots may be used."""
    slot: int = 0
    turn: int = 0
    """How many waves of the slot have had their turns in this round."""
    done: Turn = _NOTHING
    """What they did."""
    rounds: int = 0
    """How many rounds the slot has had."""
    idle: int = 0
    """Sweeps over all slots since a workgroup ended."""

    @property
    def current(self) -> tuple[int, int]:
        """The slot and the number of the wave whose turn it is. Behind the last wave comes the
        first."""
        return self.slot, -1 - self.turn if self.backwards else self.turn

    def advance(self, machine: Machine) -> bool:
        """Run the wave whose turn it is; return whether the launch goes on."""
        if self.turn == self._waves(machine):
            return self._end_round(machine)
        number = machine.waves - 1 - self.turn if self.backwards else self.turn
        turn = machine.run_wave(self.slot, number, None)
        if turn is None:
            return False
        self.done |= turn
        self.turn += 1
        return True

    def _waves(self, machine: Machine) -> int:
        self._fill(machine)
        return 0 if machine.is_vacant(self.slot) else machine.waves

    def _fill(self, machine: Machine) -> None:
        wanted = machine.slots if machine.together else min(self.wanted, machine.slots)
        while self.used < wanted and machine.begin(self.used):
            self.used += 1

    def _end_round(self, machine: Machine) -> bool:
        done, self.done, self.turn = self.done, _NOTHING, 0
        if machine.is_vacant(self.slot):
            return self._next_slot(machine)
        if done & Turn.RAN:
            self.rounds += 1
            return bool(done & Turn.MOVED and self.rounds < _ROUNDS) or self._next_slot(machine)
        has_ended = machine.release(self.slot)
        if has_ended:
            self.idle = 0
            if machine.together or not machine.begin(self.slot):
                return self._next_slot(machine)
        return has_ended is not None

    def _next_slot(self, machine: Machine) -> bool:
        """Go to the next slot; return whether any is in use."""
        self.rounds, self.slot = 0, self.slot + 1
        if self.slot >= self.used:
            self.slot, self.idle = 0, self.idle + 1
            if self.idle > _IDLE_SWEEPS:
                self.idle, self.wanted = 0, 2 * self.wanted
        return any(not machine.is_vacant(slot) for slot in range(self.used))


@dataclass
class Shaken:
    """Waves in an order that a seed decides, each for a few instructions at a time."""

    seed: int
    turns: int = 0
    """How many there have been."""
    used: int = 0
    """How many slots have been used."""
    slot: int = 0
    wave: int = 0
    until: int = -1
    """When the turn of that wave ends, -1 between turns."""
    idle: int = 0
    """How many waves of the slot, one after the other, could not run."""

    @property
    def current(self) -> tuple[int, int]:
        """The slot and the number of the wave whose turn it is."""
        return self.slot, self.wave

    def advance(self, machine: Machine) -> bool:
        """Run the wave whose turn it is; return whether the launch goes on."""
        while self.used < machine.slots and machine.begin(self.used):
            self.used += 1
        if self.until < 0 and not self._choose(machine):
            return False
        turn = machine.run_wave(self.slot, self.wave, self.until)
        if turn is None:
            return False
        if turn & Turn.RAN:
            self.until, self.idle = -1, 0
            return True
        self.idle, self.wave = self.idle + 1, (self.wave + 1) % machine.waves
        if self.idle < machine.waves:
            return True
        self.until, self.idle = -1, 0
        has_ended = machine.release(self.slot)
        if has_ended and not machine.together:
            machine.begin(self.slot)
        return has_ended is not None

    def _choose(self, machine: Machine) -> bool:
        live = [slot for slot in range(self.used) if not machine.is_vacant(slot)]
        if live:
            order = random.Random(f"{self.seed} {self.turns}")
            self.turns += 1
            self.slot, self.wave = order.choice(live), order.randrange(machine.waves)
            self.until = machine.time + order.randint(1, _LONGEST)
        return bool(live)
