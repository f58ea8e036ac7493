"""Random programs of streams, events, kernels, copies and functions, and a host model of them.

A program is a list of steps. Its arrays are integers: a step makes an array's value from its old
value and perhaps another's. Steps in different streams that touch one array are ordered by waits,
which `program` puts in where they are needed. So every legal order gives the same values: those of
the steps one after another.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import numpy as np

import amdjit

ARRAYS, STREAMS, LANES = 4, 3, 4
_MODULUS = 2**40


@dataclass(frozen=True)
class Step:
    """One step. waits: the streams that this one first waits for, by an event or as a whole.

    kind: append (target = 10 * target + number), add (target += source), copy (target = source),
    call (a function of the host notes the number).
    """

    kind: str
    stream: int
    target: int
    source: int
    number: int
    waits: tuple[tuple[int, str], ...] = ()


@dataclass
class _Order:
    """Vector clocks: how much of every stream's work each stream knows to be done."""

    seen: list[list[int]] = field(default_factory=lambda: [[0] * STREAMS for _ in range(STREAMS)])
    writes: dict[int, tuple[int, int]] = field(default_factory=dict)
    reads: dict[int, dict[int, int]] = field(default_factory=dict)

    def missing(self, step: Step) -> list[int]:
        """Return the streams that a step must wait for."""
        behind = self.seen[step.stream]
        before = []
        for array in arrays_of(step):
            if array in self.writes:
                before.append(self.writes[array])
        for stream, time in self.reads.get(written_by(step), {}).items():
            before.append((stream, time))
        return sorted({s for s, time in before if s != step.stream and behind[s] < time})

    def wait(self, stream: int, other: int) -> None:
        self.seen[stream] = [max(p) for p in zip(self.seen[stream], self.seen[other], strict=True)]

    def do(self, step: Step) -> None:
        clock = self.seen[step.stream]
        clock[step.stream] += 1
        now = clock[step.stream]
        for array in arrays_of(step):
            self.reads.setdefault(array, {})[step.stream] = now
        if step.kind != "call":
            self.writes[step.target] = (step.stream, now)
            self.reads[step.target] = {}


def arrays_of(step: Step) -> tuple[int, ...]:
    """Return the arrays that a step reads or writes."""
    if step.kind == "call":
        return ()
    return (step.target,) if step.kind == "append" else (step.target, step.source)


def written_by(step: Step) -> int:
    """Return the array that a step writes, -1 for none."""
    return -1 if step.kind == "call" else step.target


def program(seed: int, length: int) -> list[Step]:
    """Return a random program with the waits that it needs, and no others."""
    chance, order, steps = random.Random(seed), _Order(), []
    for number in range(1, length + 1):
        kind = chance.choice(("append", "append", "add", "copy", "call"))
        target, source = chance.sample(range(ARRAYS), 2)
        bare = Step(kind, chance.randrange(STREAMS), target, source, number)
        waits = []
        for other in order.missing(bare):
            if order.missing(bare) and other in order.missing(bare):
                order.wait(bare.stream, other)
                waits.append((other, chance.choice(("event", "timed", "stream"))))
        order.do(bare)
        steps.append(Step(kind, bare.stream, target, source, number, tuple(waits)))
    return steps


def model(steps: list[Step], times: int = 1) -> tuple[list[int], list[int]]:
    """Return what the arrays hold after a program, and the numbers that functions noted."""
    values, noted = [0] * ARRAYS, []
    for step in steps * times:
        if step.kind == "append":
            values[step.target] = (values[step.target] * 10 + step.number) % _MODULUS
        elif step.kind == "add":
            values[step.target] = (values[step.target] + values[step.source]) % _MODULUS
        elif step.kind == "copy":
            values[step.target] = values[step.source]
        else:
            noted.append(step.number)
    return values, noted


@amdjit.kernel
def append_number(x, number):
    i = amdjit.threadIdx.x
    x[i] = (x[i] * 10 + number) % 1099511627776


@amdjit.kernel
def add_array(x, y):
    i = amdjit.threadIdx.x
    x[i] = (x[i] + y[i]) % 1099511627776


class Machine:
    """The arrays and streams of a program on the current device."""

    def __init__(self) -> None:
        self.device = amdjit.current_device()
        self.streams = [amdjit.Stream() for _ in range(STREAMS)]
        zeros = np.zeros(LANES, np.int64)
        self.arrays = [amdjit.to_device(zeros) for _ in range(ARRAYS)]
        self.noted: list[int] = []

    def run(self, steps: list[Step], leave_out: int | None = None) -> None:
        """Give a program to the device; leave_out: the wait, counted through, that is forgotten."""
        waits = 0
        for step in steps:
            stream = self.streams[step.stream]
            for other, how in step.waits:
                if waits != leave_out:
                    self._wait(stream, self.streams[other], how)
                waits += 1
            self._do(step, stream)

    def _wait(self, stream: amdjit.Stream, other: amdjit.Stream, how: str) -> None:
        if how == "stream":
            stream.wait(other)
            return
        event = amdjit.Event(timing=how == "timed")
        event.record(other)
        stream.wait(event)

    def _do(self, step: Step, stream: amdjit.Stream) -> None:
        target, source = self.arrays[step.target], self.arrays[step.source]
        if step.kind == "append":
            append_number[1, LANES, stream](target, step.number)
        elif step.kind == "add":
            with stream:
                add_array[1, LANES](target, source)
        elif step.kind == "copy":
            handle = stream.handle
            self.device.copy_on_device(target.address, source.address, target.nbytes, handle)
        else:
            stream.call(lambda: self.noted.append(step.number))

    def capture(self, steps: list[Step], leave_out: int | None = None) -> amdjit.Graph:
        """Record a program as a graph; all streams fork from the first, and join it at the end."""
        first, *others = self.streams
        with first.capture() as graph:
            for other in others:
                other.wait(first)
            self.run(steps, leave_out)
            for other in others:
                first.wait(other)
        return graph

    def values(self) -> list[int]:
        """Wait, and return what the arrays hold."""
        self.device.synchronize()
        found = [array.copy_to_host() for array in self.arrays]
        assert all((lanes == lanes[0]).all() for lanes in found)
        return [int(lanes[0]) for lanes in found]
