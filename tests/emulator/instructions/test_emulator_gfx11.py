"""Instructions of gfx11 that gfx12 has not, or that do something else there, against the RDNA 3 ISA
document; and every other opcode has an emitter or a reason."""

from __future__ import annotations

import numpy as np
import pytest

import amdjit
from amdjit.diagnostics.errors import BackendError, KernelFault
from amdjit.emulator.instructions.refused import refusal
from amdjit.emulator.instructions.tables import emitter_of
from amdjit.emulator.instructions.vector.dual_issue import DUAL
from amdjit.inspection.meanings import opcode_meaning
from amdjit.isa.decode import decode
from amdjit.isa.instruction import Instruction
from amdjit.isa.instruction_set import (
    GFX11,
    GFX12,
    GFX115,
    InstructionSet,
    instruction_set_of,
)
from amdjit.isa.mnemonics import phrase_of
from amdjit.isa.rows import opcodes
from amdjit.isa.text import disassemble
from amdjit.isa.traits import Flow
from amdjit.target import EMULATED
from tests.emulator.building import assemble, compile_source, emulate, using
from tests.emulator.required_tools import needs_tools

CPU = "gfx1100"
# v0 is the lane, s[0:1] the input, s[2:3] the output; v1 to v3 are three dwords of the lane.
_LOAD = """
  s_load_b128 s[0:3], s[0:1], 0x0
  v_lshlrev_b32 v250, 2, v0
  v_mul_u32_u24 v251, 12, v0
  s_waitcnt lgkmcnt(0)
  global_load_b96 v[1:3], v251, s[0:1]
  s_waitcnt vmcnt(0)
"""
_STORE = """
  global_store_b32 v250, v4, s[2:3]
"""


def run(
    body: str, rows: np.ndarray, wave_size: int = 32, directives: str = "", **how: int
) -> np.ndarray:
    """Return v4 of each lane after `body`; rows: v1, v2, v3 of each lane."""
    code = assemble(
        _LOAD + body + _STORE, cpu=CPU, wave_size=wave_size, directives=directives, **how
    )
    out = np.zeros(len(rows), np.uint32)
    with using(cpu=CPU):
        emulate(code, "kernel", 1, len(rows), [np.ascontiguousarray(rows, np.uint32), out])
    return out


_VALUES = np.array(
    [
        *(0x00000000, 0x80000000, 0x3F800000, 0xBF800000, 0x7F800000, 0xFF800000, 0x00000001),
        *(0x7FC00001, 0xFFC12345, 0x7F800001, 0xFFA00000, 0x42280000),
    ],
    np.uint32,
)


def _is_nan(bits: int) -> bool:
    return bits & 0x7FFFFFFF > 0x7F800000


def _is_signalling(bits: int) -> bool:
    return _is_nan(bits) and not bits & 0x400000


def _order(bits: int) -> int:
    """Order numbers, -0 before +0."""
    return -(bits & 0x7FFFFFFF) - 1 if bits >> 31 else bits


def _extreme(greater: bool, ieee: bool, x: int, y: int) -> int:
    """V_MIN_F32 and V_MAX_F32 of the RDNA 3 ISA document."""
    if ieee:
        for value in (x, y):
            if _is_signalling(value):
                return value | 0x400000
    if _is_nan(y):
        return x
    if _is_nan(x):
        return y
    first = _order(x) > _order(y) if greater else _order(x) < _order(y)
    return x if first else y


def _pairs(count: int) -> np.ndarray:
    """All combinations of the values, three in a row; the first `count` are varied."""
    grid = np.meshgrid(*[np.arange(len(_VALUES))] * count, indexing="ij")
    rows = np.zeros((grid[0].size, 3), np.uint32)
    for column, places in enumerate(grid):
        rows[:, column] = _VALUES[places.ravel()]
    return rows


@needs_tools
@pytest.mark.parametrize("ieee", [0, 1])
def test_minimum_and_maximum_treat_nans_as_the_mode_says(ieee: int) -> None:
    rows = _pairs(2)
    for name, greater in (("min", False), ("max", True)):
        given = run(f"v_{name}_f32 v4, v1, v2", rows, directives=f".amdhsa_ieee_mode {ieee}")
        expected = [_extreme(greater, bool(ieee), int(x), int(y)) for x, y, _ in rows]
        assert [hex(v) for v in given] == [hex(v) for v in expected]


