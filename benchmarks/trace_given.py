"""What the cycle model is told of a trace, because it does not predict it."""

from __future__ import annotations

from bisect import bisect_left

from traced_runs import FRONT, NEVER, Given, Place, Trace

from amdjit.cycles.program import COUNTERS, NO_WAIT, Kind, Step

__all__ = ["given_of"]

# Bytes of a line of code; cold code comes in several lines at once.
FETCHED_BYTES = 64
# A gap counts as given only if it is longer than what the model itself would say.
WAITED, REFUSED, FETCHED, FETCHED_AGAIN = 2, 4, 40, 1000


def given_of(trace: Trace) -> Given:
    """Return what the model is told of a trace."""
    return _Giver(trace).give()


class _Giver:
    """Takes from a trace what the model does not predict."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.given = Given()
        self.transfers = self._transfers()

    def give(self) -> Given:
        """Return what the model is told."""
        for number in range(len(self.trace.waves)):
            self._latencies(number)
        self._code()
        self._refusals()
        self._refused_issues()
        for number, wave in enumerate(self.trace.neighbours, len(self.trace.waves)):
            for step, cycle in enumerate(wave.measured):
                self.given.not_before[number, step] = cycle or 0
        return self.given

    def _transfers(self) -> dict[Place, int]:
        """Return when each LDS and memory instruction's operands were transferred: the events of a
        unit come in the order of issue."""
        found = {}
        for kind, events in self.trace.executions.items():
            issued = sorted(
                (cycle, place)
                for place, index, cycle in self.trace.issues()
                if self.trace.kind(index) is kind
            )
            if len(issued) == len(events):
                found |= {place: at for (_, place), at in zip(issued, events, strict=True)}
        return found

    def _latencies(self, number: int) -> None:
        """A wait that takes visibly longer than an instruction says when that came back for which
        it waited."""
        trace, wave = self.trace, self.trace.waves[number]
        flying: tuple[list[int], ...] = tuple([] for _ in COUNTERS)
        # On CDNA a wait goes on in the quantum after the instruction before it.
        quantum = trace.quantum
        usual = WAITED - 1 if quantum == 1 else 0
        previous, after = NEVER, 0
        for step, (index, cycle) in enumerate(zip(wave.path, wave.measured, strict=True)):
            if cycle is None:
                continue
            for counter, limit in enumerate(trace.table.waits[index]):
                if limit != NO_WAIT and len(flying[counter]) > limit:
                    awaited = flying[counter][len(flying[counter]) - 1 - int(limit)]
                    if cycle > previous + after + usual:
                        self._give_latency((number, awaited), cycle, cycle - previous - after)
                    del flying[counter][: len(flying[counter]) - int(limit)]
            row = trace.table.steps[index]
            for counter, counted in enumerate(flying):
                if int(row[Step.COUNTED]) >> counter & 1:
                    counted.append(step)
            after = quantum if quantum > 1 or trace.kind(index) in FRONT else 3
            previous = cycle

    def _give_latency(self, place: Place, passed: int, waited: int) -> None:
        number, step = place
        wave = self.trace.waves[number]
        index, issued = wave.path[step], wave.measured[step]
        kind = self.trace.kind(index)
        if kind is Kind.LDS or place in self.given.latency or issued is None:
            return
        sent = issued
        if kind is Kind.VECTOR_MEMORY:
            start = self.transfers.get(place, issued + int(self.trace.values["transfer start"]))
            sent = start + int(self.trace.table.steps[index][Step.TRANSFER]) * self.trace.quantum
        self.given.latency[place] = max(0, passed - sent)
        self.given.cycles["memory"] += waited

    def _code(self) -> None:
        """The first wave that comes to a line of code waits for it; others that come before it is
        there wait, too. A very long gap is code's also where another wave has been."""
        arrived: dict[int, int] = {}
        touched: set[int] = set()
        seen: set[tuple[int, int]] = set()
        previous: dict[int, int] = {}
        for place, index, cycle in sorted(self.trace.issues(), key=lambda found: found[2]):
            number, line = place[0], self._line(index)
            gap = cycle - previous.get(number, cycle)
            previous[number] = cycle
            is_first = (number, line) not in seen
            seen.add((number, line))
            if not is_first and gap <= FETCHED_AGAIN:
                continue
            if self.trace.kind(index) is Kind.WAIT:
                touched.add(line)
                continue
            if gap > (FETCHED_AGAIN if line in touched else FETCHED):
                arrived[line] = cycle
                self.given.cycles["code"] += gap
            touched.add(line)
            if line in arrived:
                self.given.not_before[place] = arrived[line]

    def _line(self, index: int) -> int:
        table = self.trace.table
        last = int(table.addresses[index]) + int(table.steps[index][Step.SIZE]) - 1
        return (self.trace.base + last) // FETCHED_BYTES

    def _refused_issues(self) -> None:
        """Instructions that the trace marks as stalled at their issue: those of memory for longer
        than the vector ALU's results take to memory; others, which no other wave of the SIMD can
        hold up, for longer than code that is there."""
        for number, wave in enumerate(self.trace.waves):
            for step in sorted(wave.refused):
                place = number, step
                cycle, before = wave.measured[step], wave.measured[step - 1]
                if cycle is None or before is None or place in self.given.not_before:
                    continue
                is_memory = self.trace.kind(wave.path[step]) is Kind.VECTOR_MEMORY
                usual = self.trace.values["valu done"] if is_memory else FETCHED
                if cycle - before > usual:
                    self.given.not_before[place] = cycle
                    cause = "memory refuses" if is_memory else "code"
                    self.given.cycles[cause] += cycle - before

    def _refusals(self) -> None:
        """Transfers to vector memory that begin later than the path is free."""
        kind = Kind.VECTOR_MEMORY
        own = sorted(
            (at, place, cycle, int(self.trace.table.steps[index][Step.TRANSFER]))
            for place, index, cycle in self.trace.issues()
            if self.trace.kind(index) is kind and (at := self.transfers.get(place)) is not None
        )
        sizes = [
            int(self.trace.table.steps[index][Step.TRANSFER])
            for wave in self.trace.neighbours
            for index in wave.path
            if self.trace.kind(index) is kind
        ]
        usual = max(sizes, default=1)
        events = sorted(
            [(at, dwords) for at, _, _, dwords in own]
            + [(at, usual) for at in self.trace.neighbour_executions[kind]]
        )
        starts = [at for at, _ in events]
        for at, place, issued, _ in own:
            before = bisect_left(starts, at) - 1
            free = events[before][0] + events[before][1] if before >= 0 else NEVER
            expected = max(issued + int(self.trace.values["transfer start"]), free)
            if at > expected + REFUSED:
                self.given.transfer_not_before[place] = at
                self.given.cycles["memory refuses"] += at - expected
