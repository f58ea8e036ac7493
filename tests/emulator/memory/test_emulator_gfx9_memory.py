"""Memory instructions that gfx9 has or does otherwise than later processors, against NumPy (CDNA 3
ISA, chapters 8 to 11 and 12)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from amdjit.diagnostics.errors import KernelFault
from tests.emulator.gfx9_instruction import CDNA, LANES, random_words, run_gfx9
from tests.emulator.required_tools import needs_tools

pytestmark = needs_tools


def _split(values: NDArray[Any]) -> list[NDArray[np.uint32]]:
    return list(np.ascontiguousarray(values).view(np.uint32).reshape(LANES, 2).T)


def _joined(low: NDArray[np.uint32], high: NDArray[np.uint32], kind: Any) -> NDArray[Any]:
    return np.ascontiguousarray(np.stack([low, high], 1)).view(kind)[:, 0]


@pytest.mark.parametrize("cpu", CDNA)
def test_a_compare_and_store_in_lds_has_the_expected_value_first(cpu: str) -> None:
    memory, new = random_words(1, 2)
    expected = np.where(np.arange(LANES) % 3 == 0, memory, memory ^ 1).astype(np.uint32)
    body = """
  ds_write_b32 v250, v1
  ds_cmpst_rtn_b32 v9, v250, v2, v3
  ds_read_b32 v10, v250
  s_waitcnt lgkmcnt(0)
"""
    old, after = run_gfx9(cpu, body, [memory, expected, new], (9, 10), lds=256)
    assert np.array_equal(old, memory)
    assert np.array_equal(after, np.where(expected == memory, new, memory))


def test_doubles_are_compared_and_added_in_lds() -> None:
    random = np.random.default_rng(2)
    memory, other = random.normal(size=(2, LANES))
    memory[:4], other[:4] = (0.0, -0.0, np.inf, 1.5), (-0.0, 0.0, np.inf, np.nan)
    rows = [*_split(memory), *_split(other)]
    body = """
  v_lshlrev_b32 v20, 1, v250
  ds_write_b64 v20, v[2:3]
  ds_add_rtn_f64 v[10:11], v20, v[4:5]
  ds_read_b64 v[12:13], v20
  ds_write_b64 v20, v[2:3]
  ds_cmpst_rtn_f64 v[14:15], v20, v[4:5], v[4:5]
  ds_read_b64 v[16:17], v20
  ds_write_b64 v20, v[2:3]
  ds_min_f64 v20, v[4:5]
  ds_read_b64 v[18:19], v20
  s_waitcnt lgkmcnt(0)
"""
    found = run_gfx9("gfx90a", body, [rows[0], *rows], tuple(range(10, 20)), lds=512)
    old, total, _, swapped, least = (
        _joined(found[n], found[n + 1], np.float64) for n in range(0, 10, 2)
    )
    assert np.array_equal(old.view(np.uint64), memory.view(np.uint64))
    np.testing.assert_array_equal(total, memory + other)
    expected = np.where(memory == other, other, memory)
    assert np.array_equal(swapped.view(np.uint64), expected.view(np.uint64))
    expected = np.where(other < memory, other, memory)
    assert np.array_equal(least.view(np.uint64), expected.view(np.uint64))


_SOURCES = {
    "add_src2_u32": lambda x, y: x + y,
    "rsub_src2_u32": lambda x, y: y - x,
    "max_src2_u32": np.maximum,
    "xor_src2_b32": lambda x, y: x ^ y,
    "write_src2_b32": lambda x, y: y,
    "min_src2_i32": lambda x, y: np.minimum(x.view(np.int32), y.view(np.int32)).view(np.uint32),
}


@pytest.mark.parametrize("name", _SOURCES)
def test_both_operands_of_an_atomic_may_be_in_lds(name: str) -> None:
    """The second one is 4 times a signed offset away: 256 bytes after or before."""
    x, y = random_words(3, 2)
    body = f"""
  v_add_u32 v20, 0x100, v250
  ds_write_b32 v250, v1
  ds_write_b32 v20, v2
  ds_{name} v250 offset:64
  ds_read_b32 v9, v250
  ds_write_b32 v250, v1
  ds_{name} v20 offset:{0x7FFF - 63}
  ds_read_b32 v10, v20
  s_waitcnt lgkmcnt(0)