@needs_tools
@pytest.mark.parametrize("ieee", [0, 1])
def test_extremes_of_three_are_made_of_those_of_two(ieee: int) -> None:
    rows = _pairs(3)[:: 2 if ieee else 3][:1000]

    def low(x: int, y: int) -> int:
        return _extreme(False, bool(ieee), x, y)

    def high(x: int, y: int) -> int:
        return _extreme(True, bool(ieee), x, y)

    cases = {
        "v_min3_f32": lambda x, y, z: low(low(x, y), z),
        "v_max3_f32": lambda x, y, z: high(high(x, y), z),
        "v_minmax_f32": lambda x, y, z: high(low(x, y), z),
        "v_maxmin_f32": lambda x, y, z: low(high(x, y), z),
    }
    for name, model in cases.items():
        given = run(f"{name} v4, v1, v2, v3", rows, directives=f".amdhsa_ieee_mode {ieee}")
        expected = [model(*map(int, row)) for row in rows]
        assert [hex(v) for v in given] == [hex(v) for v in expected], name


@needs_tools
def test_the_mode_can_change_while_the_kernel_runs() -> None:
    rows = np.array([[0x7F800001, 0x3F800000, 0]], np.uint32)
    quiet = "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 9, 1), 1\n  v_min_f32 v4, v1, v2"
    plain = quiet.replace(", 1), 1", ", 1), 0")
    assert run(quiet, rows, directives=".amdhsa_ieee_mode 0").tolist() == [0x7FC00001]
    assert run(plain, rows, directives=".amdhsa_ieee_mode 1").tolist() == [0x3F800000]


@needs_tools
def test_clamp_and_omod_follow_the_mode() -> None:
    rows = np.array([[0x7FC00000, 0x3F800000, 0], [0x40000000, 0x40000000, 0]], np.uint32)
    clamp = "v_add_f32_e64 v4, v1, v2 clamp"
    assert run(clamp, rows, directives=".amdhsa_dx10_clamp 1").tolist() == [0, 0x3F800000]
    assert run(clamp, rows, directives=".amdhsa_dx10_clamp 0").tolist() == [0x7FC00000, 0x3F800000]
    scaled = "v_add_f32_e64 v4, v1, v2 mul:2"
    for ieee, denormals, expected in ((0, 0, 0x41000000), (1, 0, 0x40800000), (0, 3, 0x40800000)):
        found = run(scaled, rows, directives=f".amdhsa_ieee_mode {ieee}", denormals=denormals)
        assert found[1] == expected, (ieee, denormals)


@needs_tools
@pytest.mark.parametrize(
    ("comparison", "expected"),
    [
        ("s_cmpk_eq_u32 s5, 0xfff0", 0),
        ("s_cmpk_eq_i32 s5, 0xfff0", 1),
        ("s_cmpk_lt_u32 s5, 0xfff0", 0),
        ("s_cmpk_gt_i32 s5, 0x10", 0),
        ("s_cmpk_gt_u32 s5, 0x10", 1),
    ],
)
def test_comparisons_with_an_immediate(comparison: str, expected: int) -> None:
    body = f"s_mov_b32 s5, -16\n  {comparison}\n  s_cselect_b32 s6, 1, 0\n  v_mov_b32 v4, s6"
    assert run(body, np.zeros((1, 3))).tolist() == [expected]


@needs_tools
def test_registers_that_are_compared_or_waited_with_are_read_not_written() -> None:
    """Their field is the one of destinations, and so are their operands' names."""
    # The assembler takes null only as the register of s_waitcnt_vscnt.
    lines = {"s_cmpk_eq_u32 s5, 1": True, ".long 0xbc050000": True, "s_movk_i32 s5, 1": False}
    for text, is_live in lines.items():
        found = amdjit.inspect_object(assemble(f"{text}\n  s_nop 0\n", cpu=CPU)).instructions[0]
        assert (5 in found.live_sgprs) == is_live, found.text
    reads = {
        row[0]: "r" in row[1].split(":")[3]
        for row in GFX11.rows["SOPK"].values()
        if row[1].startswith("sdst")
    }
    kept = ("s_cmpk", "s_waitcnt", "s_subvector", "s_cmovk", "s_addk", "s_mulk", "s_setreg")
    assert {name for name in reads if reads[name]} == {n for n in reads if n.startswith(kept)}


@needs_tools
def test_comparisons_that_are_always_true_or_false() -> None:
    body = """v_cmp_t_f32 vcc_lo, v1, v2
  s_mov_b32 s5, -1
  v_cmp_f_u32 s5, v1, v2
  s_sub_u32 s6, vcc_lo, s5
  v_mov_b32 v4, s6"""
    assert run(body, np.zeros((3, 3))).tolist() == [7, 7, 7]


