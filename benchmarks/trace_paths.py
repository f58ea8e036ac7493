"""The paths of traced waves through their program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from traced_runs import HIDDEN, MEMORY

from amdjit.cycles.program import Kind, ProgramTable, Step
from amdjit.isa.instruction import Instruction

__all__ = ["Paths"]


class Paths:
    """The paths of waves, with the instructions that have no packets."""

    def __init__(self, instructions: Sequence[Instruction], table: ProgramTable) -> None:
        self.kinds = [Kind(int(row[Step.KIND])) for row in table.steps]
        self.idle = [int(row[Step.IDLE]) for row in table.steps]
        self.index = {instruction.pc: number for number, instruction in enumerate(instructions)}
        self.targets = {
            number: self.index.get(_target(instruction))
            for number, instruction in enumerate(instructions)
        }
        self.skipped = len(instructions)
        self.unmapped = 0

    def of(
        self, issues: Sequence[Any], first: int
    ) -> tuple[tuple[int, ...], tuple[int | None, ...]] | None:
        """Return the path of a wave and the cycle of each issue; None if the packets do not fit.

        The end of the wave is no issue. Packets follow the program: if the trace's own addresses
        do not fit its packets, those in program order are taken.
        """
        given = [(self.index.get(pc) if pc is not None else None) for pc, _, _ in issues]
        if not self._fits(issues, given):
            given = self._followed(issues)
            if not self._fits(issues, given):
                return None
        path: list[int] = []
        measured: list[int | None] = []
        previous: int | None = None
        taken = False
        for index, (_, cycle, packet) in zip(given, issues, strict=True):
            if index is None:
                self.unmapped += 1
                previous = None
                continue
            if previous is not None:
                hidden = self._hidden(previous, index, taken)
                path += hidden
                measured += [None] * len(hidden)
            previous, taken = index, packet == "JUMP"
            if self.kinds[index] is Kind.END:
                break
            is_skipped = packet == "IMMEDIATE" and self.kinds[index] in (Kind.VALU, *MEMORY)
            path.append(self.skipped + index if is_skipped else index)
            measured.append(cycle + first)
        return tuple(path), tuple(measured)

    def shown_late(self, path: Sequence[int]) -> int:
        """Return how many cycles after its begin a wave's first instruction is shown."""
        is_late = bool(path) and self.kinds[path[0]] is Kind.IMMEDIATE
        return max(0, self.idle[path[0]] - 1) if is_late else 0

    def _fits(self, issues: Sequence[Any], indices: Sequence[int | None]) -> bool:
        """Whether packets are of the kinds of their instructions, all but a few."""
        known = [
            (packet, self.kinds[index])
            for (_, _, packet), index in zip(issues, indices, strict=True)
            if index is not None
        ]
        wrong = sum(not _fits(packet, kind) for packet, kind in known)
        return bool(known) and wrong * 50 <= len(known)

    def _followed(self, issues: Sequence[Any]) -> list[int | None]:
        """Return the instructions of packets in program order."""
        found: list[int | None] = []
        place: int | None = 0
        for _, _, packet in issues:
            while place is not None and place < self.skipped and self.kinds[place] in HIDDEN:
                place += 1
            if place is None or place >= self.skipped:
                found.append(None)
                continue
            found.append(place)
            place = self.targets.get(place) if packet == "JUMP" else place + 1
        return found

    def _hidden(self, previous: int, index: int, taken: bool) -> list[int]:
        """Return the instructions without packets that a wave passed on its way."""
        begin = previous + 1
        if taken:
            target = self.targets.get(previous)
            begin = target if target is not None and target <= index else index
        return [number for number in range(begin, index) if self.kinds[number] in HIDDEN]


# The beginnings of packet classes of each kind.
_PACKETS = {
    Kind.VALU: ("VALU", "WMMA", "VINTERP"),
    Kind.SALU: ("SALU",),
    Kind.SCALAR_MEMORY: ("SMEM",),
    Kind.VECTOR_MEMORY: ("VMEM", "FLAT", "BUF", "SGMEM"),
    Kind.LDS: ("LDS",),
    Kind.BRANCH: ("JUMP", "NEXT", "CALL"),
    Kind.BARRIER_SIGNAL: ("BARRIER_SIGNAL",),
    Kind.BARRIER: ("BARRIER",),
    Kind.MESSAGE: ("MESSAGE",),
    Kind.END: ("WAVEEND", "OTHER_MSG"),
}


def _fits(packet: str, kind: Kind) -> bool:
    """Skipped instructions have immediates' packets; some packets have no name."""
    return packet.startswith((*_PACKETS.get(kind, ()), "IMMEDIATE", "UNNAMED", "OP_"))


def _target(instruction: Instruction) -> int:
    if instruction.traits.condition is None:
        return -1
    return instruction.pc + instruction.size + 4 * instruction.immediates.get("simm16", 0)
