"""Every opcode of gfx9's ALUs and memory against the model in tests/emulator/model, in all forms;
and what the model leaves out has a reason."""

from __future__ import annotations

import re

import numpy as np
import pytest

from amdjit.diagnostics.errors import KernelFault
from amdjit.emulator.instructions.refused import refusal
from amdjit.emulator.tiers.full import executes
from amdjit.inspection.meanings import opcode_meaning
from amdjit.isa.instruction_set import instruction_set_of
from amdjit.isa.rows import opcodes
from tests.emulator.building import assemble, emulate, using
from tests.emulator.checked_by import GFX9, GFX9_OUTSIDE, why_not_in_the_model
from tests.emulator.model.cases.catalogue import GFX9_BATCHES, mnemonics, run_batch
from tests.emulator.model.child import run_in_child
from tests.emulator.required_tools import needs_tools

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


# gfx90a has most opcodes of gfx942, computed by the same rules.
@needs_tools
@pytest.mark.parametrize("cpu", [pytest.param("gfx90a", marks=pytest.mark.exhaustive), "gfx942"])
def test_a_slice_of_all_opcodes_agrees_with_the_model(cpu: str) -> None:
    counts = [int(line.split()[0]) for line in _lines(cpu, ",".join(GFX9_BATCHES), _QUICK, 1)]
    assert len(counts) == len(GFX9_BATCHES)
    # gfx90a has no opcodes of its own for loads that go to LDS.
    assert [batch for batch, count in zip(GFX9_BATCHES, counts, strict=True) if count < 5] == (
        ["direct"] if cpu == "gfx90a" else []
    )
    assert sum(counts) >= 1500


@needs_tools
def test_a_slice_of_some_opcodes_of_gfx90a_agrees_with_the_model() -> None:
    assert len(_lines("gfx90a", "double,packed,lanes,shared,registers,stores", _QUICK, 1)) == 6


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


# What has no model.


@needs_tools
def test_a_trap_of_gfx9_is_a_fault() -> None:
    code = assemble("  s_trap 2\n", cpu="gfx942")
    with using(cpu="gfx942"), pytest.raises(KernelFault) as caught:
        emulate(code, "kernel", 1, 64, [np.zeros(1), np.zeros(1)])
    assert caught.value.kind == "trap"


@needs_tools
@pytest.mark.parametrize("cpu", PROVEN)
def test_clocks_of_gfx9_go_on(cpu: str) -> None:
    body = """
  s_load_dwordx4 s[0:3], s[0:1], 0x0
  s_mov_b32 s8, 5
  s_memtime s[4:5]
  s_waitcnt lgkmcnt(0)
  s_memtime s[6:7]
  s_memrealtime s[10:11]
  s_waitcnt lgkmcnt(0)
  s_memrealtime s[12:13]
  s_waitcnt lgkmcnt(0)
  s_sub_u32 s6, s6, s4
  s_subb_u32 s7, s7, s5
  s_sub_u32 s12, s12, s10
  s_subb_u32 s13, s13, s11
  v_mov_b32 v0, 0
  v_mov_b32 v2, s6
  v_mov_b32 v3, s7
  v_mov_b32 v4, s12
  v_mov_b32 v5, s13
  v_mov_b32 v6, s8
  global_store_dwordx4 v0, v[2:5], s[2:3]
  global_store_dword v0, v6, s[2:3] offset:16
"""
    out = np.zeros(6, np.uint32)
    with using(cpu=cpu):
        emulate(assemble(body, cpu=cpu), "kernel", 1, 1, [np.zeros(1), out])
    assert 0 < int(out[0]) + (int(out[1]) << 32) < 1 << 40
    assert 0 <= int(out[2]) + (int(out[3]) << 32) < 1 << 40
    assert out[4] == 5


@needs_tools
def test_messages_of_gfx9_say_nothing_without_a_buffer() -> None:
    code = assemble("  s_sendmsg sendmsg(MSG_INTERRUPT)\n", cpu="gfx942")
    with using(cpu="gfx942"), pytest.raises(KernelFault, match="interrupts the host"):
        emulate(code, "kernel", 1, 64, [np.zeros(1), np.zeros(1)])


@pytest.mark.parametrize("cpu", GFX9)
def test_every_opcode_of_gfx9_has_an_emitter_or_a_reason_and_words(cpu: str) -> None:
    family = instruction_set_of(cpu)
    assert family is not None
    for opcode in opcodes(family):
        refused = refusal(opcode.traits.operation, family.name)
        assert executes(opcode) == (refused is None), opcode.mnemonic
        assert opcode_meaning(opcode).strip("."), opcode.mnemonic