@needs_tools
@pytest.mark.parametrize("wave_size", [32, 64])
def test_lds_permutes_stay_in_their_half_of_the_wave(wave_size: int) -> None:
    lane = np.arange(64)
    rows = np.stack([4 * ((7 * lane + 3) % 64), 100 + lane, lane], axis=1)
    body = "ds_bpermute_b32 v4, v1, v2\n  s_waitcnt lgkmcnt(0)"
    source = (7 * lane + 3) % 32 + lane // 32 * 32
    assert run(body, rows, wave_size).tolist() == (100 + source).tolist()
    found = run(body.replace("bpermute", "permute"), rows, wave_size)
    expected = np.zeros(64, int)
    expected[source] = 100 + lane
    assert found.tolist() == expected.tolist()


@needs_tools
@pytest.mark.parametrize("space", ["global", "flat", "ds"])
def test_float_atomics_store_what_compares_so(space: str) -> None:
    """A NaN never compares, so that it stays in memory, and is not put there."""
    old, new = (
        np.array([1.5, 1.5, np.nan, 2.0, -0.0], np.float32),
        np.array([2.5, -1.0, 1.0, np.nan, 0.0], np.float32),
    )
    rows = np.stack([old.view(np.uint32), new.view(np.uint32), old.view(np.uint32)], axis=1)
    for name, chosen in (("min", new < old), ("max", new > old)):
        if space == "ds":
            body = f"""ds_store_b32 v250, v1
  ds_{name}_f32 v250, v2
  ds_load_b32 v4, v250
  s_waitcnt lgkmcnt(0)"""
        else:
            address = "v250, v2, s[2:3]" if space == "global" else "v[8:9], v2"
            body = f"""v_add_co_u32 v8, vcc_lo, s2, v250
  v_add_co_ci_u32_e64 v9, vcc_lo, s3, 0, vcc_lo
  global_store_b32 v250, v1, s[2:3]
  {space}_atomic_{name}_f32 {address}
  s_waitcnt_vscnt null, 0x0
  global_load_b32 v4, v250, s[2:3] glc
  s_waitcnt vmcnt(0)"""
        found = run(body, rows, lds=256)
        np.testing.assert_array_equal(found, np.where(chosen, new, old).view(np.uint32))


@needs_tools
def test_a_compare_and_swap_of_floats_takes_zeros_of_both_signs_as_equal() -> None:
    rows = np.array([[0x80000000, 7, 0], [0x7FC00000, 7, 0x7FC00000], [5, 7, 5]], np.uint32)
    body = """global_store_b32 v250, v1, s[2:3]
  global_atomic_cmpswap_f32 v250, v[2:3], s[2:3]
  s_waitcnt_vscnt null, 0x0
  global_load_b32 v4, v250, s[2:3] glc
  s_waitcnt vmcnt(0)"""
    assert run(body, rows).tolist() == [7, 0x7FC00000, 7]


@needs_tools
def test_wrapping_subtracts_what_fits_and_adds_otherwise() -> None:
    random = np.random.default_rng(4)
    rows = random.integers(0, 1 << 32, (64, 3), np.uint32)
    rows[:3] = [[7, 7, 1], [6, 7, 0xFFFFFFFF], [0, 0, 5]]
    body = """ds_store_b32 v250, v1 offset:8
  ds_wrap_rtn_b32 v5, v250, v2, v3 offset:8
  ds_load_b32 v4, v250 offset:8
  s_waitcnt lgkmcnt(0)
  v_sub_nc_u32 v5, v5, v1
  v_add_nc_u32 v4, v4, v5"""
    old, first, second = rows.T
    expected = np.where(old >= first, old - first, old + second)
    for wave_size in (32, 64):
        np.testing.assert_array_equal(run(body, rows, wave_size, lds=264), expected)


@needs_tools
def test_lanes_that_wrap_one_counter_act_one_after_the_other() -> None:
    """Each takes 1, from 5 down to 0, and the next one puts 5 back."""
    rows = np.tile(np.array([0, 1, 5], np.uint32), (32, 1))
    body = """ds_store_b32 v1, v3
  ds_wrap_rtn_b32 v4, v1, v2, v3
  s_waitcnt lgkmcnt(0)"""
    found = run(body, rows, lds=64)
    assert sorted(found.tolist()) == sorted((5 - np.arange(32) % 6).tolist())


