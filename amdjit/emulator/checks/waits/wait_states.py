"""Hazards of machine code: what comes too soon after what, on any path, by the rows of
`hazard_rows`.

The state before an instruction says, for each row, which instructions have begun a hazard and how
much has passed since, on the path with the fewest (`marks`). As LLVM does, it begins anew in
functions and behind calls, but for the rows that say otherwise; where the targets of branches
through registers are given, it goes on there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

from amdjit.emulator.checks.waits.acts import SALU_WRITES_EXEC, Act, Step, name_of
from amdjit.emulator.checks.waits.hazard_rows import ROWS, Clock, End, Pattern, Row
from amdjit.emulator.checks.waits.marks import (
    Hit,
    Marks,
    Rule,
    Timed,
    is_pause,
    merged,
    states_of,
    waited_by,
)
from amdjit.emulator.checks.waits.patterns import rule_of
from amdjit.emulator.checks.waits.search import MissingWait
from amdjit.isa.analysis.control_flow import Graph
from amdjit.isa.analysis.indexed_registers import indexed_instructions
from amdjit.isa.instruction import Instruction
from amdjit.isa.text import disassemble
from amdjit.isa.traits import Unit

__all__ = ["WaitStates", "find_wait_states", "missing_wait_states"]

# What one s_nop makes at most (CDNA 3 ISA, S_NOP).
_NOP = 16


@dataclass(frozen=True, slots=True)
class WaitStates:
    """The hazards of a kernel: what is missing, and what is there for a reason.

    missing: one for each instruction that comes too soon, and for each that it must not follow, in
    the order of addresses. needed: how much of each wait, `s_nop` and `v_nop` is needed, in wait
    states or as 1; those of which nothing is needed are not there.
    """

    missing: tuple[MissingWait, ...]
    needed: Mapping[int, int]


def missing_wait_states(graph: Graph) -> tuple[MissingWait, ...]:
    """Return what comes too soon, one for each instruction and each that it must not follow, in the
    order of addresses."""
    return find_wait_states(graph).missing


def find_wait_states(
    graph: Graph,
    without: Mapping[int, int] | None = None,
    rows: Iterable[Row] = ROWS,
    targets: Mapping[int, Sequence[int]] | None = None,
) -> WaitStates:
    """Return the hazards of a kernel. without: the wait states that instructions have in place of
    their own; 0 turns a wait off. rows: what is looked for. targets: where each branch
    through a register goes, by its address; with it, hazards go on into functions and out of
    them, and where M0 chooses registers, no write is sure."""
    analysis = _Analysis(graph, without or {}, rows, targets)
    for pc, state in sorted(analysis.solve().items()):
        analysis.note(pc, state)
    return WaitStates(
        tuple(analysis.missing[key][1] for key in sorted(analysis.missing)), analysis.needed
    )


# For each row by its number: the registers to which `after` has been done, and the marks.
_State = dict[int, tuple[int, Marks]]


class _Analysis:
    def __init__(
        self,
        graph: Graph,
        without: Mapping[int, int],
        rows: Iterable[Row],
        targets: Mapping[int, Sequence[int]] | None,
    ) -> None:
        self._graph = graph
        self._without = without
        self._targets = targets
        vague = () if targets is None else indexed_instructions(graph)
        self._vague = {instruction.pc for instruction in vague}
        steps = {
            item.pc: Step.of(item) for block in graph.blocks.values() for item in block.instructions
        }
        self._steps = steps
        self._timed, self._rules = self._prepare([row for row in rows if _is_of(row, graph)])
        self.missing: dict[tuple[int, int], tuple[int, MissingWait]] = {}
        self.needed: dict[int, int] = {}

    def _prepare(self, rows: list[Row]) -> tuple[dict[int, Timed], list[Rule]]:
        """Return the instructions with what they do, and the rows whose both sides are there."""
        acts = {act for row in rows for act in _acts(row)}
        timed = {pc: self._time(step, acts) for pc, step in self._steps.items()}
        done = {act for each in timed.values() for act in each.does}
        return timed, [rule_of(row) for row in rows if {row.first, row.then} <= done]

    def _time(self, step: Step, acts: set[Act]) -> Timed:
        instruction = step.instruction
        states, waited = states_of(instruction), waited_by(instruction)
        if instruction.pc in self._without:
            states = self._without[instruction.pc]
            waited = waited if states else End.NONE
        return Timed(
            step,
            {act: bits for act in acts if (bits := act.find(step))},
            _ends(step),
            waited,
            states,
            is_pause(instruction),
            instruction.pc in self._vague,
        )

    def solve(self) -> dict[int, _State]:
        """Return the state at each reachable block's start."""
        graph = self._graph
        states: dict[int, _State] = {graph.entry: {}}
        work = [graph.entry]
        while work and self._rules:
            block = graph.blocks[heappop(work)]
            state = dict(states[block.pc])
            for instruction in block.instructions:
                self._pass(self._timed[instruction.pc], state)
            last = block.instructions[-1]
            successors: Sequence[int] = block.successors
            if self._targets is not None:
                successors = self._targets.get(last.pc, successors)
            elif last.traits.flow.is_call or last.traits.flow.is_indirect:
                state = self._across_functions(state)
            for successor in successors:
                if successor not in graph.blocks or not _merge(states, successor, state):
                    continue
                if successor not in work:
                    heappush(work, successor)
        return states

    def _across_functions(self, state: _State) -> _State:
        """Return what goes into functions and comes out of them."""
        return {
            number: known
            for number, known in state.items()
            if self._rules[number].row.crosses_functions
        }

    def note(self, pc: int, state: _State) -> None:
        """Note what is missing and needed in a block that starts in a state."""
        state = dict(state)
        for instruction in self._graph.blocks[pc].instructions:
            for rule, hit in self._pass(self._timed[instruction.pc], state):
                for wait, states in hit.needs.items():
                    self.needed[wait] = max(states, self.needed.get(wait, 0))
                if hit.missing:
                    self._note_missing(rule.row, self._steps[instruction.pc], hit)

    def _note_missing(self, row: Row, step: Step, hit: Hit) -> None:
        key = step.instruction.pc, hit.key[0]
        known = self.missing.get(key)
        if known is None or known[0] < hit.missing:
            first = self._steps[hit.key[0]].instruction
            self.missing[key] = hit.missing, _missing_wait(row, step.instruction, first, hit)

    def _pass(self, timed: Timed, state: _State) -> list[tuple[Rule, Hit]]:
        """Change a state to the one after an instruction, and return what it comes too soon after,
        which is reported only there."""
        found: list[tuple[Rule, Hit]] = []
        for number, rule in enumerate(self._rules):
            watched, marks = state.get(number, (0, {}))
            row = rule.row
            if marks:
                if row.then in timed.does:
                    hits = list(rule.hits(timed, marks, self._steps))
                    found += [(rule, hit) for hit in hits]
                    early = {hit.key for hit in hits if hit.missing}
                    marks = {key: mark for key, mark in marks.items() if key not in early}
                marks = rule.pass_by(timed, marks)
            if row.after is not None:
                watched, marks = _watch(rule, timed, watched, marks)
            else:
                marks = rule.begin(timed, marks, 0)
            if watched or marks:
                state[number] = watched, marks
            else:
                state.pop(number, None)
        return found


