"""Straight-line code, where liveness is known exactly: the registers that a model of its own calls
live are live, and no others; and another value in one of them changes the results."""

from __future__ import annotations

import random
from typing import ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

import amdjit
from amdjit.emulator.host.builder import constant
from amdjit.emulator.wave.frame import Frame, Instrument
from amdjit.emulator.wave.registers import FULL_MASK
from amdjit.isa.instruction import Instruction
from amdjit.isa.register_numbers import TTMP9
from tests.emulator.building import assemble, emulate
from tests.emulator.required_tools import needs_tools
from tests.inspection.garbage import Injected, garbage_in_dead_registers, launching_with
from tests.inspection.straight_programs import FIXED, Program

pytestmark = needs_tools

ROW = 1024


def built(program: Program, wave_size: int) -> bytes:
    return assemble(program.body, wave_size=wave_size, attributes="+real-true16")


def run(code: bytes, wave_size: int, groups: int = 1) -> NDArray[np.uint32]:
    """Return the results, a row for each workgroup."""
    given = np.random.default_rng(5).integers(0, 1 << 32, 4 * ROW, np.uint32)
    found = np.zeros((groups, ROW), np.uint32)
    emulate(code, "kernel", groups, wave_size, [given, found])
    return found


@pytest.mark.parametrize("wave_size", [32, 64])
@pytest.mark.parametrize("seed", range(6))
def test_straight_code_has_the_live_registers_of_the_model(seed: int, wave_size: int) -> None:
    program = Program(seed, wave_size)
    found = amdjit.inspect_object(built(program, wave_size)).instructions
    assert [item.text.split()[0] for item in found[:3]] == [
        line.text.split()[0] for line in program.lines[:3]
    ]
    for item, line, expected in zip(found, program.lines, program.live(), strict=False):
        live = {f"v{n}" for n in item.live_vgprs} | {f"s{n}" for n in item.live_sgprs}
        assert live == expected, line.text


@pytest.mark.sample(2)
@pytest.mark.parametrize("wave_size", [32, 64])
@pytest.mark.parametrize("seed", range(2))
def test_garbage_in_dead_registers_leaves_straight_code_right(seed: int, wave_size: int) -> None:
    code = built(Program(seed, wave_size), wave_size)
    expected = run(code, wave_size)
    with garbage_in_dead_registers(seed):
        found = run(code, wave_size)
    assert expected.any()
    np.testing.assert_array_equal(found, expected)


class OneByOne(Instrument):
    """Changes one register in each workgroup, before one instruction."""

    name: ClassVar[str] = "one by one"
    # By the instruction's address: file, number, workgroup.
    places: ClassVar[dict[int, list[tuple[str, int, int]]]]

    def before(self, frame: Frame, instruction: Instruction) -> None:
        b, registers = frame.builder, frame.registers
        for file, number, group in self.places.get(instruction.pc, ()):
            here = b.compare("eq", registers.scalar(TTMP9), constant("i32", group))
            bits = b.select(here, constant("i32", 0x5A3C9671), constant("i32", 0))
            if file == "s":
                registers.write_scalar(number, b.xor(registers.scalar(number), bits))
                continue
            for half in range(registers.halves):
                registers.select_half(half)
                changed = b.xor(registers.vector(number), b.splat(bits))
                registers.write_vector(number, changed, FULL_MASK)
            registers.select_half(0)


@pytest.mark.parametrize(("seed", "wave_size"), [(0, 32), (1, 64), (2, 32)])
def test_another_value_in_a_live_register_changes_the_results(seed: int, wave_size: int) -> None:
    program = Program(seed, wave_size, length=40, keeps_all=True)
    code = built(program, wave_size)
    inside = slice(program.begin, program.end)
    found = amdjit.inspect_object(code).instructions[inside]
    choices: list[tuple[int, str, int]] = []
    for item, decisive in zip(found, program.decisive()[inside], strict=True):
        live = [("v", n) for n in item.live_vgprs] + [("s", n) for n in item.live_sgprs]
        choices += [(item.address, *one) for one in live if f"{one[0]}{one[1]}" in decisive - FIXED]
    chosen = random.Random(seed).sample(choices, 96)
    places: dict[int, list[tuple[str, int, int]]] = {}
    for group, (address, file, number) in enumerate(chosen, 1):
        places.setdefault(address, []).append((file, number, group))
    name = f"one by one {seed} {wave_size} {sorted(places.items())}"
    kind = type("OfThisProgram", (OneByOne,), {"name": name, "places": places})
    with launching_with(lambda function: Injected((kind,))):
        rows = run(code, wave_size, 1 + len(chosen))
    same = [chosen[group] for group in range(len(chosen)) if (rows[group + 1] == rows[0]).all()]
    assert rows[0].any()
    assert not same