@needs_tools
@pytest.mark.parametrize("which", ["sys", "user", "sys_or_user", "sys_and_user"])
def test_no_debugger_makes_a_wave_branch(which: str) -> None:
    body = f"v_mov_b32 v4, 1\n  s_cbranch_cdbg{which} .Lafter\n  v_mov_b32 v4, 2\n.Lafter:"
    assert run(body, np.zeros((1, 3))).tolist() == [2]


@needs_tools
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("s_subvector_loop_begin s5, 1", "ISA document .* does not have it"),
        ("s_endpgm_ordered_ps_done", "pixel shaders"),
        ("lds_direct_load v4", "whole quads of pixels"),
        ("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 12, 1), 1", "traps"),
        ("s_getreg_b32 s4, hwreg(HW_REG_TRAPSTS)", "does not record"),
        ("s_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS, 0, 5), 1", "does not record"),
        ("ds_add_u32 v1, v2 gds", "global data share"),
        ("s_sendmsg sendmsg(MSG_HALT_WAVES)", "other than MSG_INTERRUPT and MSG_DEALLOC_VGPRS"),
    ],
)
def test_what_is_not_emulated_is_refused(text: str, reason: str) -> None:
    with pytest.raises(KernelFault, match=reason):
        run(text, np.zeros((32, 3)))


@needs_tools
def test_exceptions_can_be_cleared_before_gfx12_too() -> None:
    clear = "s_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS, 0, 9), 0\n  v_mov_b32 v4, 1\n"
    assert (run(clear, np.zeros((32, 3))) == 1).all()


@needs_tools
def test_code_of_a_processor_that_is_not_emulated_is_refused_with_the_nearest() -> None:
    with using(cpu="gfx1030"):
        code = compile_source('#include "common.h"\nKERNEL none(GLOBAL u32 *x) { *x = 1; }', "-O2")
        with pytest.raises(BackendError, match=r"of gfx1030 is not decoded: .* nearest is gfx1100"):
            emulate(code, "none", 1, 32, [np.zeros(1, np.uint32)])


@pytest.mark.parametrize("sets", [GFX11, GFX115], ids=["gfx11", "gfx11.5"])
def test_every_opcode_has_an_emitter_or_a_reason_and_words(sets: InstructionSet) -> None:
    for opcode in opcodes(sets):
        instruction = Instruction(0, 4, opcode, (), {})
        traits = opcode.traits
        if traits.is_dual:
            is_there = traits.operation in DUAL
        else:
            is_there = emitter_of(instruction) is not None or traits.flow is not Flow.NEXT
        assert is_there or refusal(traits.operation, sets.name), opcode.mnemonic
        says_it = traits.matrix or traits.memory or traits.logic or traits.cache or traits.condition
        assert says_it or phrase_of(traits.operation), opcode.mnemonic


def test_every_emulated_processor_is_decoded() -> None:
    for target in EMULATED:
        sets = instruction_set_of(target.name)
        assert sets is not None
        major, minor, _ = target.isa
        family = "gfx11.5" if (major, minor) == (11, 5) else f"gfx{major}"
        assert sets.name == (target.name if major == 9 else family)


def test_opcodes_that_two_families_write_alike_are_not_mixed_up() -> None:
    """They count on other counters, whichever of them was asked for first."""
    name = "s_sendmsg_rtn_b32"
    newer, older = (
        next(opcode for opcode in opcodes(each) if opcode.mnemonic == name)
        for each in (GFX12, GFX11)
    )
    assert newer != older
    assert "counts on kmcnt" in opcode_meaning(newer)
    assert "counts on lgkmcnt" in opcode_meaning(older)


@pytest.mark.parametrize(
    ("code", "wave_size", "text"),
    [
        (
            "fa602002050180ff",
            32,
            "v_cndmask_b32_dpp v16, v5, |v48|, vcc_lo quad_perm:[1,0,0,0] row_mask:0xf "
            "bank_mask:0xf",
        ),
        ("104040cc2061e21b", 32, "v[16:23], v[32:39], v[48:55], 0.15915494309189532"),
        ("104040cc2061e21b", 64, "v[16:19], v[32:39], v[48:55], 0.15915494"),
    ],
)
def test_texts_are_those_of_the_disassembler(code: str, wave_size: int, text: str) -> None:
    """llvm-objdump-22 for gfx1100 writes them so, where gfx12's or wave32's text differs."""
    instruction = decode(bytes.fromhex(code), 0, 0, wave_size, GFX11)
    assert disassemble(instruction).endswith(text)
