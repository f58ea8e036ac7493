"""MFMA and SMFMAC as native functions, on registers in memory: bit for bit what the host reference
computes of them."""

from __future__ import annotations

import zlib

import numpy as np
import pytest

from amdjit.intrinsics.models import mfma_arithmetic
from amdjit.intrinsics.models.mfma_arithmetic import Modifiers, wave_product
from amdjit.intrinsics.models.mfma_instructions import MfmaInstruction
from amdjit.isa.matrix_rounding import RoundedRule
from tests.emulator.mfma_registers import CASES, instructions, operands, product_of, run_native

ALL = instructions()


def name_of(instruction: MfmaInstruction) -> str:
    return product_of(instruction).symbol.removeprefix("aj_")


def some_modifiers(random: np.random.Generator, instruction: MfmaInstruction) -> Modifiers:
    if instruction.is_sparse:
        abid = int(random.integers(0, instruction.layout("index").sets))
        return Modifiers(cbsz=int(random.integers(0, 2)), abid=abid)
    cbsz = int(random.integers(0, instruction.highest_cbsz + 1))
    abid = int(random.integers(0, 1 << cbsz))
    return Modifiers(cbsz, abid, int(random.integers(0, instruction.highest_blgp + 1)))


def check(instruction: MfmaInstruction, seed: int, case: tuple[str, str]) -> None:
    random = np.random.default_rng([zlib.crc32(instruction.name.encode()), seed])
    given = operands(random, instruction, case)
    modifiers = some_modifiers(random, instruction)
    found = run_native(instruction, given, modifiers)
    wanted = wave_product(
        instruction, *(np.ascontiguousarray(each.T) for each in given), modifiers=modifiers
    )
    np.testing.assert_array_equal(found.T, wanted, err_msg=f"{case} {modifiers}")


@pytest.mark.sample(24)
@pytest.mark.parametrize("instruction", ALL, ids=name_of)
def test_registers_become_what_the_reference_computes(instruction: MfmaInstruction) -> None:
    # Every second distribution: the next instruction has the others.
    for seed in range(ALL.index(instruction) % 2, len(CASES), 2):
        check(instruction, seed, CASES[seed])


@pytest.mark.exhaustive
@pytest.mark.parametrize("instruction", ALL, ids=name_of)
def test_many_registers_become_what_the_reference_computes(instruction: MfmaInstruction) -> None:
    for seed in range(100, 130):
        for case in CASES:
            check(instruction, seed, case)


@pytest.mark.sample(10)
@pytest.mark.parametrize("instruction", ALL[1::5], ids=name_of)
def test_the_quick_mode_is_a_chain_of_multiply_adds(
    instruction: MfmaInstruction, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Along k, in f32; integers, f32 and f64 are as always."""
    nan = 0x7FFFFFFF if instruction.target in ("gfx942", "gfx950") else 0x7FC00000
    monkeypatch.setattr(mfma_arithmetic, "rule_of", lambda _: RoundedRule(nan=nan))
    random = np.random.default_rng(5)
    for case in (("normal", "normal"), ("specials", "near"), ("wide", "wide")):
        given = operands(random, instruction, case)
        modifiers = some_modifiers(random, instruction)
        found = run_native(instruction, given, modifiers, "fma")
        lanes = (np.ascontiguousarray(each.T) for each in given)
        wanted = wave_product(instruction, *lanes, modifiers=modifiers)
        np.testing.assert_array_equal(found.T, wanted, err_msg=f"{case} {modifiers}")


@pytest.mark.exhaustive
@pytest.mark.parametrize("host", ["haswell", "ivybridge"])
@pytest.mark.parametrize("instruction", ALL[::3], ids=name_of)
def test_other_hosts_compute_the_same(instruction: MfmaInstruction, host: str) -> None:
    random = np.random.default_rng(6)
    for case in CASES[:10]:
        given = operands(random, instruction, case)
        found = run_native(instruction, given, host=host)
        np.testing.assert_array_equal(found, run_native(instruction, given), err_msg=str(case))
