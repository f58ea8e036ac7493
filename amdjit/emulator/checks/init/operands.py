"""What an instruction reads and writes, as shadows: lane masks for vector operands, bits for scalar
ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from amdjit.emulator.checks.init.registers import (
    DEFINED,
    ONES,
    ZERO,
    Halves,
    MaskBuilder,
    ShadowRegisters,
)
from amdjit.emulator.host.builder import Value, constant
from amdjit.emulator.instructions.lanes.dpp import (
    apply_dpp,
    clear_dpp,
    collect_halves,
    crosses_halves,
    first_source,
)
from amdjit.emulator.instructions.whole_waves import in_each_half
from amdjit.emulator.wave.frame import Frame, extent_of, source_number
from amdjit.emulator.wave.registers import V32
from amdjit.isa.instruction import Instruction, Operand, Register, RegisterFile
from amdjit.isa.register_numbers import (
    EXEC_HI,
    EXEC_LO,
    SCC_SLOT,
    is_vector,
    numbers_of,
    scalar_slot,
    vector_number,
)
from amdjit.late_methods import dataclass, field

_NARROW = frozenset({"f16", "bf16", "b16", "i16", "u16"})


@dataclass
class Shadow:
    """The state that the rules work with while a block is translated."""

    frame: Frame
    masks: MaskBuilder
    registers: ShadowRegisters
    # The undefined lanes of what DPP moves between the halves of a wave64, of each half.
    crossing: list[Value] = field(default_factory=list)

    def begin_instruction(self, instruction: Instruction) -> None:
        """Keep what both halves of a wave64 read, before either writes its result."""
        if crosses_halves(instruction):
            collect_halves(self.frame, instruction)
            numbers = numbers_of(first_source(instruction))
            self.crossing = in_each_half(
                self.frame, lambda: self.masks.either(*map(self.registers.whole, numbers))
            )

    def lanes(self) -> Value:
        """Return EXEC of the half of the wave, as a constant if it is known to be full."""
        return ONES if self.frame.registers.exec_is_full else self.frame.registers.exec_bits()

    def as_lanes(self, mask: Value) -> Value:
        """Return a mask as 32 dwords, all ones where the bit is set."""
        return self.frame.builder.resize(self.frame.builder.lane_mask(mask), 32, True)

    def from_lanes(self, lanes: Value) -> Value:
        """Invert `as_lanes`."""
        b = self.frame.builder
        return b.mask_bits(b.compare("ne", lanes, constant(V32, 0)))

    # Scalar operands

    def bits(self, operand: Operand | None, part: int = 0) -> Value:
        """Return the undefined bits of a dword of a scalar operand."""
        if not isinstance(operand, Register) or is_vector(operand):
            return ZERO
        if operand.file is RegisterFile.SCC:
            return self.registers.scalar(SCC_SLOT)
        slot = scalar_slot(operand)
        return (
            ZERO
            if slot is None or slot in (EXEC_LO, EXEC_HI)
            else self.registers.scalar(slot + part)
        )

    def scalar(self, operand: Operand | None) -> Value:
        """Return all ones if any bit of a scalar operand is undefined, else 0."""
        dwords = operand.dwords if isinstance(operand, Register) else 1
        return self.masks.spread(
            self.masks.either(*(self.bits(operand, part) for part in range(dwords)))
        )

    def mask(self, operand: Operand | None) -> Value:
        """Return the undefined bits of a lane mask for the half of the wave."""
        return self.bits(operand, self.frame.registers.wave_half)

    # Vector operands

    def halves(self, instruction: Instruction, index: int) -> Halves:
        """Return the lanes in which an operand's low half is undefined, and those of its high
        half."""
        operand = instruction.operands[index]
        if not isinstance(operand, Register):
            return DEFINED
        if not is_vector(operand):
            mask = self.scalar(operand)
            return mask, mask
        found = self._vector(instruction, index, operand)
        if instruction.modifiers.dpp is not None and source_number(instruction, index) == 0:
            return self._moved(instruction, operand, found[0]), self._moved(
                instruction, operand, found[1]
            )
        return found

    def _vector(self, instruction: Instruction, index: int, register: Register) -> Halves:
        kind, half = instruction.opcode.operands[index].type, instruction.half_of(index)
        if register.dwords > 1:
            whole = self.whole(register)
            return whole, whole
        halves = self.registers.vector(vector_number(register))
        sdwa, number = instruction.modifiers.sdwa, source_number(instruction, index)
        if sdwa is not None and number in (0, 1):
            first, size = extent_of(sdwa.sources[number])
            if size == 32:
                return halves
            half = first // 16
        elif kind not in _NARROW and (half is None or instruction.opcode.selects_halves):
            return halves
        chosen = halves[half or 0]
        return chosen, chosen

    def whole(self, register: Register) -> Value:
        """Return the lanes in which any part of consecutive vector registers is undefined."""
        numbers = range(vector_number(register), vector_number(register) + register.dwords)
        return self.masks.either(*(self.registers.whole(number) for number in numbers))

    def any_of(self, instruction: Instruction, index: int) -> Value:
        """Return the lanes in which an operand is undefined."""
        return self.masks.either(*self.halves(instruction, index))

    def _moved(self, instruction: Instruction, register: Register, mask: Value) -> Value:
        """Return a mask moved as DPP moves its source. A lane that is filled with 0 is defined."""
        if crosses_halves(instruction):
            return self._moved_across(instruction)
        if mask == ZERO:
            return ZERO
        with self.frame.registers.stand_in({vector_number(register): self.as_lanes(mask)}):
            apply_dpp(self.frame, instruction)
            moved = self.frame.source_override
            clear_dpp(self.frame)
        assert moved is not None
        return self.from_lanes(moved)

    def _moved_across(self, instruction: Instruction) -> Value:
        if all(mask == ZERO for mask in self.crossing):
            return ZERO
        kept = self.frame.dpp_sources
        self.frame.dpp_sources = [[self.as_lanes(mask) for mask in self.crossing]]
        apply_dpp(self.frame, instruction)
        moved = self.frame.source_override
        clear_dpp(self.frame)
        self.frame.dpp_sources = kept
        assert moved is not None
        return self.from_lanes(moved)

    def written_lanes(self, instruction: Instruction) -> Value:
        """Return the lanes that an instruction writes."""
        if instruction.modifiers.dpp is None:
            return self.lanes()
        apply_dpp(self.frame, instruction)
        mask = self.frame.write_mask
        clear_dpp(self.frame)
        return (
            self.lanes()
            if mask is None or not mask.text.startswith("%")
            else self.frame.builder.mask_bits(mask)
        )

    # Results

    def write(self, instruction: Instruction, index: int, new: Halves, lanes: Value) -> None:
        """Write a result's shadow."""
        operand = instruction.operands[index]
        spec = instruction.opcode.operands[index]
        if not isinstance(operand, Register):
            return
        if not is_vector(operand):
            self._write_scalar(operand, self.masks.either(*new), lanes, spec.type == "mask")
            return
        if operand.dwords == 1:
            new = self._whole_result(instruction, index, new)
        for number in range(vector_number(operand), vector_number(operand) + operand.dwords):
            self.registers.write_vector(number, new, lanes)

    def write_dwords(
        self, instruction: Instruction, index: int, new: Sequence[Halves], lanes: Value
    ) -> None:
        """Write a result's shadow: of each of its dwords, or the same one of all."""
        operand = instruction.operands[index]
        if len(new) == 1 or not is_vector(operand):
            self.write(instruction, index, new[0], lanes)
            return
        for number, halves in enumerate(new, vector_number(operand)):
            self.registers.write_vector(number, halves, lanes)

    def _whole_result(self, instruction: Instruction, index: int, new: Halves) -> Halves:
        """Return both halves of a register of which an instruction may write a part."""
        register, kind = instruction.operands[index], instruction.opcode.operands[index].type
        assert isinstance(register, Register)
        old = self.registers.vector(vector_number(register))
        either = self.masks.either(*new)
        sdwa, half = instruction.modifiers.sdwa, instruction.half_of(index)
        if sdwa is not None and sdwa.destination is not None:
            first, size = extent_of(sdwa.destination)
            if size == 32:
                return new
            kept = old if sdwa.keeps_rest else DEFINED
            merged = self.masks.either(kept[first // 16], either) if size == 8 else either
            return (kept[0], merged) if first >= 16 else (merged, kept[1])
        if kind in _NARROW and instruction.opcode.zeroes_high_half:
            return either, ZERO
        if kind in _NARROW or (half is not None and not instruction.opcode.selects_halves):
            return (old[0], either) if half == 1 else (either, old[1])
        return new

    def _write_scalar(self, register: Register, bits: Value, lanes: Value, is_mask: bool) -> None:
        slot = SCC_SLOT if register.file is RegisterFile.SCC else scalar_slot(register)
        if slot is None or slot in (EXEC_LO, EXEC_HI):
            return
        if is_mask:
            self.registers.write_scalar(
                slot + self.frame.registers.wave_half, self.masks.both(bits, lanes)
            )
            return
        for part in range(register.dwords):
            self.registers.write_scalar(slot + part, self.masks.spread(bits))


def results(instruction: Instruction) -> Iterator[int]:
    """Yield the numbers of the operands that an instruction writes."""
    for index, spec in enumerate(instruction.opcode.operands):
        if spec.written:
            yield index


def sources(instruction: Instruction) -> Iterator[int]:
    """Yield the numbers of the operands that an instruction reads."""
    for index, spec in enumerate(instruction.opcode.operands):
        if spec.read:
            yield index
