"""Cycles of a loop from its instructions alone: the steady state of its longest way around."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from amdjit.cycles.chip import chip_of
from amdjit.cycles.errors import NoEstimate
from amdjit.cycles.parameter_file import file_assumption, values_of
from amdjit.cycles.program import Kind, ProgramTable, Step, program_table
from amdjit.cycles.rows import program_of
from amdjit.cycles.simulation import GroupRun, WaveRun, simulate
from amdjit.isa.analysis.control_flow import branch_target
from amdjit.isa.instruction import Instruction
from amdjit.isa.traits import Flow
from amdjit.target import Target

__all__ = ["LoopCycles", "loop_cycles"]

# Iterations before the steady state, and those over which cycles are averaged: patterns of several
# waves repeat after a few.
_WARM, _MEASURED = 32, 64
_SIMDS = 4
_ASSUMED = "Vector memory hits the compute unit's cache, whose latency is assumed."
_NOT_SKIPPED = "Of the ways around the loop, each iteration takes the longest."
_CONFLICT_FREE = "No banks of LDS conflict."


@dataclass(frozen=True, slots=True)
class LoopCycles:
    """Cycles of one iteration in which `waves` waves of a SIMD run the loop together, on average.
    assumptions: sentences that say on what the figure rests that no measurement covers."""

    cycles: float
    waves: int
    assumptions: tuple[str, ...]


def loop_cycles(
    body: Sequence[Instruction],
    target: Target,
    waves: int = 1,
    wave_size: int = 32,
    values: Mapping[str, float] | None = None,
    header: int | None = None,
) -> LoopCycles:
    """Return the cycles of an iteration of a loop in its steady state, on the longest way around.

    body: the instructions, by address. header: the address at which iterations begin, None for the
    first one. waves: of each SIMD of the workgroup processor; all belong to one workgroup.
    values: of the model's parameters, by name; None: those of AMDJIT_CYCLE_PARAMETERS, or of the
    table. NoEstimate for processors that the model does not
    know, an empty body, and one with a loop or a call inside.
    """
    chip_of(target)
    file = None
    if values is None:
        values, file = values_of(target)
    table = program_table(body)
    if not body:
        raise NoEstimate("the loop has no instructions")
    way, skips = longest_way(body, body[0].pc if header is None else header)
    program = program_of(table, values, wave_size)
    latencies = _latencies(table, values) // program.quantum

    def end(iterations: int) -> int:
        """Return when all waves have run this number of iterations."""
        path = np.tile(np.array(way, np.int32), iterations)
        run = WaveRun(path, done=np.tile(latencies[way], iterations))
        simds = tuple(number % _SIMDS for number in range(waves * _SIMDS))
        return max(wave.end for wave in simulate(program, [GroupRun((run,) * len(simds), simds)]))

    cycles = (end(_WARM + _MEASURED) - end(_WARM)) / _MEASURED
    return LoopCycles(cycles, waves, (*file_assumption(file), *_assumptions(table, skips)))


def _latencies(table: ProgramTable, values: Mapping[str, float]) -> NDArray[np.int64]:
    kinds = table.steps[:, Step.KIND]
    latencies: NDArray[np.int64] = np.zeros(len(table), np.int64)
    latencies[kinds == Kind.VECTOR_MEMORY] = int(values["vector cache latency"])
    latencies[kinds == Kind.SCALAR_MEMORY] = int(values["scalar cache latency"])
    return latencies


def _assumptions(table: ProgramTable, skips: bool) -> tuple[str, ...]:
    kinds = set(table.steps[:, Step.KIND].tolist())
    found = [_NOT_SKIPPED] if skips else []
    if Kind.VECTOR_MEMORY in kinds:
        found.append(_ASSUMED)
    if Kind.LDS in kinds:
        found.append(_CONFLICT_FREE)
    return tuple(found)


# The longest way around a loop: what an iteration executes if it skips nothing.

_PASSED = (Flow.NEXT, Flow.JUMP, Flow.CONDITIONAL, Flow.BARRIER, Flow.SLEEP)
_OPEN = -1


def longest_way(body: Sequence[Instruction], header: int) -> tuple[list[int], bool]:
    """Return the numbers of the instructions of an iteration that has the most of them, in the
    order of execution, and whether others have fewer.

    body: the loop's instructions by address. header: the address at which an iteration begins.
    NoEstimate if there is no way around, if a loop or a call is inside.
    """
    places = {instruction.pc: number for number, instruction in enumerate(body)}
    if header not in places:
        raise NoEstimate("the loop has no instructions")
    start = places[header]
    # Of each instruction: how many are left of the iteration, and the next one; 0 without a way.
    left: dict[int, int] = {}
    after: dict[int, int] = {}
    work = [start]
    while work:
        number = work[-1]
        following = _following(body[number], places)
        if number not in left:
            left[number] = _OPEN
            new = [other for other in following if other != start]
            if any(left.get(other) == _OPEN for other in new):
                raise _branches_inside(body[number])
            work += [other for other in new if other not in left]
            continue
        work.pop()
        if left[number] == _OPEN:
            _close(number, following, start, left, after)
    if not left[start]:
        raise NoEstimate("no way through the loop leads back to where it begins")
    way = [start]
    while after[way[-1]] != start:
        way.append(after[way[-1]])
    return way, any(_chooses(body[number], places, left, start) for number in way)


def _close(
    number: int, following: list[int], start: int, left: dict[int, int], after: dict[int, int]
) -> None:
    ways = {other: 0 if other == start else left[other] for other in following}
    ways = {other: length for other, length in ways.items() if other == start or length}
    if ways:
        after[number] = max(ways, key=lambda other: ways[other])
    left[number] = 1 + max(ways.values()) if ways else 0


def _chooses(
    instruction: Instruction, places: dict[int, int], left: dict[int, int], start: int
) -> bool:
    ways = {n for n in _following(instruction, places) if n == start or left[n]}
    return len(ways) > 1


def _following(instruction: Instruction, places: dict[int, int]) -> list[int]:
    """Return the numbers of the instructions that may come next and are in the loop."""
    flow = instruction.traits.flow
    if flow not in _PASSED:
        raise _branches_inside(instruction)
    targets = [] if flow is Flow.JUMP else [instruction.pc + instruction.size]
    if flow in (Flow.JUMP, Flow.CONDITIONAL):
        targets.append(branch_target(instruction))
    return [places[target] for target in dict.fromkeys(targets) if target in places]


def _branches_inside(instruction: Instruction) -> NoEstimate:
    return NoEstimate(
        f"the loop branches at {instruction.pc:#x}, inside its body: where to and how often is "
        "known from a launch only, `amdjit.profile()`"
    )
