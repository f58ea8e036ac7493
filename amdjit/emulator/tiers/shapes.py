"""Which instructions become the same operation: the shape of an instruction, and how other
instructions of that shape fill their records.

Most instructions have the shape of an earlier one, of this kernel or another, so that only a few
need their emitters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from amdjit.emulator.tiers.operations import Number, Operation, Parameter, RegisterAt
from amdjit.isa.instruction import Instruction, Register, RegisterFile
from amdjit.isa.register_numbers import HALF_VGPRS, VCC_LO, vector_number
from amdjit.late_methods import dataclass

# Registers of these files are parameters; the others are part of the shape.
_NUMBERED = {RegisterFile.VGPR: "v", RegisterFile.AGPR: "v", RegisterFile.SGPR: "s"}

# Makes a parameter of an instruction's registers and the number of its first site.
Fill = Callable[[tuple[Register, ...], int], Parameter]


@dataclass(frozen=True, slots=True)
class Recipe:
    """How the record of an instruction of a known shape is filled.

    operation: None for an instruction that does nothing. fills: one for each parameter. sites: how
    many sites the instruction has.
    """

    operation: Operation | None
    fills: tuple[Fill, ...]
    sites: int

    def parameters(self, instruction: Instruction, first_site: int) -> tuple[Parameter, ...]:
        """Return the parameters of another instruction of the shape."""
        registers = numbered_registers(instruction)
        return tuple(fill(registers, first_site) for fill in self.fills)


NOTHING = Recipe(None, (), 0)
# Many shapes belong to one kernel, because they contain one of its literals.
_MOST_SHAPES = 2048


class KnownShapes:
    """How instructions of the shapes that kernels have had so far are translated."""

    def __init__(self) -> None:
        self._by_kind: dict[tuple[object, ...], dict[tuple[object, ...], Recipe]] = {}

    def of(self, kind: tuple[object, ...]) -> dict[tuple[object, ...], Recipe]:
        """Return the recipes for a kind of kernels, to which the caller adds."""
        recipes = self._by_kind.setdefault(kind, {})
        if len(recipes) > _MOST_SHAPES:
            recipes = self._by_kind[kind] = {}
        return recipes


def shape_of(instruction: Instruction) -> tuple[object, ...] | None:
    """Return what decides how an instruction is translated apart from registers' numbers; None if
    these do, too."""
    if instruction.traits.reads_pc or instruction.traits.is_relative:
        return None
    parts: list[object] = []
    for half in (instruction, instruction.pair):
        if half is not None:
            parts += (
                half.opcode.mnemonic,
                half.opcode.encoding,
                half.modifiers,
                *half.immediates.items(),
            )
    known: list[Register] = []
    for operand in _operands(instruction):
        if isinstance(operand, Register) and operand.file in _NUMBERED:
            parts += (operand.file, operand.dwords, operand.half, _overlaps(operand, known))
            known.append(operand)
        else:
            parts.append(operand)
    return tuple(parts)


def numbered_registers(instruction: Instruction) -> tuple[Register, ...]:
    """Return the operands that are parameters, in their order."""
    return tuple(
        o for o in _operands(instruction) if isinstance(o, Register) and o.file in _NUMBERED
    )


def _operands(instruction: Instruction) -> Iterable[object]:
    return (
        instruction.operands
        if instruction.pair is None
        else (*instruction.operands, *instruction.pair.operands)
    )


def _overlaps(register: Register, earlier: Iterable[Register]) -> tuple[int | None, ...]:
    """Return the distance from each earlier register, None where two have nothing in common.

    A register also counts as one dword longer than its operand says: a lane mask of 64 lanes has
    two.
    """
    found = []
    for other in earlier:
        distance = register.index - other.index
        apart = (
            other.file is not register.file
            or distance > other.dwords
            or -distance > register.dwords
        )
        found.append(None if apart else distance)
    return tuple(found)


def make_recipe(
    instruction: Instruction, operation: Operation, parameters: Iterable[Parameter], sites: range
) -> Recipe | None:
    """Return how others of an instruction's shape are translated, from how it was; None if they
    cannot be."""
    registers = numbered_registers(instruction)
    made = [_fill(parameter, registers, sites) for parameter in parameters]
    whole = [fill for fill in made if fill is not None]
    return Recipe(operation, tuple(whole), len(sites)) if len(whole) == len(made) else None


def _fill(parameter: Parameter, registers: tuple[Register, ...], sites: range) -> Fill | None:
    if isinstance(parameter, Number):
        number = parameter.value
        return _fill_site(number - sites.start) if number in sites else None
    if not isinstance(parameter, RegisterAt):
        return None
    file, index = parameter.file, parameter.index
    within = index & ~HALF_VGPRS
    for place, operand in enumerate(registers):
        if (
            _NUMBERED[operand.file] == file
            and vector_number(operand) <= within < vector_number(operand) + operand.dwords
        ):
            return _fill_register(file, place, index - vector_number(operand))
    # Registers that instructions use without naming them: VCC, EXEC, SCC, ...
    return (lambda _registers, _first: parameter) if file == "s" and index >= VCC_LO else None


def _fill_register(file: str, place: int, distance: int) -> Fill:
    return lambda registers, _first: RegisterAt(file, vector_number(registers[place]) + distance)


def _fill_site(place: int) -> Fill:
    return lambda _registers, first: Number(first + place)
