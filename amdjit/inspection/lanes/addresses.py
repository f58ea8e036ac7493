"""How the addresses of a wave's lanes differ at one access."""

from __future__ import annotations

from dataclasses import dataclass

from amdjit.inspection.lanes.operands import read
from amdjit.inspection.lanes.state import State
from amdjit.inspection.lanes.values import Steps, Value, add, constant, widened
from amdjit.isa.instruction import Instruction, Operand, Register, RegisterFile
from amdjit.isa.traits import Space, Unit

__all__ = ["Addresses", "lane_addresses"]

_ALL_PLACES = range(4)


@dataclass(frozen=True, slots=True)
class Addresses:
    """offsets: of each lane's address from the first lane's, in bytes. places_in_dword: what the
    first lane's address modulo 4 may be."""

    offsets: tuple[int, ...]
    places_in_dword: tuple[int, ...] = tuple(_ALL_PLACES)

    @property
    def uniform(self) -> bool:
        """Whether all lanes have one address."""
        return not any(self.offsets)

    @property
    def stride(self) -> int | None:
        """Bytes from each lane to the next, None if they differ."""
        steps = {b - a for a, b in zip(self.offsets, self.offsets[1:], strict=False)}
        return steps.pop() if len(steps) == 1 else None


def lane_addresses(state: State, instruction: Instruction, wave_size: int) -> Addresses | None:
    """Return how the addresses of an access differ between its active lanes, None if that is not
    known.

    Of an access with two addresses, both differ alike. Addresses of private memory are those in a
    lane's own. Scalar offsets of 32 bits are taken not to wrap around.
    """
    access, traits = instruction.access, instruction.traits
    same = (0,) * wave_size
    if traits.unit is Unit.SCALAR_MEMORY:
        return Addresses(same)
    if access.has_descriptor:
        # The resource may add lane numbers, or swizzle.
        return None
    if access.space is Space.LDS:
        return _in_lds(state, instruction, wave_size)
    roles = [spec.role for spec in instruction.opcode.operands]
    if "vaddr" not in roles:
        return Addresses(_counting(wave_size))
    operand = instruction.operand("vaddr")
    if operand is None:
        return Addresses(same)
    known, steps = _steps(state, operand)
    return Addresses(_signed(steps, wave_size, 64)) if known else None


def _counting(wave_size: int) -> tuple[int, ...]:
    """ADDTID adds 4 bytes for each lane."""
    return tuple(4 * lane for lane in range(wave_size))


def _in_lds(state: State, instruction: Instruction, wave_size: int) -> Addresses | None:
    if instruction.traits.once_per_wave:
        return Addresses((0,) * wave_size)
    if all(spec.role != "addr" for spec in instruction.opcode.operands):
        return Addresses(_counting(wave_size))
    value = read(state, instruction.operand("addr"))
    if value is None:
        return None
    immediates, size = instruction.immediates, instruction.access.size
    if not instruction.access.has_two_addresses:
        value = add(value, constant(immediates["offset"]))
    return Addresses(_signed(value.steps, wave_size, 32), _places(value, size))


def _places(value: Value, size: int) -> tuple[int, ...]:
    known = min(value.known, 2)
    return tuple(place for place in _ALL_PLACES if place % (1 << known) == value.low % (1 << known))


def _steps(state: State, operand: Operand) -> tuple[bool, Steps | None]:
    assert isinstance(operand, Register)
    assert operand.file is RegisterFile.VGPR
    if operand.dwords == 2:
        return state.wide_steps(operand.index)
    value = state.vector(operand.index)
    return (False, None) if value is None else (True, widened(value.steps))


def _signed(steps: Steps | None, wave_size: int, bits: int) -> tuple[int, ...]:
    if steps is None:
        return (0,) * wave_size
    return tuple(step - (1 << bits) if step >> bits - 1 else step for step in steps)
