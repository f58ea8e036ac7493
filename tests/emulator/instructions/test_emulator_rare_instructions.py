"""Instructions that compilers seldom make, against Python's numbers or LLVM's constant folding."""

from __future__ import annotations

import numpy as np
import pytest

from tests.emulator.building import assemble, emulate
from tests.emulator.float_checks import F32, quiet_numpy, same
from tests.emulator.required_tools import needs_tools
from tests.emulator.single_instruction import bits32, run_registers, samples32

pytestmark = needs_tools
__all__ = ["quiet_numpy"]

LANES = np.arange(32, dtype=np.uint32)


def test_relative_swaps_exchange_the_registers_that_m0_chooses() -> None:
    rows = samples32(4)[:, :64]
    body = "  s_mov_b32 m0, 0x00020001\n  v_swaprel_b32 v1, v1"
    found = run_registers(body, rows, [1, 2, 3, 4])
    np.testing.assert_array_equal(found, rows[[0, 2, 1, 3]])


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("s_movrels_b32 s40, s50", 3),
        ("s_movrels_b64 s[40:41], s[50:51]", 3),
        ("s_movreld_b32 s37, s50\n s_nop 0", 1),
        ("s_mov_b32 m0, 0x00050001\n s_movrelsd_2_b32 s35, s50", 2),
    ],
)
def test_scalar_relative_moves_use_the_registers_that_m0_chooses(body: str, expected: int) -> None:
    setup = "".join(f"  s_mov_b32 s{50 + number}, {number + 1}\n" for number in range(6))
    # M0 is 2: s52 holds 3; a pair's number grows by single registers.
    after = {"s_movreld": "s39"}.get(body[:9], "s40")
    found = run_registers(
        f"{setup}  s_mov_b32 m0, 2\n  {body}\n  s_mov_b32 s60, {after}",
        samples32(1)[:, :32],
        [],
        ["s60"],
    )
    assert set(found[0]) == {expected}


def lds_case(instructions: str, outputs: list[int], rows: np.ndarray) -> np.ndarray:
    """Run with v1 stored to LDS first, and LDS read back to v120 in the end; v5 is four times the
    lane."""
    body = f"""
  v_lshlrev_b32 v5, 2, v0
  ds_store_b32 v5, v1
  ds_store_b32 v5, v2 offset:1024
{instructions}
  ds_load_b32 v120, v5
  ds_load_b32 v121, v5 offset:1024"""
    return run_registers(body, rows, [*outputs, 120, 121], lds=4096)


def test_exchange_at_two_addresses() -> None:
    rows = samples32(4)[:, 512:544]
    found = lds_case(
        "  ds_storexchg_2addr_stride64_rtn_b32 v[100:101], v5, v3, v4 offset1:4", [100, 101], rows
    )
    np.testing.assert_array_equal(found, rows)
    found = lds_case("  ds_storexchg_2addr_rtn_b32 v[100:101], v5, v3, v4 offset1:32", [100], rows)
    np.testing.assert_array_equal(found[[0, 1]], rows[[0, 2]])


def test_exchange_of_wide_numbers_at_two_addresses() -> None:
    rows = samples32(4)[:, 512:544]
    body = """
  v_lshlrev_b32 v6, 3, v0
  ds_storexchg_2addr_rtn_b64 v[100:103], v6, v[3:4], v[1:2] offset1:64
  ds_load_2addr_b64 v[104:107], v6 offset1:64"""
    found = lds_case(body, [100, 101, 104, 105, 106, 107], rows)
    wide = np.concatenate([rows[0].reshape(16, 2), np.zeros((16, 2), np.uint32)]).T
    np.testing.assert_array_equal(found[:2], wide)
    np.testing.assert_array_equal(found[2:6], rows[[2, 3, 0, 1]])


def test_ds_condxchg_exchanges_where_its_bit_is_set() -> None:
    rows = samples32(4)[:, 512:544]
    body = """
  v_lshlrev_b32 v6, 3, v0
  s_mov_b32 exec_lo, 0xffff
  ds_condxchg32_rtn_b64 v[100:101], v6, v[3:4] offset:7
  s_mov_b32 exec_lo, -1"""
    found = lds_case(body, [100, 101], rows)
    before, data = rows[0].reshape(16, 2), rows[2:4, :16].T
    after = np.where(data >> 31 == 1, data & 0x7FFFFFFF, before)
    np.testing.assert_array_equal(found[:2, :16].T, before)
    np.testing.assert_array_equal(found[2], after.reshape(32))


