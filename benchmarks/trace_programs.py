"""Machine code from the texts of a trace's program.

The encodings of the traces in the repository stand in `tests/hardware/traces/encodings.json`, by
processor; for other texts an assembler is needed, which the package ziglang has, or ROCm, or clang.
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
from amdjit.isa.decode import decode
from amdjit.isa.errors import UndecodableInstruction
from amdjit.isa.instruction import Instruction
from amdjit.isa.instruction_set import InstructionSet, instruction_set_of
from amdjit.options import read_environment
from amdjit.target import TRIPLE, Target, read_target

__all__ = ["ENCODINGS", "assembled", "decoded_program", "keep"]

ENCODINGS = Path(__file__).parents[1] / "tests" / "hardware" / "traces" / "encodings.json"

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
_OPTIONS = (
    "-triple", TRIPLE, "-target-feature", "+real-true16", "-filetype", "obj",
)  # fmt: skip
_GFX1201 = read_target("gfx1201")
_ERROR = re.compile(r":(\d+):\d+: error")
_V_NOP, _S_MOV, _S_NOP = 0x7E000000, 0xBEFC007C, 0xBF800000


def decoded_program(
    program: Sequence[Sequence[object]], packets: Mapping[int, str], target: Target
) -> tuple[list[Instruction], set[str]]:
    """Return the instructions of a trace's program, and the texts that could not be used.

    packets: the packet class of each address. target: the processor. Instructions that are not
    known become v_nop, s_mov_b32 or s_nop, as their packets say.
    """
    places = [(int(str(pc)), str(text)) for pc, text in program]
    codes = assembled([form for _, text in places for form in _forms(text)], target)
    instructions, unknown = [], set()
    for number, (pc, text) in enumerate(places):
        following = places[number + 1][0] if number + 1 < len(places) else None
        forms = (_decoded(codes.get(form), pc, following, target) for form in _forms(text))
        instruction = next((form for form in forms if form is not None), None)
        if instruction is None:
            unknown.add(text)
            instruction = _stand_in(packets.get(pc, ""), pc, target)
        instructions.append(instruction)
    return instructions, unknown


def _forms(text: str) -> tuple[str, str]:
    """A disassembler that leaves out an encoding's suffix means one of two."""
    name, blank, operands = text.partition(" ")
    return text, f"{name}_e64{blank}{operands}"


def assembled(texts: Sequence[str], target: Target = _GFX1201) -> dict[str, bytes]:
    """Return the encodings of texts, without those that no assembler takes."""
    processor = _instruction_set(target).processor
    kept = _kept().get(processor, {})
    found = {text: kept[text] for text in texts if text in kept}
    missing = sorted({text for text in texts if text not in found and text.isprintable()})
    if missing:
        found |= _assemble(missing, processor)
    rewritten = {text: _rewrite(text) for text in missing if text not in found}
    if rewritten:
        others = _assemble(sorted(set(rewritten.values())), processor)
        found |= {text: others[other] for text, other in rewritten.items() if other in others}
    return found


def _instruction_set(target: Target) -> InstructionSet:
    found = instruction_set_of(target.name)
    if found is None:
        raise ValueError(f"traces of {target} cannot be read: its instructions are not known")
    return found


@cache
def _kept() -> dict[str, dict[str, bytes]]:
    if not ENCODINGS.is_file():
        return {}
    kept: dict[str, dict[str, str]] = json.loads(ENCODINGS.read_text())
    return {
        processor: {text: bytes.fromhex(code) for text, code in codes.items()}
        for processor, codes in kept.items()
    }


def _rewrite(text: str) -> str:
    for pattern, replacement in _REWRITTEN:
        text = pattern.sub(replacement, text)
    return text


def _assemble(texts: Sequence[str], processor: str) -> dict[str, bytes]:
    try:
        assembler = find_assembler(read_environment(os.environ))
    except BackendError:
        return {}
    command = [*assembler.command, *_OPTIONS, "-target-cpu", processor]
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
    code: bytes | None, pc: int, following: int | None, target: Target
) -> Instruction | None:
    if code is None:
        return None
    try:
        instruction = decode(code, 0, pc, target.wave_size, _instruction_set(target))
    except UndecodableInstruction:
        return None
    return instruction if following in (None, pc + instruction.size) else None


def _stand_in(packet: str, pc: int, target: Target) -> Instruction:
    word = _S_NOP
    if packet.startswith(("VALU", "VINTERP", "WMMA")):
        word = _V_NOP
    elif packet.startswith("SALU"):
        word = _S_MOV
    code = word.to_bytes(4, "little")
    return decode(code, 0, pc, target.wave_size, _instruction_set(target))


def keep(texts: Mapping[Target, Sequence[str]]) -> None:
    """Write the encodings of texts of processors for machines without an assembler."""
    kept: dict[str, dict[str, str]] = {}
    for target, each in texts.items():
        codes = assembled([form for text in each for form in _forms(text)], target)
        of_processor = kept.setdefault(_instruction_set(target).processor, {})
        of_processor |= {text: code.hex() for text, code in codes.items()}
    ENCODINGS.write_text(json.dumps(kept, indent=0, sort_keys=True) + "\n")
