"""Matrix and dot products of random operands are the scalar model's, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.emulator.required_tools import needs_tools
from tests.emulator.silicon_samples import CASES, DOTS, INSTRUCTIONS, Dot, Instruction
from tests.emulator.single_instruction import run_registers

pytestmark = needs_tools


@pytest.mark.sample(8)
@pytest.mark.parametrize("instruction", INSTRUCTIONS, ids=str)
def test_random_matrix_products_are_the_models(instruction: Instruction) -> None:
    """A wave for each second distribution, the others for the sparse instruction of the same types;
    of wave64, which has the same arithmetic, every sixth."""
    random = np.random.default_rng(1)
    shape = instruction.shape
    first = (INSTRUCTIONS.index(instruction) + shape.sparse) % 2
    cases = CASES[first :: 2 if shape.wave.size == 32 else 6]
    samples = [instruction.sample(random, case) for case in cases]
    check(instruction, cases, samples, random)


def check(
    instruction: Instruction,
    cases: list[tuple[str, str]],
    samples: list[list[NDArray[np.uint32]]],
    random: np.random.Generator,
) -> None:
    inputs = [np.concatenate(parts, axis=1) for parts in zip(*samples, strict=True)]
    chosen = int(random.integers(0, 2)) if instruction.shape.sparse else 0
    found = instruction.run(inputs, chosen)
    size = instruction.shape.wave.size
    for number, case in enumerate(cases):
        lanes = slice(number * size, number * size + size)
        wrong = instruction.wrong(samples[number], found[:, lanes], chosen)
        assert wrong == 0, f"{case}: {wrong} of 256"


@pytest.mark.parametrize(
    "instruction", [i for i in INSTRUCTIONS if i.shape.result == "f16"], ids=str
)
def test_halves_clamped_by_the_mode(instruction: Instruction) -> None:
    random = np.random.default_rng(2)
    for case in (("large", "large"), ("normal", "large"), ("specials", "specials")):
        inputs = instruction.sample(random, case)
        found = instruction.run(inputs, overflow=1)
        assert instruction.wrong(inputs, found, clamps=True) == 0, case
    largest = instruction.sample(random, ("large", "large"))
    assert (instruction.run(largest) != instruction.run(largest, overflow=1)).any()


@pytest.mark.sample(4)
@pytest.mark.usefixtures("each_tier")
@pytest.mark.parametrize("dot", DOTS, ids=lambda dot: dot.mnemonic)
def test_random_dot_products_are_the_models(dot: Dot) -> None:
    random = np.random.default_rng(3)
    for case in CASES:
        inputs = dot.sample(random, case, 256)
        assert dot.run(inputs) == dot.expected(inputs), case


@pytest.mark.usefixtures("each_tier")
def test_dot_products_clamped_by_the_mode() -> None:
    dot = next(dot for dot in DOTS if dot.mnemonic == "v_dot2_f16_f16")
    inputs = dot.sample(np.random.default_rng(4), ("large", "large"), 256)
    assert dot.run(inputs, overflow=1) == dot.expected(inputs, clamps=True)
    assert dot.run(inputs) == dot.expected(inputs) != dot.expected(inputs, clamps=True)


@pytest.mark.parametrize("kind", ["f16", "bf16"])
@pytest.mark.parametrize("text", ["|v1|, v2, v3", "v1, -|v2|, v3", "v1, v2, -|v3|", "-v1, -v2, v3"])
def test_signs_of_three_operand_dots(kind: str, text: str) -> None:
    """VOP3 has one sign and one absolute value for an operand: both halves of a factor have it."""
    dot = next(dot for dot in DOTS if dot.mnemonic == f"v_dot2_{kind}_{kind}")
    inputs = dot.sample(np.random.default_rng(6), ("near 1", "near 1"), 64)
    changed = [part.copy() for part in inputs]
    for number, operand in enumerate(text.split(", ")):
        if "|" in operand:
            changed[number] &= np.uint32(0x7FFF7FFF)
        if "-" in operand:
            changed[number] ^= np.uint32(0x80008000)
    found = run_registers(f"  {dot.mnemonic} v100, {text}", np.concatenate(inputs), [100])[
        0
    ] & np.uint32(0xFFFF)
    assert found.tolist() == dot.expected(changed)


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("instruction", INSTRUCTIONS, ids=str)
def test_many_random_matrix_products_are_the_models(instruction: Instruction, seed: int) -> None:
    random = np.random.default_rng(100 + seed)
    check(instruction, CASES * 5, [instruction.sample(random, case) for case in CASES * 5], random)


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("dot", DOTS, ids=lambda dot: dot.mnemonic)
def test_many_random_dot_products_are_the_models(dot: Dot, seed: int) -> None:
    random = np.random.default_rng(200 + seed)
    for case in CASES:
        inputs = dot.sample(random, case, 4096)
        assert dot.run(inputs) == dot.expected(inputs), case
