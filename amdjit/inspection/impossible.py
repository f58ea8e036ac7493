"""Machine code that its own processor does not have: a compiler's mistake, not the program's."""

from __future__ import annotations

import linecache
from collections.abc import Iterator
from dataclasses import dataclass

from amdjit.code_object import CodeObject
from amdjit.code_object.elf import ElfFile, read_elf
from amdjit.garbage import collector_paused
from amdjit.isa.decode import decode
from amdjit.isa.errors import UndecodableInstruction
from amdjit.isa.instruction_set import InstructionSet, instruction_set_of
from amdjit.target import Target

__all__ = ["ImpossibleInstruction", "impossible_instruction"]


@dataclass(frozen=True, slots=True)
class ImpossibleInstruction:
    """Where a function holds bytes that are no instruction of its processor, and why they are
    not."""

    processor: str
    found: UndecodableInstruction
    place: tuple[str, int] | None

    def __str__(self) -> str:
        where, line = "", ""
        if self.place is not None:
            where = " for {}:{}".format(*self.place)
            line = linecache.getline(*self.place).strip()
        shown = f"\n    {line}\n" if line else " "
        return (
            f"LLVM makes an instruction{where} that {self.processor} does not have: "
            f"{self.found}.{shown}Compute it in several statements, or compile with another "
            "opt_level or for another processor. Please report it with the kernel."
        )


def impossible_instruction(
    code_object: bytes, target: Target, wave_size: int
) -> ImpossibleInstruction | None:
    """Return the first bytes in the functions of a linked code object that are no instruction of
    its processor; None if there are none, or if amdjit does not decode that processor."""
    sets = instruction_set_of(target.name)
    if sets is None:
        return None
    with collector_paused():
        found = next(_impossible(read_elf(code_object), wave_size, sets), None)
    if found is None:
        return None
    place = CodeObject.read(code_object).line_of(found.pc)
    return ImpossibleInstruction(target.name, found, place)


def _impossible(
    elf: ElfFile, wave_size: int, sets: InstructionSet
) -> Iterator[UndecodableInstruction]:
    section = elf.section(".text")
    if section is None:
        return
    code = elf.section_data(section)
    for symbol in elf.symbols():
        offset = symbol.address - section.address
        if not symbol.is_function or not 0 <= offset < len(code):
            continue
        end = offset + symbol.size
        while offset < end:
            try:
                offset += decode(code, offset, section.address + offset, wave_size, sets).size
            except UndecodableInstruction as error:
                if not error.size:
                    yield error
                    break
                offset += error.size
