"""What is encoded reads back as it was, and is what the assembler makes of the same text."""

from __future__ import annotations

import random

import pytest

from amdjit.isa.decode import decode
from amdjit.isa.encoding.encode import encode
from amdjit.isa.errors import UndecodableInstruction
from amdjit.isa.instruction import Instruction
from amdjit.isa.instruction_set import (
    GFX11,
    GFX12,
    GFX90A,
    GFX115,
    GFX906,
    GFX908,
    GFX942,
    GFX950,
    InstructionSet,
)
from amdjit.isa.rows import opcodes
from amdjit.isa.text import disassemble
from tests.emulator.decoder.assembler import assemble_each
from tests.emulator.decoder.objdump import asking_about, missing_tools
from tests.emulator.decoder.random_code import pieces

_SETS = (GFX12, GFX11, GFX115, GFX906, GFX908, GFX90A, GFX942, GFX950)
_ASKED = (GFX12, GFX11, GFX942)


def _instructions(sets: InstructionSet, wave_size: int, seed: int, count: int) -> list[Instruction]:
    found = []
    for piece in pieces(random.Random(seed), count, 0, sets=sets):
        try:
            found.append(decode(piece.code, 0, 0, wave_size, sets))
        except UndecodableInstruction:
            continue
    return found


def _check_reads_back(sets: InstructionSet, wave_size: int, count: int, share: float) -> None:
    seen = set()
    for instruction in _instructions(sets, wave_size, 1, count):
        code = encode(instruction, wave_size)
        again = decode(code, 0, 0, wave_size, sets)
        assert disassemble(again) == disassemble(instruction)
        assert (again.immediates, again.size) == (instruction.immediates, len(code))
        seen.add((instruction.opcode.encoding, instruction.opcode.code))
    expected = sum(not opcode.encoding.startswith("VOPD") for opcode in opcodes(sets))
    assert len(seen) >= share * expected


@pytest.mark.sample(3)
@pytest.mark.parametrize("sets", _SETS, ids=lambda sets: sets.name)
def test_random_instructions_read_back(sets: InstructionSet) -> None:
    _check_reads_back(sets, 32 if sets.has_wave32 else 64, 3, 0.6)


@pytest.mark.exhaustive
@pytest.mark.parametrize("sets", _SETS, ids=lambda sets: sets.name)
def test_many_random_instructions_read_back(sets: InstructionSet) -> None:
    for wave_size in (32, 64) if sets.has_wave32 else (64,):
        _check_reads_back(sets, wave_size, 60, 0.95)


def _check_assembler(sets: InstructionSet, seed: int, count: int) -> None:
    wave_size = 32 if sets.has_wave32 else 64
    instructions = _instructions(sets, wave_size, seed, count)
    texts = [disassemble(instruction) for instruction in instructions]
    with asking_about(sets.processor):
        made = assemble_each(texts)
    codes = [one.code for one in made if one is not None]
    differing = []
    for code in codes:
        instruction = decode(code, 0, 0, wave_size, sets)
        if encode(instruction, wave_size) != code:
            differing.append((disassemble(instruction), code.hex()))
    assert not differing
    assert len(codes) > 0.8 * len(texts)


@pytest.mark.skipif(missing_tools() is not None, reason=missing_tools() or "")
@pytest.mark.parametrize("sets", _ASKED, ids=lambda sets: sets.name)
def test_bytes_are_the_assembler_s(sets: InstructionSet) -> None:
    _check_assembler(sets, 2, 1)


@pytest.mark.exhaustive
@pytest.mark.skipif(missing_tools() is not None, reason=missing_tools() or "")
@pytest.mark.parametrize("sets", _SETS, ids=lambda sets: sets.name)
def test_bytes_of_many_instructions_are_the_assembler_s(sets: InstructionSet) -> None:
    _check_assembler(sets, 3, 20)
