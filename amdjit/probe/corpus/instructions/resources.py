"""Buffer resources, raw and structured, with the formats that buffer instructions convert."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from amdjit.abi.buffer_formats import BUFFER_FORMATS, unified_format
from amdjit.isa.instruction import Register
from amdjit.isa.instruction_set import InstructionSet
from amdjit.isa.rows import Row
from amdjit.probe.corpus.instructions.cells import AREA_DWORDS
from amdjit.probe.machine_code import OUTPUT, Program, s

__all__ = ["Resource", "resources_of"]

_CELL = 32
_AREA = 512 * 4 * AREA_DWORDS
_RAW = 3 << 28
_PLAIN, _PLAIN_HALF = "32_UINT", "16_UINT"
# gfx9's data formats by the widths of their components, and its number formats.
_GFX9_WIDTHS = {1: "8", 2: "16", 3: "8_8", 4: "32", 5: "16_16", 6: "10_11_11", 7: "11_11_10",
                8: "10_10_10_2", 9: "2_10_10_10", 10: "8_8_8_8", 11: "32_32", 12: "16_16_16_16",
                13: "32_32_32", 14: "32_32_32_32"}  # fmt: skip
_GFX9_KINDS = {0: "UNORM", 1: "SNORM", 2: "USCALED", 3: "SSCALED", 4: "UINT", 5: "SINT", 7: "FLOAT"}


@dataclass(frozen=True)
class Resource:
    """A buffer resource (RDNA 4 ISA, 9.1 "Buffer Resource Descriptor"; CDNA 3 ISA, 9.1.8) and how
    instructions use it.

    given: immediates of the instruction. stride: bytes of a record, 0 for a raw buffer; records:
    how many bytes, or records, there are. word: the last dword.
    """

    name: str
    given: Mapping[str, Any] = field(default_factory=dict)
    stride: int = 0
    records: int = _AREA
    word: int = 0

    def add(self, program: Program, register: Register, address: Register) -> None:
        """Put the resource into SGPRs; make the lanes' addresses indices if it has records."""
        first = register.index
        program.add("s_mov_b32", s(first), s(OUTPUT.index))
        program.add("s_and_b32", s(first + 1), s(OUTPUT.index + 1), 0xFFFF)
        program.settle()
        program.add("s_or_b32", s(first + 1), s(first + 1), self.stride << 16)
        program.add("s_mov_b32", s(first + 2), self.records)
        program.add("s_mov_b32", s(first + 3), self.word)
        if self.stride:
            program.add("v_lshrrev_b32_e32", address, _CELL.bit_length() - 1, address)
        program.settle()


def resources_of(row: Row) -> Iterator[Resource]:
    """Yield the resources with which an instruction is tried."""
    sets = row.opcode.instruction_set
    typed = row.opcode.mnemonic.startswith("tbuffer")
    converts = "_format_" in row.opcode.mnemonic
    plain = _PLAIN_HALF if "_d16_" in row.opcode.mnemonic else _PLAIN
    common: dict[str, Any] = {"offset": 8}
    for name in _chosen_formats(row) if converts else [plain]:
        given = {**common, "format": _numbers(sets)[name]} if typed else common
        text = f"offen {name.lower()}" if converts else "offen"
        yield Resource(text, {**given, "offen": 1}, word=_word(sets, name))
    given = {**common, "format": _numbers(sets)[plain]} if typed else common
    word = _word(sets, plain)
    yield Resource("some out of range", {**given, "offen": 1}, records=_AREA // 3 + 3, word=word)
    yield Resource("idxen", {**given, "idxen": 1}, _CELL, 1600, word & ~_RAW)


@cache
def _numbers(sets: InstructionSet) -> dict[str, int]:
    """Return the formats by their names, as instructions number them."""
    if sets.splits_formats:
        return {
            f"{widths}_{kind}": data | number << 4
            for data, widths in _GFX9_WIDTHS.items()
            for number, kind in _GFX9_KINDS.items()
            if unified_format(data, number)
        }
    return {
        name.removeprefix("BUF_FMT_"): number for number, name in BUFFER_FORMATS.items() if number
    }


def _word(sets: InstructionSet, name: str) -> int:
    """Return a resource's last dword: components that the format lacks read as 0."""
    number = _numbers(sets)[name]
    components = len(name.split("_")) - 1
    channels = sum((4 + channel) << 3 * channel for channel in range(components))
    if sets.splits_formats:
        return (number & 15) << 15 | (number >> 4) << 12 | channels
    return _RAW | number << 12 | channels


def _chosen_formats(row: Row) -> list[str]:
    """Return the formats of an instruction: all that it can have without rounding or clamping,
    which the ISA documents leave open, for those of four components, else some."""
    mnemonic = row.opcode.mnemonic
    names = list(_numbers(row.opcode.instruction_set))
    whole = "16" if "_d16_" in mnemonic else "32"
    if "_store_" in mnemonic:
        names = [name for name in names if set(name.split("_")[:-1]) == {whole}
                 and name.split("_")[-1] in ("UINT", "SINT", "FLOAT")]  # fmt: skip
    elif whole == "16":
        names = [name for name in names if "32" not in name and name.split("_")[-1] in
                 ("UINT", "SINT", "FLOAT") and "11" not in name]  # fmt: skip
    if mnemonic.endswith("_xyzw"):
        return names
    return [names[number % len(names)] for number in (0, row.opcode.code, row.opcode.code + 5)]
