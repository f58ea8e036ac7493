"""Machine code that its own processor does not have: a compiler's mistake, not the program's."""

from __future__ import annotations

import linecache
from collections.abc import Iterator
from dataclasses import dataclass

from amdjit.code_object import CodeObject
from amdjit.code_object.elf import read_elf
from amdjit.code_object.target_flags import target_of_flags
from amdjit.emulator.decoder import UndecodableInstruction, decode, instruction_set_of
from amdjit.garbage import collector_paused

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


def impossible_instruction(code_object: bytes, wave_size: int) -> ImpossibleInstruction | None:
    """Return the first bytes in the functions of a linked code object that are no instruction of
    its processor; None if there are none, or if amdjit does not decode that processor."""
    processor = target_of_flags(read_elf(code_object)).name
    with collector_paused():
        found = next(_impossible(code_object, processor, wave_size), None)
    if found is None:
        return None
    place = CodeObject.read(code_object).line_of(found.pc)
    return ImpossibleInstruction(processor, found, place)


def _impossible(
    code_object: bytes, processor: str, wave_size: int
) -> Iterator[UndecodableInstruction]:
    sets = instruction_set_of(processor)
    elf = read_elf(code_object)
    section = elf.section(".text")
    if sets is None or section is None:
        return
    code = elf.section_data(section)
    for symbol in elf.symbols():
        start = symbol.address - section.address
        if not symbol.is_function or not 0 <= start < len(code):
            continue
        offset, end = start, start + symbol.size
        while offset < end:
            try:
                offset += decode(code, offset, section.address + offset, wave_size, sets).size
            except UndecodableInstruction as error:
                if not error.size:
                    yield error
                    break
                offset += error.size