@pytest.mark.parametrize(("name", "sign"), [("ds_append", 1), ("ds_consume", -1)])
def test_ds_append_and_consume_count_active_lanes(name: str, sign: int) -> None:
    rows = samples32(2)[:, 512:544]
    body = f"""
  s_mov_b32 m0, 8
  v_mov_b32 v100, 7
  s_mov_b32 exec_lo, 0x00f0f130
  {name} v100 offset:4
  s_mov_b32 exec_lo, -1"""
    found = lds_case(body, [100], rows)
    active = 0x00F0F130 >> LANES & 1
    np.testing.assert_array_equal(found[0], np.where(active, rows[0, 3], 7))
    expected = rows[0].copy()
    expected[3] += np.uint32(sign * int(active.sum()) & 0xFFFFFFFF)
    np.testing.assert_array_equal(found[1], expected)


def test_addtid_accesses_add_the_lanes_number() -> None:
    rows = samples32(2)[:, 512:544]
    body = """
  s_mov_b32 m0, 0x40
  ds_store_addtid_b32 v2 offset:64
  s_mov_b32 m0, 0x80
  ds_load_addtid_b32 v100"""
    np.testing.assert_array_equal(lds_case(body, [100], rows)[0], rows[1])


def global_case(body: str, source: np.ndarray, size: int) -> np.ndarray:
    """Run with s[0:1] and s[2:3] at the source and at `size` dwords of results for each of 32
    lanes."""
    found = np.zeros((32, size), np.uint32)
    text = f"  s_load_b128 s[0:3], s[0:1], 0x0\n  s_wait_kmcnt 0x0\n{body}"
    emulate(assemble(text), "kernel", 1, 32, [source, found])
    return found


