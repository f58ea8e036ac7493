"""Which instructions become the same operation: the shape of one, and how another of that shape
fills its record.

Most instructions of a long kernel have the shape of an earlier one, so that only a few go through
their emitters.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from amdjit.emulator.decoder.instruction import Instruction, Register, RegisterFile
from amdjit.emulator.layout import HALF_VGPRS, VCC_LO

# Registers of these files are parameters; the others are part of the shape.
_NUMBERED = {RegisterFile.VGPR: "v", RegisterFile.SGPR: "s"}
# Translated with the number of the instruction's place.
_REGISTER = re.compile(r"%([sv])(\d+)\.at")
_NUMBER = re.compile(r"%number\.(\d+)")

Name = Callable[[tuple[Register, ...], int], str]


@dataclass(frozen=True, slots=True)
class Recipe:
    """How the record of an instruction of a known shape is filled.

    names: one for each parameter, made of the instruction's registers and the number of its first
    site. sites: how many sites it has.
    """

    symbol: str
    names: tuple[Name, ...]
    sites: int


def shape_of(instruction: Instruction) -> tuple[object, ...] | None:
    """Return what decides how an instruction is translated but for registers' numbers; None if
    these do, too."""
    if instruction.traits.reads_pc:
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
    """Return for each earlier register of the file by how much this one is off, None where they
    have nothing in common.

    With what a lane mask of 64 lanes has beyond its first dword.
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
    instruction: Instruction, symbol: str, names: Iterable[str], lines: Iterable[str], sites: range
) -> Recipe | None:
    """Return how others of an instruction's shape are translated, from how it was; None if its text
    cannot serve."""
    if any("%state" in line for line in lines):
        return None  # a register's number stands in the text
    registers = numbered_registers(instruction)
    made = [_name(name, registers, sites) for name in names]
    whole = [name for name in made if name is not None]
    return Recipe(symbol, tuple(whole), len(sites)) if len(whole) == len(made) else None


def _name(name: str, registers: tuple[Register, ...], sites: range) -> Name | None:
    number = _NUMBER.fullmatch(name)
    if number is not None:
        return _site_name(int(number[1]) - sites.start) if int(number[1]) in sites else None
    register = _REGISTER.fullmatch(name)
    if register is None:
        return None
    file, index = register[1], int(register[2])
    within = index % HALF_VGPRS
    for place, operand in enumerate(registers):
        if (
            _NUMBERED[operand.file] == file
            and operand.index <= within < operand.index + operand.dwords
        ):
            return _register_name(file, place, index - operand.index)
    # Registers that instructions use without naming them: VCC, EXEC, SCC, ...
    return (lambda _registers, _first: name) if file == "s" and index >= VCC_LO else None


def _register_name(file: str, place: int, distance: int) -> Name:
    return lambda registers, _first: f"%{file}{registers[place].index + distance}.at"


def _site_name(place: int) -> Name:
    return lambda _registers, first: f"%number.{first + place}"
