"""Machine code from the texts of a trace's program.

The encodings of the traces in the repository stand in `encodings.json` of their folders; for other
texts an assembler is needed, which the package ziglang has, or ROCm, or clang.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path

from amdjit.backend.tools import find_assembler, run_tool
from amdjit.code_object.elf import read_elf
from amdjit.diagnostics.errors import BackendError
from amdjit.isa import UndecodableInstruction, decode
from amdjit.isa.instruction import Instruction
from amdjit.isa.instruction_set import InstructionSet
from amdjit.options import read_environment
from amdjit.target import TRIPLE

__all__ = ["ENCODINGS", "assembled", "decoded_program", "keep"]

_HARDWARE = Path(__file__).parents[1] / "tests" / "hardware"
ENCODINGS = _HARDWARE / "traces" / "encodings.json"
CDNA_ENCODINGS = _HARDWARE / "traces_cdna" / "encodings.json"

# What disassemblers write that the assembler does not take; the timing is the same.
_REWRITTEN = (
    (re.compile(r"\bs106\b"), "vcc_lo"),
    (re.compile(r"^(v_s_\w+ \w+), v(\d+)"), r"\1, s\2"),
    (re.compile(r"^(v_permlanex?16_b32 v\d+, v\d+), v\d+, v\d+"), r"\1, s0, s0"),
    (re.compile(r"^(v_(?:readlane|writelane)_b32 \w+, )v(\d+), v\d+"), r"\1v\2, s0"),
    (re.compile(r"^(v_writelane_b32 v\d+), v\d+"), r"\1, s0"),
    (re.compile(r"_e64\b"), ""),
    (re.compile(r"^s_barrier_signal s\d+"), "s_barrier_signal -1"),
)
_OPTIONS = ("-triple", TRIPLE, "-filetype", "obj")
# What the assembler is told of each family; the encodings of gfx12 stand for all of its processors.
_PROCESSORS: Mapping[str, tuple[str, ...]] = {
    "gfx12": ("-target-cpu", "gfx1201", "-target-feature", "+real-true16"),
    "gfx9": ("-target-cpu", "gfx950"),
}
_ERROR = re.compile(r":(\d+):\d+: error")
# s_mov_b32 null, null, or s0, s0 of gfx9.
_S_MOV = {"gfx12": 0xBEFC007C, "gfx9": 0xBE800000}
_V_NOP, _S_NOP = 0x7E000000, 0xBF800000


def decoded_program(
    program: Sequence[Sequence[object]], packets: Mapping[int, str], sets: InstructionSet
) -> tuple[list[Instruction], set[str]]:
    """Return the instructions of a trace's program, and the texts that could not be used.

    packets: the packet class of each address. sets: of the processor. Instructions that are not
    known become v_nop, s_mov_b32 or s_nop, as their packets say.
    """
    places = [(int(str(pc)), str(text)) for pc, text in program]
    codes = assembled([form for _, text in places for form in _forms(text)], sets.family)
    instructions, unknown = [], set()
    for number, (pc, text) in enumerate(places):
        following = places[number + 1][0] if number + 1 < len(places) else None
        forms = (_decoded(codes.get(form), pc, following, sets) for form in _forms(text))
        instruction = next((form for form in forms if form is not None), None)
        if instruction is None:
            unknown.add(text)
            instruction = _stand_in(packets.get(pc, ""), pc, sets)
        instructions.append(instruction)
    return instructions, unknown


def _forms(text: str) -> tuple[str, str]:
    """A disassembler that leaves out an encoding's suffix means one of two."""
    name, blank, operands = text.partition(" ")
    return text, f"{name}_e64{blank}{operands}"


def assembled(texts: Sequence[str], family: str = "gfx12") -> dict[str, bytes]:
    """Return the encodings of texts, without those that no assembler takes."""
    kept = _kept(ENCODINGS if family == "gfx12" else CDNA_ENCODINGS)
    found = {text: kept[text] for text in texts if text in kept}
    missing = sorted({text for text in texts if text not in found and text.isprintable()})
    if missing:
        found |= _assemble(missing, family)
    rewritten = {text: _rewrite(text) for text in missing if text not in found}
    if rewritten:
        others = _assemble(sorted(set(rewritten.values())), family)
        found |= {text: others[other] for text, other in rewritten.items() if other in others}
    return found


@cache
def _kept(path: Path) -> dict[str, bytes]:
    if not path.is_file():
        return {}
    kept: dict[str, str] = json.loads(path.read_text())
    return {text: bytes.fromhex(code) for text, code in kept.items()}


def _rewrite(text: str) -> str:
    for pattern, replacement in _REWRITTEN:
        text = pattern.sub(replacement, text)
    return text


def _assemble(texts: Sequence[str], family: str) -> dict[str, bytes]:
    try:
        assembler = find_assembler(read_environment(os.environ))
    except BackendError:
        return {}
    command = [*assembler.command, *_OPTIONS, *_PROCESSORS[family]]
    left = list(texts)
    while left:
        source = "".join(f"at{number}: {text}\n" for number, text in enumerate(left))
        try:
            data = run_tool(command, "assembling", source.encode(), ".s")
        except BackendError as error:
            wrong = {int(line) - 1 for line in _ERROR.findall(str(error))}
            if not wrong:
                return {}
            left = [text for number, text in enumerate(left) if number not in wrong]
        else:
            return dict(zip(left, _pieces(data, len(left)), strict=True))
    return {}


def _pieces(data: bytes, count: int) -> list[bytes]:
    elf = read_elf(data)
    section = elf.section(".text")
    assert section is not None
    code = elf.section_data(section)
    starts = {symbol.name: symbol.address for symbol in elf.symbols()}
    offsets = [starts[f"at{number}"] for number in range(count)] + [len(code)]
    return [code[begin:end] for begin, end in pairwise(offsets)]


def _decoded(
    code: bytes | None, pc: int, following: int | None, sets: InstructionSet
) -> Instruction | None:
    if code is None:
        return None
    try:
        instruction = decode(code, 0, pc, instruction_set=sets)
    except UndecodableInstruction:
        return None
    return instruction if following in (None, pc + instruction.size) else None


def _stand_in(packet: str, pc: int, sets: InstructionSet) -> Instruction:
    word = _S_NOP
    if packet.startswith(("VALU", "VINTERP", "WMMA")):
        word = _V_NOP
    elif packet.startswith("SALU"):
        word = _S_MOV[sets.family]
    return decode(word.to_bytes(4, "little"), 0, pc, instruction_set=sets)


def keep(texts: Sequence[str], family: str = "gfx12") -> None:
    """Write the encodings of texts for machines without an assembler."""
    codes = assembled([form for text in texts for form in _forms(text)], family)
    path = ENCODINGS if family == "gfx12" else CDNA_ENCODINGS
    path.write_text(
        json.dumps({text: codes[text].hex() for text in sorted(codes)}, indent=0) + "\n"
    )
