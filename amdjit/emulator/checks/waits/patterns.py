"""Rows of hazards that are more than a pair of instructions.

VGPRs of before and after EXEC, in waves of 64 lanes (LLVM: fixVALUPartialForwardingHazard):

    v_mov_b32 v0, 1         ; not more than two vector instructions until v1 is written
    s_mov_b64 exec, s[4:5]
    v_mov_b32 v1, 2         ; not more than four until both are read
    v_add_f32 v2, v0, v1    ; may get an old value

Clauses, which the hardware may repeat where XNACK lets it (LLVM: checkSoftClauseHazards):

    s_load_dword s6, s[4:5], 0x0
    s_load_dword s4, s[4:5], 0x4    ; repeated from the first one, the address is lost
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from amdjit.emulator.checks.waits import acts
from amdjit.emulator.checks.waits.acts import Step
from amdjit.emulator.checks.waits.hazard_rows import Pattern, Row
from amdjit.emulator.checks.waits.marks import (
    GONE,
    Hit,
    Mark,
    Marks,
    Rule,
    Timed,
    hit_of,
    without_registers,
)

__all__ = ["rule_of"]


def rule_of(row: Row) -> Rule:
    """Return a row, to be applied."""
    if row.pattern is Pattern.FORWARDING:
        return _Forwarding(row)
    return _Clause(row) if row.pattern is Pattern.CLAUSE else Rule(row)


# How many vector instructions may be between the two writes, for the hazard to be one.
_AROUND_EXEC = 2
_BEFORE, _AFTER = "EXEC not yet written", "EXEC written"


class _Forwarding(Rule):
    """A mark is a write of a VGPR. Its stage is one of the two above, or, for the second write, the
    registers of the first."""

    def hits(self, timed: Timed, marks: Marks, steps: Mapping[int, Step]) -> Iterator[Hit]:
        sources = [bits for bits in timed.step.sources() if bits & self.uses(timed)]
        for key, (age, registers, without) in marks.items():
            first = key[1]
            if not isinstance(first, int):
                continue
            both = acts.union(source & registers for source in sources)
            # Two operands: parts of one are not forwarded apart.
            if both and any(source & first and not source & registers for source in sources):
                hit = hit_of(key, both, self.row.states, age, without)
                if hit is not None:
                    yield hit

    def begin(self, timed: Timed, marks: Marks, watched: int) -> Marks:
        if acts.SALU_WRITES_EXEC in timed.does:
            return {
                (pc, _AFTER if stage == _BEFORE else stage): mark
                for (pc, stage), mark in marks.items()
            }
        written = timed.does.get(self.row.first, 0)
        if not written:
            return marks
        found: Marks = {}
        first = 0
        most: Mark = (GONE, 0, {})
        lost = 0 if timed.is_vague else written
        for (pc, stage), mark in without_registers(marks, lost).items():
            if isinstance(stage, int):
                stage &= ~lost
                if not stage:
                    continue
            found[pc, stage] = mark
            if stage == _AFTER:
                first, most = self._pair(timed, first, most, mark)
        if first:
            found[timed.pc, first] = most[0], written, most[2]
        found[timed.pc, _BEFORE] = 0, written, {}
        return found

    @staticmethod
    def _pair(timed: Timed, first: int, most: Mark, mark: Mark) -> tuple[int, Mark]:
        """Add a first write to those that the second one, which an instruction is, goes with."""
        own = 1  # the instruction itself has passed already
        age = 0 if mark[0] - own <= _AROUND_EXEC else GONE
        without = {pc: 0 for pc, old in mark[2].items() if age and old - own <= _AROUND_EXEC}
        if age and not without:
            return first, most
        kept = {**most[2], **without} if age and most[0] else {}
        return first | mark[1], (min(age, most[0]), 0, kept)


# LLVM looks back as far.
_CLAUSE = 5


class _Clause(Rule):
    """A mark is an instruction of the clause, its registers those that it writes. Its stage is what
    it reads, with a bit of its own in front."""

    def __init__(self, row: Row) -> None:
        super().__init__(row)
        self.most = _CLAUSE

    def hits(self, timed: Timed, marks: Marks, steps: Mapping[int, Step]) -> Iterator[Hit]:
        now = {key: mark for key, mark in marks.items() if mark[0] < _CLAUSE}
        found = self._conflict(timed, now)
        if found is not None:
            yield Hit(found[0], found[1], 1, {})
            return
        for wait in {pc for mark in marks.values() for pc in mark[2]}:
            then = {
                key: mark
                for key, mark in marks.items()
                if min(mark[0], mark[2].get(wait, GONE)) < _CLAUSE
            }
            found = self._conflict(timed, then)
            if found is not None:
                yield Hit(found[0], found[1], 0, {wait: 1})

    @staticmethod
    def _conflict(timed: Timed, marks: Marks) -> tuple[tuple[int, object], int] | None:
        """Return what is written and read in the clause, with a mark that has to do with it."""
        step = timed.step
        writes = acts.union(mark[1] for mark in marks.values())
        if not writes:
            return None
        if step.is_store:
            key = next(key for key, mark in marks.items() if mark[1])
            return key, marks[key][1]
        reads = acts.union(_reads(key[1]) for key in marks) | step.reads
        both = (writes | step.writes) & reads
        if not both:
            return None
        concerned = (key for key, mark in marks.items() if (mark[1] | _reads(key[1])) & both)
        return next(concerned, next(iter(marks))), both

    def pass_by(self, timed: Timed, marks: Marks) -> Marks:
        found: Marks = {}
        for key, mark in marks.items():
            ends = not self.uses(timed)
            later = self.later(timed, mark, 1, ends and timed.is_pause)
            if later is not None and (timed.is_pause or not ends):
                found[key] = later[0], mark[1], later[1]
        return found

    def begin(self, timed: Timed, marks: Marks, watched: int) -> Marks:
        if not self.uses(timed):
            return marks
        step = timed.step
        return {**marks, (timed.pc, step.reads): (0, step.writes, {})}


def _reads(stage: object) -> int:
    assert isinstance(stage, int)
    return stage