@pytest.mark.parametrize(("name", "kind", "dwords"), [("b128", np.uint16, 4), ("b64", np.uint8, 2)])
def test_transposing_loads_hand_out_the_lanes_measured(name: str, kind: type, dwords: int) -> None:
    """Lane l reads eight elements at its address; the maps are those measured on gfx1201."""
    source = np.random.default_rng(3).integers(0, 256, (64, 8)).astype(kind)
    order = np.random.default_rng(4).permutation(64)[:32].astype(np.uint32)
    body = f"""
  v_lshlrev_b32 v1, 2, v0
  global_load_b32 v2, v1, s[0:1] offset:{source.nbytes}
  v_mul_u32_u24 v2, {8 * source.itemsize}, v2
  global_load_tr_{name} v[4:{3 + dwords}], v2, s[0:1]
  v_mul_u32_u24 v1, {4 * dwords}, v0
  global_store_{name} v1, v[4:{3 + dwords}], s[2:3]"""
    data = np.concatenate([source.view(np.uint8).reshape(-1), order.view(np.uint8)])
    found = global_case(body, data, dwords).view(kind)
    read = source[order]
    for lane in range(32):
        for place in range(8):
            other = 8 * (lane // 8) + place
            if kind is np.uint8:
                other = 16 * (lane // 16) + 8 * (place // 4) + 4 * (lane // 8 % 2) + place % 4
            assert found[lane, place] == read[other, lane % 8]


def test_blocks_of_registers_are_loaded_and_stored_by_mask() -> None:
    source = np.arange(32 * 32, dtype=np.uint32) + 1000
    names = [f"v{64 + number}" for number in range(32)]
    clear = "\n".join(f"  v_mov_b32 {name}, {number}" for number, name in enumerate(names))
    body = f"""
  v_lshlrev_b32 v1, 7, v0
{clear}
  s_mov_b32 m0, 0x80010006
  global_load_block v[64:95], v1, s[0:1]
  s_mov_b32 m0, 0x8001ffff
  global_store_block v1, v[64:95], s[2:3]"""
    found = global_case(body, source, 32)
    numbers = np.arange(32)
    loaded = np.where(0x80010006 >> numbers & 1, source.reshape(32, 32), numbers)
    np.testing.assert_array_equal(found, np.where(0x8001FFFF >> numbers & 1, loaded, 0))


def test_global_addresses_by_lane() -> None:
    source = np.arange(64, dtype=np.uint32) * 3
    body = "  global_load_addtid_b32 v3, s[0:1] offset:64\n  global_store_addtid_b32 v3, s[2:3]"
    np.testing.assert_array_equal(global_case(body, source, 1)[:, 0], source[16:48])


@pytest.mark.usefixtures("each_tier")
def test_exec_is_an_address_by_lane_and_the_mask_of_its_lanes() -> None:
    source, found = np.arange(64, dtype=np.uint32) * 3 + 7, np.zeros((64, 3), np.uint32)
    body = """
  s_load_b128 s[0:3], s[0:1], 0x0
  v_mov_b32 v3, 0
  v_mul_u32_u24 v6, 12, v0
  s_wait_kmcnt 0x0
  v_mov_b32 v4, s0
  v_mov_b32 v5, s1
  s_mov_b64 exec, s[0:1]
  global_load_addtid_b32 v3, exec
  s_wait_loadcnt 0x0
  s_mov_b64 exec, -1
  global_store_b96 v6, v[3:5], s[2:3]"""
    emulate(assemble(body, wave_size=64), "kernel", 1, 64, [source, found])
    loaded, low, high = found.T.astype(np.uint64)
    mask = low[0] | high[0] << np.uint64(32)
    np.testing.assert_array_equal(
        loaded, np.where(mask >> np.arange(64, dtype=np.uint64) & np.uint64(1), source, 0)
    )


@pytest.mark.usefixtures("each_tier")
@pytest.mark.parametrize("read", ["s_mov_b32 s23, exec_hi", "s_mov_b64 s[22:23], exec"])
def test_the_upper_half_of_exec_is_zero_in_waves_of_32(read: str) -> None:
    body = f"""
  s_mov_b64 s[20:21], -1
  s_mov_b64 exec, s[20:21]
  {read}
  s_mov_b32 exec_lo, -1
  v_mov_b32 v100, s23"""
    assert set(run_registers(body, bits32(np.zeros((1, 32), F32)), [100])[0]) == {0}


def test_sleep_for_a_scalar_time_and_notes_for_tools() -> None:
    body = "  s_mov_b32 s40, 3\n  s_sleep_var s40\n  s_version 7\n  v_mov_b32 v100, 9"
    assert set(run_registers(body, bits32(np.zeros((1, 32), F32)), [100])[0]) == {9}


_HINTS = """
  v_nop
  v_pipeflush
  ds_nop
  s_nop 3
  s_clause 0x1
  s_delay_alu instid0(VALU_DEP_1)
  s_wait_alu 0xffe3
  s_wait_idle
  s_wait_event 0x0
  s_setprio 2
  s_wakeup
  s_icache_inv
  s_dcache_inv
  s_incperflevel 1
  s_decperflevel 1
  s_ttracedata
  s_ttracedata_imm 2
  s_wait_samplecnt 0x0
  s_wait_bvhcnt 0x0
  s_wait_expcnt 0x0
  s_wait_storecnt 0x0
  s_wait_loadcnt_dscnt 0x0
  s_wait_storecnt_dscnt 0x0
  s_sendmsg sendmsg(MSG_DEALLOC_VGPRS)
  s_prefetch_inst s[0:1], 0x10, null, 3
  s_prefetch_inst_pc_rel 0x10, null, 3
  s_prefetch_data s[0:1], 0x10, null, 3
  s_prefetch_data_pc_rel 0x10, null, 3
  s_buffer_prefetch_data s[40:43], 0x10, null, 3
  global_inv scope:SCOPE_DEV
  global_wb scope:SCOPE_DEV
  global_wbinv scope:SCOPE_DEV
"""


def test_hints_and_waits_change_nothing() -> None:
    rows = samples32(2)[:, :64]
    found = run_registers(f"  s_mov_b32 s60, 77\n{_HINTS}", rows, [1, 2], ["s60"])
    np.testing.assert_array_equal(found[:2], rows)
    assert set(found[2]) == {77}


def test_wide_accesses_at_two_addresses() -> None:
    rows = samples32(4)[:, 512:544]
    body = """
  v_lshlrev_b32 v6, 3, v0
  ds_store_2addr_b64 v6, v[1:2], v[3:4] offset1:32
  ds_load_2addr_b64 v[100:103], v6 offset1:32
  ds_store_2addr_stride64_b64 v6, v[3:4], v[1:2] offset0:1 offset1:2
  ds_load_2addr_stride64_b64 v[104:107], v6 offset0:1 offset1:2
  ds_storexchg_2addr_stride64_rtn_b64 v[108:111], v6, v[1:2], v[3:4] offset0:1 offset1:2
  ds_load_b64 v[112:113], v6 offset:512"""
    found = run_registers(body, rows, list(range(100, 114)), lds=4096)
    swapped = rows[[2, 3, 0, 1]]
    np.testing.assert_array_equal(found, np.concatenate([rows, swapped, swapped, rows[:2]]))


def test_blocks_of_registers_in_private_memory() -> None:
    rows = samples32(4)[:, 512:544]
    body = """
  s_mov_b32 m0, 0xb
  v_mov_b32 v66, 5
  v_mov_b32 v64, v1
  v_mov_b32 v65, v2
  v_mov_b32 v67, v3
  scratch_store_block off, v[64:95], off offset:8
  scratch_load_b128 v[100:103], off, off offset:8
  v_mov_b32 v64, 6
  v_mov_b32 v66, 7
  scratch_load_block v[64:95], off, off offset:8"""
    found = run_registers(body, rows, [100, 101, 103, 64, 65, 66, 67], private=256)
    np.testing.assert_array_equal(found[[0, 1, 2, 3, 4, 6]], rows[[0, 1, 2, 0, 1, 2]])
    assert set(found[5]) == {7}


def test_relative_moves_of_both_sides_and_of_pairs() -> None:
    rows = samples32(4)[:, :32]
    found = run_registers("  s_mov_b32 m0, 1\n  v_movrelsd_b32 v3, v1", rows, [3, 4])
    np.testing.assert_array_equal(found, rows[[2, 1]])
    body = "  s_mov_b32 s52, 1\n  s_mov_b32 s53, 2\n  s_mov_b32 m0, 2\n  s_movreld_b64 s[50:51], 7"
    found = run_registers(body, rows, [], ["s52", "s53"])
    assert [set(row) for row in found] == [{7}, {0}]


def test_numbers_that_8_bits_hold_are_converted_as_they_are() -> None:
    """Whatever the random bits are: the published descriptions of the rounding differ, this they
    share."""
    exact = np.resize(np.array([1.5, -0.875, 448.0, 0.0, -2.0, 0.015625], F32), 64)
    noise = samples32(1)[0][512:576]
    old = np.full(64, 0x11223344, np.uint32)
    for name, back in (("fp8", "v_cvt_f32_fp8"), ("bf8", "v_cvt_f32_bf8")):
        values = np.where(np.abs(exact) == 0.875, F32(-0.75), exact) if name == "bf8" else exact
        body = f"  v_cvt_sr_{name}_f32 v3, v1, v2 byte_sel:2\n  {back}_e64 v100, v3 byte_sel:2"
        found = run_registers(body, np.stack([bits32(values), noise, old]), [100, 3])
        same(found[0].view(F32), values)
        assert set(found[1] & 0xFF00FFFF) == {0x11003344}


def test_rows_of_the_other_half_by_lane() -> None:
    rows = samples32(2)[:, 512:544]
    found = run_registers("  v_permlanex16_var_b32 v100, v1, v2", rows, [100])[0]
    np.testing.assert_array_equal(found, rows[0][(LANES & 16 ^ 16) + (rows[1] & 15)])


def test_messages_with_the_time() -> None:
    body = """
  s_sendmsg_rtn_b64 s[40:41], sendmsg(MSG_RTN_GET_REALTIME)
  s_sendmsg_rtn_b32 s42, sendmsg(MSG_RTN_GET_REALTIME)
  s_wait_kmcnt 0x0
  s_getreg_b32 s43, hwreg(HW_REG_SHADER_CYCLES_LO)"""
    low, high, narrow, cycles = run_registers(
        body, samples32(1)[:, :32], [], ["s40", "s41", "s42", "s43"]
    )[:, 0]
    assert low or high
    assert 0 <= int(narrow) - int(low) & 0xFFFFFFFF < 1 << 31
    assert 0 <= int(cycles) - int(narrow) & 0xFFFFFFFF < 1 << 31


def test_dual_relative_moves_keep_what_is_beside_them() -> None:
    rows = samples32(4)[:, :32]
    found = run_registers(
        "  s_mov_b32 m0, 1\n  v_movreld_b32 v1, v4\n  v_movrels_b32 v100, v2", rows, [1, 2, 100]
    )
    np.testing.assert_array_equal(found, rows[[0, 3, 2]])


def test_wide_masks_of_execution_in_narrow_waves() -> None:
    """EXEC's upper half does not exist in wave32: it reads as 0."""
    body = """
  s_mov_b64 s[40:41], 0x0f0f00ff
  s_mov_b32 exec_lo, 0x00ffff00
  s_and_not1_wrexec_b64 s[42:43], s[40:41]
  s_mov_b32 exec_lo, 0x00ffff00
  s_and_not0_wrexec_b64 s[44:45], s[40:41]
  s_mov_b32 exec_lo, -1"""
    found = run_registers(body, samples32(1)[:, :32], [], ["s42", "s44", "s45"])[:, 0]
    assert [int(value) for value in found] == [
        0x0F0F00FF & ~0x00FFFF00,
        ~0x0F0F00FF & 0x00FFFF00,
        0,
    ]
