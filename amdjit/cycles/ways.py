"""The longest way around a loop: what an iteration executes if it skips nothing."""

from __future__ import annotations

from collections.abc import Sequence

from amdjit.cycles.errors import NoEstimate
from amdjit.isa.analysis.control_flow import branch_target
from amdjit.isa.instruction import Instruction
from amdjit.isa.traits import Flow

__all__ = ["longest_way"]

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
