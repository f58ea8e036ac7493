"""Every opcode of gfx9's ALUs and memory against the model in tests/emulator/model, in all forms;
and what the model leaves out has a reason."""

from __future__ import annotations

import re

import numpy as np
import pytest
from building import using
from checked_by import GFX9, GFX9_OUTSIDE, why_not_in_the_model
from model.cases.catalogue import GFX9_BATCHES, mnemonics, run_batch
from model.child import run_in_child
from required_tools import needs_tools

from amdjit.emulator.decoder.instruction_set import instruction_set_of
from amdjit.emulator.decoder.rows import opcodes
from amdjit.emulator.tiers.full import executes

# Lanes (waves for scalar instructions) of each case: some of the forms, or all.
_QUICK, _WHOLE = 64, 2048
PROVEN = ("gfx90a", "gfx942")


def executed(cpu: str) -> set[str]:
    """Return the mnemonics that run."""
    family = instruction_set_of(cpu)
    assert family is not None
    return {opcode.mnemonic for opcode in opcodes(family) if executes(opcode)}


def _lines(cpu: str, batches: str, count: int, seed: int, tier: str = "") -> list[str]:
    return run_in_child(batches, count, seed, tier, cpu).splitlines()


@needs_tools
@pytest.mark.parametrize("cpu", PROVEN)
def test_a_slice_of_all_opcodes_agrees_with_the_model(cpu: str) -> None:
    counts = [int(line.split()[0]) for line in _lines(cpu, ",".join(GFX9_BATCHES), _QUICK, 1)]
    assert len(counts) == len(GFX9_BATCHES)
    assert min(counts) >= 5
    assert sum(counts) >= 1500


@needs_tools
@pytest.mark.exhaustive
@pytest.mark.parametrize("batch", GFX9_BATCHES)
@pytest.mark.parametrize("cpu", GFX9)
def test_every_form_on_gfx9_agrees_with_the_model(cpu: str, batch: str) -> None:
    assert _lines(cpu, batch, _WHOLE, 2)


@needs_tools
@pytest.mark.exhaustive
@pytest.mark.parametrize("tier", ["quick", "full"])
@pytest.mark.parametrize("cpu", GFX9)
def test_a_slice_agrees_in_each_tier(cpu: str, tier: str) -> None:
    _lines(cpu, ",".join(GFX9_BATCHES), 256, 3, tier)


@needs_tools
def test_a_wrong_line_of_the_model_is_found_on_gfx9() -> None:
    with using(cpu="gfx942"):
        random = np.random.default_rng(1)
        wrong = [
            *run_batch("wrong", _QUICK, random)[0],
            *run_batch("wrong memory", _QUICK, random)[0],
        ]
        for batch in ("division", "registers", "direct", "stores", "lanes"):
            misled, cases = run_batch(f"misled {batch}", _QUICK, np.random.default_rng(3))
            assert len(misled) > cases // 3, batch
    assert {text.split()[0] for text in wrong} >= {"v_add_u32_e64", "ds_add_u32"}


@pytest.mark.parametrize("cpu", GFX9)
def test_the_model_of_gfx9_has_all_but_what_has_a_reason(cpu: str) -> None:
    with using(cpu=cpu):
        covered = mnemonics()
    outside = [name for name in executed(cpu) if why_not_in_the_model(name, cpu)]
    assert {*covered, *outside} >= executed(cpu)
    assert covered <= executed(cpu)


def test_each_reason_is_of_some_opcode() -> None:
    outside = {name for cpu in GFX9 for name in executed(cpu) if why_not_in_the_model(name, cpu)}
    for pattern in GFX9_OUTSIDE:
        assert any(re.fullmatch(pattern, name) for name in outside), pattern
