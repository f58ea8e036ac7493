"""Which registers an instruction needs, and which it writes, for the wait counters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from amdjit.emulator.checks.waits.counters import Effect, effect_of
from amdjit.isa.analysis.control_flow import Block, Graph
from amdjit.isa.instruction import Instruction, OperandSpec, Register, RegisterFile
from amdjit.isa.register_numbers import SCC_SLOT, VCC_LO, scalar_slot
from amdjit.isa.traits import Flag, Flow, Traits
from amdjit.late_methods import dataclass

# A register as ("v", number) or ("s", the ISA's operand code); `LDS` stands for writes to LDS. For
# the wait counters, VGPRs are two halves of 16 bits.
Place = tuple[str, int]

# Accumulation VGPRs are numbered after the VGPRs.
FIRST_ACCUMULATION = 256

LDS: Place = ("lds", 0)
SCC: Place = ("s", SCC_SLOT)


@dataclass(frozen=True, slots=True)
class Span:
    """Consecutive registers: of each of the files, `count` from number `first`."""

    files: tuple[str, ...]
    first: int
    count: int = 1

    def places(self) -> Iterator[Place]:
        """Yield each register."""
        for number in range(self.first, self.first + self.count):
            for file in self.files:
                yield file, number


_LDS_SPAN = Span(("lds",), 0)
_SCC_SPAN = Span(("s",), SCC_SLOT)
_VCC_SPAN = Span(("s",), VCC_LO)


def places_of(register: Register) -> Iterable[Place]:
    """Return the registers that an operand covers."""
    span = _span(register, ("v",))
    return () if span is None else list(span.places())


def spans_of(register: Register, halves: tuple[str, ...]) -> list[Span]:
    """Return the registers that an operand covers, of VGPRs these halves."""
    span = _span(register, halves)
    return [] if span is None else [span]


def register_operands(instruction: Instruction) -> Iterator[tuple[bool, bool, Register]]:
    """Yield (written, read, register) of both halves of an instruction."""
    for spec, register in operands_of(instruction):
        yield spec.written, spec.read, register


def results_of(instruction: Instruction, effect: Effect) -> Iterator[Span]:
    """Yield what arrives when an instruction that counts on a wait counter ends. effect: its own,
    as `counters.effect_of` has it."""
    if effect.fills:
        for spec, register in operands_of(instruction):
            if spec.written:
                yield from spans_of(register, moved_halves(instruction, spec.role))
    if effect.writes_lds:
        yield _LDS_SPAN
    if effect.writes_scc:
        yield _SCC_SPAN


def uses_of(instruction: Instruction) -> Iterator[tuple[Span, bool]]:
    """Yield each span that an instruction needs, and whether it only writes it; reads come first.

    A load into half of a register counts as a write of both halves: it preserves the other one, and
    lands in order.
    """
    filled = effect_of(instruction).fills
    written_later: list[Span] = []
    for spec, register in operands_of(instruction):
        merges = filled and spec.written and register.dwords == 1
        if spec.read and not merges:
            halves = BOTH if spec.written else moved_halves(instruction, spec.role)
            for span in spans_of(register, halves):
                yield span, False
        elif spec.written:
            written_later += spans_of(register, BOTH)
    yield from _implied_uses(instruction.traits)
    for span in written_later:
        yield span, True


def operands_of(instruction: Instruction) -> Iterator[tuple[OperandSpec, Register]]:
    """Yield the registers of both halves of an instruction, with their rows."""
    for half in (instruction, instruction.pair) if instruction.pair else (instruction,):
        for spec, operand in zip(half.opcode.operands, half.operands, strict=True):
            if isinstance(operand, Register):
                yield spec, operand


def _span(register: Register, vector: tuple[str, ...]) -> Span | None:
    if register.file is RegisterFile.VGPR:
        return Span(vector, register.index, register.dwords)
    if register.file is RegisterFile.AGPR:
        return Span(vector, FIRST_ACCUMULATION + register.index, register.dwords)
    if register.file is RegisterFile.SCC:
        return _SCC_SPAN
    slot = scalar_slot(register)
    return None if slot is None else Span(("s",), slot, register.dwords)


def _implied_uses(traits: Traits) -> Iterator[tuple[Span, bool]]:
    if traits.condition is not None and traits.condition.flag is Flag.VCC:
        yield _VCC_SPAN, False
    if traits.barrier is not None and traits.barrier.signals:
        yield _LDS_SPAN, False
    if traits.reads_scc:
        yield _SCC_SPAN, False
    elif traits.writes_scc and not traits.scc_is_late:
        yield _SCC_SPAN, True


# Which halves of VGPRs the wait check looks at: loads in flight fill halves, and stores may take
# the other one.
#
# A D16 load preserves the other half of its register (RDNA 4 ISA, 10.4), but on gfx11 and gfx12
# only once it has landed: LLVM calls that a hardware issue (feature d16-write-vgpr32), and lets the
# vector ALU touch neither half while a load into the other is in flight. Stores may take the other
# half, and loads that land in order may fill it (LLVM: SIInsertWaitcnts,
# determineVGPR16Dependency).

LOW, HIGH = "v.l", "v.h"
BOTH = (LOW, HIGH)
_DATA = frozenset({"vdst", "vdata", "data0"})


def moved_halves(instruction: Instruction, role: str) -> tuple[str, ...]:
    """Return the halves of a VGPR operand that an instruction moves: both, unless it loads or
    stores 16 bits."""
    access = instruction.traits.memory
    if access is None or access.half is None or role not in _DATA:
        return BOTH
    return (BOTH[access.half],)


# Where waves go on after a block, as far as loads in flight are concerned.


class Paths:
    """The paths through a graph: a call goes to functions only, not to where another call returns.

    Callees land everything first (LLVM: SIInsertWaitcnts, callWaitsOnFunctionEntry), so that a
    caller may leave loads in flight.
    """

    def __init__(self, graph: Graph) -> None:
        self._blocks = graph.blocks
        last = [block.instructions[-1] for block in graph.blocks.values()]
        returns = frozenset(item.pc + item.size for item in last if item.traits.flow.is_call)
        self._never_called = returns | {graph.entry}

    def after(self, block: Block) -> Iterator[int]:
        """Yield where a block goes on."""
        call = block.instructions[-1].traits.flow is Flow.INDIRECT_CALL
        for successor in block.successors:
            if successor in self._blocks and not (call and successor in self._never_called):
                yield successor