"""
    after, before = run_gfx9("gfx908", body, [x, y], (9, 10), lds=512)
    assert np.array_equal(after, _SOURCES[name](x, y))
    assert np.array_equal(before, _SOURCES[name](y, x))


@pytest.mark.parametrize("cpu", CDNA[2:])
def test_doubles_are_added_and_compared_in_global_memory(cpu: str) -> None:
    random = np.random.default_rng(4)
    memory, other = random.normal(size=(2, LANES))
    rows = [*_split(memory), *_split(other)]
    returning = "glc" if cpu == "gfx90a" else "sc0"
    body = f"""
  v_lshlrev_b32 v20, 1, v250
  v_mov_b32 v21, s4
  v_mov_b32 v22, s5
  v_add_co_u32 v22, vcc, v20, v21
  v_mov_b32 v23, s5
  v_addc_co_u32 v23, vcc, 0, v23, vcc
  global_store_dwordx2 v20, v[2:3], s[4:5]
  s_waitcnt vmcnt(0)
  global_atomic_add_f64 v[10:11], v20, v[4:5], s[4:5] {returning}
  s_waitcnt vmcnt(0)
  flat_atomic_max_f64 v[12:13], v[22:23], v[4:5] {returning}
  s_waitcnt vmcnt(0) lgkmcnt(0)
  global_atomic_min_f64 v20, v[2:3], s[4:5]
  s_waitcnt vmcnt(0)
  global_load_dwordx2 v[14:15], v20, s[4:5]
  s_waitcnt vmcnt(0)
"""
    found = run_gfx9(cpu, body, [rows[0], *rows], tuple(range(10, 16)))
    first, second, last = (_joined(found[n], found[n + 1], np.float64) for n in (0, 2, 4))
    assert np.array_equal(first, memory)
    assert np.array_equal(second, memory + other)
    assert np.array_equal(last, np.minimum(np.maximum(memory + other, other), memory))


@pytest.mark.parametrize(
    ("cpu", "flushes"), [("gfx908", True), ("gfx90a", True), ("gfx942", False)]
)
def test_sums_in_memory_have_denormals_from_gfx942_on(cpu: str, flushes: bool) -> None:
    """LLVM: FeatureMemoryAtomicFAddF32DenormalSupport."""
    memory = np.full(LANES, 0x00400000, np.uint32)
    memory[32:] = 0x00C00000
    other = np.full(LANES, 0x00300000, np.uint32)
    other[32:] = 0x80800000
    body = """
  global_store_dword v250, v1, s[4:5]
  s_waitcnt vmcnt(0)
  global_atomic_add_f32 v250, v2, s[4:5]
  s_waitcnt vmcnt(0)
  global_load_dword v9, v250, s[4:5]
  s_waitcnt vmcnt(0)
"""
    found = run_gfx9(cpu, body, [memory, other], (9,))[0]
    assert np.all(found[:32] == (0 if flushes else 0x00700000))
    assert np.all(found[32:] == (0 if flushes else 0x00400000))


@pytest.mark.parametrize("cpu", CDNA[2:])
def test_memory_instructions_reach_accumulation_registers(cpu: str) -> None:
    memory, other = random_words(5, 2)
    returning = "glc" if cpu == "gfx90a" else "sc0"
    body = f"""
  global_load_dword a7, v250, s[4:5]
  s_waitcnt vmcnt(0)
  ds_write_b32 v250, a7
  ds_read_b32 a9, v250
  s_waitcnt lgkmcnt(0)
  v_accvgpr_write_b32 a8, v2
  s_nop 4
  global_atomic_add a10, v250, a8, s[4:5] {returning}
  s_waitcnt vmcnt(0)
  global_load_dword v11, v250, s[4:5]
  v_accvgpr_read_b32 v9, a9
  v_accvgpr_read_b32 v10, a10
  s_waitcnt vmcnt(0)
"""
    found = run_gfx9(cpu, body, [memory, other], (9, 10, 11), lds=256)
    assert np.array_equal(found[0], memory)
    assert np.array_equal(found[1], memory)
    assert np.array_equal(found[2], memory + other)


_DIRECT = {
    "ubyte": lambda row: row & 0xFF,
    "sbyte": lambda row: (row & 0xFF).astype(np.uint8).view(np.int8).astype(np.int32),
    "ushort": lambda row: row & 0xFFFF,
    "sshort": lambda row: (row & 0xFFFF).astype(np.uint16).view(np.int16).astype(np.int32),
    "dword": lambda row: row,
}


@pytest.mark.sample(12)
@pytest.mark.covering(2)
@pytest.mark.parametrize("cpu", CDNA)
@pytest.mark.parametrize("name", _DIRECT)
@pytest.mark.parametrize("memory", ["global", "buffer"])
def test_loads_put_data_into_lds(cpu: str, name: str, memory: str) -> None:
    """At M0, the instruction's offset and 4 times the lane, in active lanes."""
    rows = random_words(6, 2)
    has_bit = cpu in ("gfx906", "gfx908", "gfx90a")
    load = f"global_load_{name} v250, s[4:5] offset:256 lds"
    if memory == "buffer":
        load = f"buffer_load_{name} v250, s[20:23], 0 offen offset:256 lds"
    elif not has_bit:
        load = f"global_load_lds_{name} v250, s[4:5] offset:256"
    body = f"""
  s_mov_b32 s20, s4
  s_mov_b32 s21, s5
  s_mov_b32 s22, 0x200
  s_mov_b32 s23, 0x00027000
  v_mov_b32 v20, -1
  ds_write_b32 v250, v20 offset:320
  s_mov_b32 m0, 64
  s_mov_b32 exec_hi, 0xfffffff0
  {load}
  s_waitcnt vmcnt(0)
  s_mov_b64 exec, -1
  ds_read_b32 v9, v250 offset:320
  s_waitcnt lgkmcnt(0)
"""
    found = run_gfx9(cpu, body, rows, (9,), lds=1024)[0]
    expected = np.asarray(_DIRECT[name](rows[1])).astype(np.uint32)
    expected[32:36] = 0xFFFFFFFF
    assert np.array_equal(found, expected)


