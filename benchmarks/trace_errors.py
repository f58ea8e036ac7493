"""Predicted against measured cycles of traces, by what is measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from traced_runs import FRONT, MEMORY, Trace

from amdjit.cycles.program import COUNTERS, NO_WAIT, TIMINGS, Kind, Step
from amdjit.isa.traits import Timing

__all__ = ["KINDS", "Errors", "Predicted", "Sample", "errors_of", "samples_of"]

# What is compared, and how.
KINDS = {
    "ALU": "an issue of VALU or SALU to the next one, nothing given between them",
    "WMMA": "the same where one of them is a WMMA",
    "memory": "an issue of VALU or SALU to that of an LDS or memory instruction behind it",
    "loop": "one pass of a loop that nothing given interrupts",
    "LDS": "issue of the LDS instruction to the end of the wait for it",
    "barrier": "the last signal of a workgroup's waves on the SIMD to the first issue behind it",
    "branch": "a branch to the next issue",
    "kernel": "first to last issue of all waves, cold memory and code given",
}
_MATRIX = {
    TIMINGS.index(each)
    for each in (Timing.MATRIX_WIDE, Timing.MATRIX_NARROW, Timing.MATRIX_FOUR_BITS)
}
_ALU = (Kind.VALU, Kind.SALU)
_SIGNALS = (Kind.BARRIER_SIGNAL, Kind.BARRIER)
_DS = COUNTERS.index("dscnt")


# The cycle and the cause of each issue of a wave, by its step of the path.
Predicted = Mapping[int, tuple[int, str]]


@dataclass(frozen=True, slots=True)
class Sample:
    """A predicted and a measured number of cycles. kind: of `KINDS`. wave, step: where it ends."""

    kind: str
    wave: int
    step: int
    predicted: int
    measured: int

    @property
    def error(self) -> int:
        """Cycles that the prediction is too long."""
        return self.predicted - self.measured


@dataclass(frozen=True)
class Errors:
    """Of samples of one kind. predicted, measured: sums of cycles. relative: of the sums.
    absolute: all absolute errors in cycles, ascending. worst: the samples with the largest errors,
    the largest first."""

    kind: str
    count: int
    predicted: int
    measured: int
    absolute: tuple[int, ...]
    worst: tuple[Sample, ...]

    @property
    def relative(self) -> float:
        """The error of the sum, as a part of the measured one."""
        return (self.predicted - self.measured) / self.measured if self.measured else 0.0

    def within(self, cycles: int) -> float:
        """Return the part of the samples whose error is at most `cycles` cycles."""
        return sum(error <= cycles for error in self.absolute) / max(1, self.count)

    @property
    def median(self) -> float:
        """The median of the absolute errors."""
        return median(self.absolute) if self.absolute else 0.0


def errors_of(samples: Sequence[Sample], worst: int = 5) -> dict[str, Errors]:
    """Return the errors by kind, those that have samples."""
    found = {}
    for kind in KINDS:
        chosen = [sample for sample in samples if sample.kind == kind]
        if chosen:
            found[kind] = Errors(
                kind,
                len(chosen),
                predicted=sum(sample.predicted for sample in chosen),
                measured=sum(sample.measured for sample in chosen),
                absolute=tuple(sorted(abs(sample.error) for sample in chosen)),
                worst=tuple(sorted(chosen, key=lambda sample: -abs(sample.error))[:worst]),
            )
    return found


def samples_of(trace: Trace, predicted: Sequence[Predicted]) -> list[Sample]:
    """Return all samples of a trace; predicted: of each of its waves."""
    samples: list[Sample] = []
    for number, issues in enumerate(predicted):
        signalled = _signalled(trace, predicted, trace.waves[number].workgroup)
        wave = _Wave(trace, number, issues, signalled)
        samples += [*wave.gaps(), *wave.loops(), *wave.lds(), *wave.barriers()]
    ends = [max(cycle for cycle, _ in issues.values()) for issues in predicted if issues]
    if ends:
        samples.append(Sample("kernel", 0, 0, max(ends) - trace.first, trace.last - trace.first))
    return samples


class _Wave:
    """A wave whose issues are compared."""

    def __init__(
        self,
        trace: Trace,
        number: int,
        issues: Predicted,
        signalled: Sequence[tuple[int, int]],
    ) -> None:
        self.trace, self.number, self.issues = trace, number, issues
        self.signalled = signalled
        self.wave = trace.waves[number]
        self.steps = [step for step, cycle in enumerate(self.wave.measured) if cycle is not None]
        self.disturbed = {
            step for (wave, step) in trace.given.not_before if wave == number
        } | self._awaited()

    def _awaited(self) -> set[int]:
        """Return the steps that wait for memory, whose time is given."""
        found = set()
        flying = [0] * len(COUNTERS)
        for step in self.steps:
            index = self.wave.path[step]
            for counter, limit in enumerate(self.trace.table.waits[index].tolist()):
                if limit != NO_WAIT and flying[counter] > limit:
                    flying[counter] = limit
                    found.update(() if counter == _DS else (step,))
            counted = int(self.trace.table.steps[index][Step.COUNTED])
            for counter in range(len(COUNTERS)):
                flying[counter] += counted >> counter & 1
        return found

    def kind(self, step: int) -> Kind:
        """Return the kind of a step's instruction."""
        return self.trace.kind(self.wave.path[step])

    def sample(self, kind: str, first: int, last: int) -> Sample:
        """Return the cycles between the issues of two steps."""
        measured = (self.wave.measured[last] or 0) - (self.wave.measured[first] or 0)
        predicted = self.issues[last][0] - self.issues[first][0]
        return Sample(kind, self.number, last, predicted, measured)

    def gaps(self) -> Iterator[Sample]:
        """Yield the gaps from ALU instructions and branches to the next issue."""
        for first, last in zip(self.steps, self.steps[1:], strict=False):
            if last in self.disturbed:
                continue
            kinds = self.kind(first), self.kind(last)
            if kinds[0] is Kind.BRANCH:
                yield self.sample("branch", first, last)
            elif kinds[0] in _ALU and kinds[1] in _ALU:
                yield self.sample(self._unit(first, last), first, last)
            elif kinds[0] in _ALU and kinds[1] in MEMORY:
                yield self.sample("memory", first, last)

    def _unit(self, first: int, last: int) -> str:
        timings = {
            int(self.trace.table.steps[self.wave.path[step]][Step.TIMING]) for step in (first, last)
        }
        return "WMMA" if timings & _MATRIX else "ALU"

    def loops(self) -> Iterator[Sample]:
        """Yield passes of loops: from one issue of a taken backward branch to its next one."""
        begun: dict[int, int] = {}
        path = self.wave.path
        for step in self.steps:
            if step in self.disturbed:
                begun.clear()
            following = path[step + 1] if step + 1 < len(path) else None
            if self.kind(step) is not Kind.BRANCH:
                continue
            if path[step] in begun:
                yield self.sample("loop", begun[path[step]], step)
            begun.clear()
            if following is not None and following < path[step]:
                begun[path[step]] = step

    def lds(self) -> Iterator[Sample]:
        """Yield the time of LDS instructions from their issue to the end of the wait for them,
        where a wave waits visibly."""
        flying: list[int] = []
        previous: int | None = None
        for step in self.steps:
            row = self.trace.table.steps[self.wave.path[step]]
            limit = int(self.trace.table.waits[self.wave.path[step]][_DS])
            if limit != NO_WAIT and len(flying) > limit and previous is not None:
                gap = (self.wave.measured[step] or 0) - (self.wave.measured[previous] or 0)
                if gap > 4:
                    yield self.sample("LDS", flying[len(flying) - 1 - limit], step)
                del flying[: len(flying) - limit]
            if self.kind(step) is Kind.LDS and int(row[Step.COUNTED]) >> _DS & 1:
                flying.append(step)
            previous = step

    def barriers(self) -> Iterator[Sample]:
        """Yield the time from the last signal to the first issue behind the barrier."""
        signals, waits = -1, 0
        for step, index in enumerate(self.wave.path):
            kind = self.trace.kind(index)
            if kind in _SIGNALS:
                signals += 1
            if kind in (Kind.BARRIER_WAIT, Kind.BARRIER):
                waits = signals + 1
            elif waits and kind not in (*FRONT, *_SIGNALS) and self.wave.measured[step] is not None:
                measured, predicted = self.signalled[waits - 1]
                yield Sample(
                    "barrier",
                    self.number,
                    step,
                    self.issues[step][0] - predicted,
                    (self.wave.measured[step] or 0) - measured,
                )
                waits = 0


def _signalled(
    trace: Trace, predicted: Sequence[Predicted], workgroup: int
) -> list[tuple[int, int]]:
    """Return when the last of a workgroup's waves signalled, measured and predicted, in each
    phase."""
    phases: list[list[tuple[int, int]]] = []
    for wave, issues in zip(trace.waves, predicted, strict=True):
        if wave.workgroup != workgroup:
            continue
        phase = 0
        for step, (index, measured) in enumerate(zip(wave.path, wave.measured, strict=True)):
            if trace.kind(index) in _SIGNALS and measured is not None:
                if phase == len(phases):
                    phases.append([])
                phases[phase].append((measured, issues[step][0]))
                phase += 1
    return [
        (max(measured for measured, _ in phase), max(cycle for _, cycle in phase))
        for phase in phases
    ]
