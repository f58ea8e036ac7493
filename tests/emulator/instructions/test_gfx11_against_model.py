"""Every opcode of gfx11's ALUs and memory against the model in tests/emulator/model, in all forms;
and what the model leaves out has a reason."""

from __future__ import annotations

import re

import numpy as np
import pytest

from amdjit.diagnostics.errors import KernelFault
from amdjit.emulator.tiers.full import executes
from amdjit.isa.instruction_set import GFX11
from amdjit.isa.rows import opcodes
from tests.emulator.building import assemble, emulate, using
from tests.emulator.checked_by import GFX11 as CPU
from tests.emulator.checked_by import GFX11_OUTSIDE, checking_test, why_not_in_the_model
from tests.emulator.model.cases.catalogue import BATCHES, mnemonics, run_batch
from tests.emulator.model.child import run_in_child
from tests.emulator.required_tools import needs_tools

EXECUTED = sorted({opcode.mnemonic for opcode in opcodes(GFX11) if executes(opcode)})
# Lanes (waves for scalar instructions) of each case: some of the forms, or all.
_QUICK, _WHOLE = 64, 2048


@needs_tools
def test_a_slice_of_all_opcodes_agrees_with_the_model() -> None:
    counts = [int(line.split()[0]) for line in _lines(",".join(BATCHES), _QUICK, 1)]
    assert len(counts) == len(BATCHES)
    assert min(counts) >= 10
    assert sum(counts) >= 1500


def _lines(batches: str, count: int, seed: int) -> list[str]:
    return run_in_child(batches, count, seed, cpu=CPU).splitlines()


@needs_tools
@pytest.mark.exhaustive
@pytest.mark.parametrize("batch", BATCHES)
def test_every_form_on_gfx11_agrees_with_the_model(batch: str) -> None:
    assert int(_lines(batch, _WHOLE, 2)[0].split()[0]) >= 10


@needs_tools
@pytest.mark.exhaustive
@pytest.mark.parametrize("tier", ["quick", "full"])
def test_a_slice_agrees_in_each_tier(tier: str) -> None:
    run_in_child(",".join(BATCHES), 256, 3, tier, CPU)


@needs_tools
def test_a_wrong_line_of_the_model_is_found_on_gfx11() -> None:
    with using(cpu=CPU):
        wrong = [
            *run_batch("wrong", _QUICK, np.random.default_rng(1))[0],
            *run_batch("wrong memory", _QUICK, np.random.default_rng(1))[0],
        ]
        misled, cases = run_batch("misled division", _QUICK, np.random.default_rng(3))
    assert {text.split()[0] for text in wrong} >= {"v_add_nc_u32_e64", "ds_add_u32"}
    assert len(misled) > cases // 3


def test_the_model_of_gfx11_has_all_but_what_has_a_reason() -> None:
    with using(cpu=CPU):
        covered = mnemonics()
    outside = [name for name in EXECUTED if why_not_in_the_model(name, CPU)]
    assert {*covered, *outside} >= set(EXECUTED)
    assert covered <= {opcode.mnemonic for opcode in opcodes(GFX11)}
    assert len(outside) == 19, outside
    for pattern in GFX11_OUTSIDE:
        assert any(re.fullmatch(pattern, name) for name in outside), pattern
    assert checking_test("v_max_f32", CPU).endswith("test_gfx11_against_model.py")


# What has no model.


@needs_tools
def test_a_trap_of_gfx11_is_a_fault() -> None:
    with using(cpu=CPU), pytest.raises(KernelFault) as caught:
        emulate(assemble("  s_trap 2\n", cpu=CPU), "kernel", 1, 32, [np.zeros(1), np.zeros(1)])
    assert caught.value.kind == "trap"


@needs_tools
def test_messages_of_gfx11_change_no_other_register() -> None:
    """And the clock that one returns goes on."""
    body = """
  s_load_b128 s[0:3], s[0:1], 0x0
  s_mov_b32 s8, 5
  s_mov_b32 s9, 7
  s_sendmsg_rtn_b64 s[4:5], sendmsg(MSG_RTN_GET_REALTIME)
  s_waitcnt lgkmcnt(0)
  s_sendmsg_rtn_b64 s[6:7], sendmsg(MSG_RTN_GET_REALTIME)
  s_sendmsg_rtn_b32 s10, sendmsg(MSG_RTN_GET_REALTIME)
  s_waitcnt lgkmcnt(0)
  s_sub_u32 s6, s6, s4
  s_subb_u32 s7, s7, s5
  v_mov_b32 v1, s6
  v_mov_b32 v2, s7
  v_mov_b32 v3, s8
  v_mov_b32 v4, s9
  v_mov_b32 v0, 0
  global_store_b128 v0, v[1:4], s[2:3]
  s_sendmsg sendmsg(MSG_DEALLOC_VGPRS)
"""
    out = np.zeros(4, np.uint32)
    with using(cpu=CPU):
        emulate(assemble(body, cpu=CPU), "kernel", 1, 1, [np.zeros(1), out])
    assert out[2:].tolist() == [5, 7]
    assert 0 < int(out[0]) + (int(out[1]) << 32) < 1 << 40


@needs_tools
def test_probes_of_gfx11_do_nothing() -> None:
    """LLVM's assembler has no text for them: SMEM, opcodes 0x22 and 0x23 (RDNA 3 ISA, 16.5)."""
    body = """
  s_load_b128 s[0:3], s[0:1], 0x0
  s_waitcnt lgkmcnt(0)
  .long 0xf4880000, 0xf8000000
  .long 0xf48c0000, 0xf8000000
  v_mov_b32 v1, 42
  v_mov_b32 v0, 0
  global_store_b32 v0, v1, s[2:3]
"""
    out = np.zeros(4, np.uint32)
    with using(cpu=CPU):
        emulate(assemble(body, cpu=CPU), "kernel", 1, 1, [np.zeros(1), out])
    assert out[0] == 42