@pytest.mark.parametrize("dwords", [3, 4])
@pytest.mark.parametrize("memory", ["global", "buffer"])
def test_gfx950_puts_several_dwords_into_lds(dwords: int, memory: str) -> None:
    rows = random_words(7, 4)
    load = f"global_load_lds_dwordx{dwords} v20, s[4:5]"
    if memory == "buffer":
        load = f"buffer_load_dwordx{dwords} v20, s[20:23], 0 offen lds"
    body = f"""
  s_mov_b32 s20, s4
  s_mov_b32 s21, s5
  s_mov_b32 s22, 0x400
  s_mov_b32 s23, 0x00027000
  v_lshlrev_b32 v20, 2, v250
  s_mov_b32 m0, 16
  {load}
  s_waitcnt vmcnt(0)
  v_mul_u32_u24 v21, {dwords}, v250
  ds_read_b32 v9, v21 offset:16
  ds_read_b32 v10, v21 offset:{16 + 4 * dwords - 4}
  s_waitcnt lgkmcnt(0)
"""
    first, last = run_gfx9("gfx950", body, rows, (9, 10), lds=2048)
    memory = np.concatenate(rows).reshape(LANES, 4)
    assert np.array_equal(first, memory[:, 0])
    assert np.array_equal(last, memory[:, dwords - 1])


def test_a_scalar_store_outside_of_memory_is_a_fault() -> None:
    with pytest.raises(KernelFault, match="store"):
        run_gfx9("gfx942", "  s_store_dword s4, s[4:5], 0x7f000", random_words(1, 1), (1,))


@pytest.mark.parametrize("cpu", CDNA)
def test_lanes_move_over_whole_waves(cpu: str) -> None:
    (row,) = random_words(13, 1)
    body = """
  v_sub_u32 v20, 252, v250
  ds_bpermute_b32 v10, v20, v1
  ds_permute_b32 v11, v20, v1 offset:8
  ds_swizzle_b32 v12, v1 offset:swizzle(BITMASK_PERM,"00p11")
  v_mbcnt_lo_u32_b32 v13, -1, 0
  v_mbcnt_hi_u32_b32 v13, -1, v13
  v_readlane_b32 s20, v1, 45
  v_mov_b32 v14, s20
  v_mov_b32 v15, v1
  v_writelane_b32 v15, s20, 33
  s_mov_b32 exec_lo, 0
  v_readfirstlane_b32 s21, v1
  s_mov_b64 exec, -1
  v_mov_b32 v16, s21
  s_waitcnt lgkmcnt(0)
"""
    found = run_gfx9(cpu, body, [row], tuple(range(10, 17)))
    lanes = np.arange(LANES)
    assert np.array_equal(found[0], row[::-1])
    moved = np.zeros(LANES, np.uint32)
    moved[(63 - lanes + 2) % 64] = row
    assert np.array_equal(found[1], moved)
    assert np.array_equal(found[2], row[lanes & 32 | (lanes & 31 & 4 | 3)])
    assert np.array_equal(found[3], lanes)
    assert np.all(found[4] == row[45])
    written = row.copy()
    written[33] = row[45]
    assert np.array_equal(found[5], written)
    assert np.all(found[6] == row[32])


def test_what_cannot_be_emulated_is_refused_by_name() -> None:
    for line, reason in (
        ("s_scratch_load_dword s20, s[4:5], 0x0", "interleaved"),
        ("s_dcache_discard s[4:5], 0x0", "left the cache"),
        ("ds_add_src2_u32 v250 offset:0x8000", "bits of an address"),
    ):
        with pytest.raises(KernelFault, match=reason):
            run_gfx9("gfx908", f"  {line}", random_words(1, 1), (1,), lds=256)


@pytest.mark.parametrize("cpu", CDNA)
def test_cache_instructions_change_no_register(cpu: str) -> None:
    lines = ["s_dcache_wb", "s_dcache_inv", "s_dcache_wb_vol", "s_dcache_inv_vol"]
    lines += {
        "gfx906": ["buffer_wbinvl1", "buffer_wbinvl1_vol"],
        "gfx908": ["buffer_wbinvl1", "buffer_wbinvl1_vol"],
        "gfx90a": ["buffer_wbl2", "buffer_invl2", "buffer_wbinvl1"],
    }.get(cpu, ["buffer_wbl2 sc0 sc1", "buffer_inv sc1", "buffer_inv sc0 sc1"])
    (row,) = random_words(14, 1)
    found = run_gfx9(cpu, "\n".join(f"  {line}" for line in lines), [row], (1,))
    assert np.array_equal(found[0], row)
