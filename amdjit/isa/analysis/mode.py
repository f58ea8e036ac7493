"""The MODE register's fields, followed through a kernel: what is known about them at every block.

Bits 1:0 round single precision, 3:2 half and double; 5:4 and 7:6 are their denormals: bit 0 keeps
those of sources, bit 1 those of results. Bit 23 clamps overflowed halves, 24 enables scalar
prefetches and 27 stops the counting of performance; the last two change nothing here. On gfx11,
bit 8 makes clamped NaNs 0, and with bit 9 minima and maxima quiet signalling NaNs. (RDNA 4 and
RDNA 3 ISA, "MODE register"; LLVM AMDGPU guide, "Floating Point Rounding Mode Enumeration".)
"""

from __future__ import annotations

from amdjit.isa.analysis.control_flow import Graph
from amdjit.isa.instruction import InlineConstant, Instruction, Literal
from amdjit.isa.traits import ModeWrite
from amdjit.late_methods import dataclass

MODE_REGISTER = 1
DX10_CLAMP, IEEE, HALF_OVERFLOW = 8, 9, 23
# Those of all families; `InstructionSet.mode_bits` has those that a family has.
ALL_BITS = 0xFF | 1 << DX10_CLAMP | 1 << IEEE | 1 << HALF_OVERFLOW | 1 << 24 | 1 << 27
ROUND_BITS, DENORMAL_BITS = 0x0F, 0xF0
_DEFAULT = 0xF0


@dataclass(frozen=True, slots=True)
class Mode:
    """The bits of `value` that are set in `known`. The others depend on what the kernel does."""

    value: int = _DEFAULT
    known: int = ALL_BITS

    def field(self, shift: int) -> int | None:
        """Return the two bits at `shift`, None unless both are known."""
        return self.value >> shift & 3 if self.known >> shift & 3 == 3 else None

    @property
    def keeps_denormals(self) -> bool:
        """Whether no format flushes denormals."""
        return self.known & self.value & DENORMAL_BITS == DENORMAL_BITS

    @property
    def rounds_to_nearest(self) -> bool:
        """Whether all formats round to nearest even."""
        return self.known & ~self.value & ROUND_BITS == ROUND_BITS

    def set(self, mask: int, value: int, known: bool = True) -> Mode:
        """Return the mode after the bits of `mask` were written."""
        kept = self.value & ~mask | value & mask if known else self.value & ~mask
        return Mode(kept, self.known | mask if known else self.known & ~mask)

    def meet(self, other: Mode) -> Mode:
        """Return what two modes have in common."""
        known = self.known & other.known & ~(self.value ^ other.value)
        return Mode(self.value & known, known)


# How compilers for gfx12 start kernels: everything rounds to nearest, nothing is flushed.
USUAL_MODE = Mode()


def default_mode(
    round_32: int,
    round_16_64: int,
    denormals_32: int,
    denormals_16_64: int,
    overflow: bool,
    dx10_clamp: bool = False,
    ieee: bool = False,
) -> Mode:
    """Return the mode of a kernel descriptor's fields."""
    nans = dx10_clamp << DX10_CLAMP | ieee << IEEE
    rounding = round_32 | round_16_64 << 2 | denormals_32 << 4 | denormals_16_64 << 6
    return Mode(rounding | nans | overflow << HALF_OVERFLOW)


def written_bits(instruction: Instruction) -> int:
    """Return which of the followed bits of MODE an instruction writes."""
    write, immediates = instruction.traits.writes_mode, instruction.immediates
    if write is None:
        return 0
    if write is not ModeWrite.FIELD:
        return ROUND_BITS if write is ModeWrite.ROUNDING else DENORMAL_BITS
    if immediates["hwreg_id"] != MODE_REGISTER:
        return 0
    return (1 << immediates["hwreg_size"]) - 1 << immediates["hwreg_offset"] & ALL_BITS


def mode_after(instruction: Instruction, mode: Mode) -> Mode:
    """Return the mode after an instruction."""
    mask = written_bits(instruction)
    if not mask:
        return mode
    write = instruction.traits.writes_mode
    if write is not ModeWrite.FIELD:
        shift = 0 if write is ModeWrite.ROUNDING else 4
        return mode.set(mask, instruction.immediates["simm16"] << shift)
    operand = instruction.operands[0]
    if isinstance(operand, (InlineConstant, Literal)):
        return mode.set(mask, int(operand.value) << instruction.immediates["hwreg_offset"])
    return mode.set(mask, 0, known=False)


@dataclass(frozen=True, slots=True)
class Modes:
    """The mode at each block's start. changes: an instruction writes it. computed: one writes the
    value of a register to it."""

    at_start: dict[int, Mode]
    changes: bool
    computed: bool = False

    @property
    def rounds_to_nearest(self) -> bool:
        """Whether every instruction rounds to nearest even: the kernel starts so and never changes
        it."""
        return not self.changes and all(mode.rounds_to_nearest for mode in self.at_start.values())

    @property
    def varies(self) -> bool:
        """Whether the mode must be kept at run time, for blocks that do not know it."""
        return self.computed or (
            self.changes and any(mode.known != ALL_BITS for mode in self.at_start.values())
        )


USUAL_MODES = Modes({}, False)


def modes_at_entries(graph: Graph, initial: Mode) -> Modes:
    """Return what is known about the mode at each reachable block's start: a forward analysis."""
    writers = {
        pc: [instruction for instruction in block.instructions if written_bits(instruction)]
        for pc, block in graph.blocks.items()
    }
    if not any(writers.values()):
        return Modes(dict.fromkeys(graph.blocks, initial), False)
    known = {graph.entry: initial}
    work = [graph.entry]
    while work:
        pc = work.pop()
        mode = known[pc]
        for instruction in writers[pc]:
            mode = mode_after(instruction, mode)
        for successor in graph.blocks[pc].successors:
            old = known.get(successor)
            new = mode if old is None else old.meet(mode)
            if successor in graph.blocks and new != old:
                known[successor] = new
                work.append(successor)
    computed = any(
        mode_after(instruction, Mode()).known != ALL_BITS
        for written in writers.values()
        for instruction in written
    )
    return Modes(known, True, computed)