def _watch(rule: Rule, timed: Timed, watched: int, marks: Marks) -> tuple[int, Marks]:
    """Return the registers to which `after` has been done, and the marks, after an instruction."""
    row = rule.row
    assert row.after is not None
    read = timed.does.get(row.after, 0)
    if row.forgets_after:
        marks = rule.begin(timed, marks, watched)
        lost = 0 if timed.is_vague else timed.step.writes
        return watched & ~lost | read, marks
    return watched | read, rule.begin(timed, marks, watched | read)


def _is_of(row: Row, graph: Graph) -> bool:
    """Whether code of this kind may have a hazard."""
    first = graph.blocks[graph.entry].instructions[0]
    if first.opcode.instruction_set.name not in row.processors:
        return False
    if row.pattern is Pattern.CLAUSE and not graph.repeats_clauses:
        return False
    return not row.only_wave64 or graph.wave_size == 64


def _acts(row: Row) -> set[Act]:
    found = {row.first, row.then, row.after, row.between, row.forgets, row.ended_by}
    if row.pattern is Pattern.FORWARDING:
        found.add(SALU_WRITES_EXEC)
    return {act for act in found if act is not None}


def _ends(step: Step) -> End:
    found = End.MEMORY if step.is_memory else End.NONE
    instruction = step.instruction
    if step.is_valu and not is_pause(instruction):
        found |= End.VALU
    access = instruction.traits.memory
    is_buffer = access is not None and access.has_descriptor
    if instruction.traits.unit is Unit.SCALAR_MEMORY or (step.is_vmem and is_buffer):
        found |= End.SCALAR_OR_BUFFER
    return found


def _merge(states: dict[int, _State], target: int, new: _State) -> bool:
    """Add a path's state to a block's; return whether that changed it."""
    old = states.get(target)
    if old is None:
        states[target] = dict(new)
        return True
    changed = False
    for number, (watched, marks) in new.items():
        known_watched, known = old.get(number, (0, {}))
        both = dict(known)
        for key, mark in marks.items():
            both[key] = merged(known[key], mark) if key in known else mark
        if watched | known_watched != known_watched or both != known:
            old[number] = watched | known_watched, both
            changed = True
    return changed


# What is reported.


def _missing_wait(row: Row, use: Instruction, first: Instruction, hit: Hit) -> MissingWait:
    return MissingWait(
        use.pc,
        disassemble(use),
        register=name_of(hit.registers),
        overwrites=row.then.writes,
        load_pc=first.pc,
        load_text=disassemble(first),
        wait=_cure(row, use, hit.missing),
        under_way="writing" if row.first.writes else "reading",
        hazard=row.name,
    )


_DEPENDENCY = {
    End.VA_VDST: "depctr_va_vdst",
    End.VA_SDST: "depctr_va_sdst",
    End.VA_VCC: "depctr_va_vcc",
    End.SA_SDST: "depctr_sa_sdst",
    End.VM_VSRC: "depctr_vm_vsrc",
}


def _cure(row: Row, use: Instruction, missing: int) -> str:
    """Return what is missing between the two instructions."""
    for end, name in _DEPENDENCY.items():
        if row.ends & end:
            is_old = use.opcode.instruction_set.family == "gfx11"
            return f"{'s_waitcnt_depctr' if is_old else 's_wait_alu'} {name}(0)"
    if row.clock is Clock.STATES:
        return _nops(missing)
    if row.clock is Clock.VALU:
        return " and ".join(["v_nop"] * missing)
    return "a vector instruction other than v_nop"


def _nops(states: int) -> str:
    whole = ["s_nop 15"] * (states // _NOP)
    return " and ".join([*whole, *([f"s_nop {states % _NOP - 1}"] if states % _NOP else [])])
