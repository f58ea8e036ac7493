"""Buffer instructions with gfx9's resources, against NumPy (CDNA 3 ISA, chapter 9; what is checked
is measured: ROCm/rocm-systems, rocjitsu, `addr_calc_buffer.h`)."""

from __future__ import annotations

import numpy as np
import pytest

from amdjit.diagnostics.errors import KernelFault
from tests.emulator.gfx9_instruction import CDNA, LANES, random_words, run_gfx9
from tests.emulator.required_tools import needs_tools

pytestmark = needs_tools


def _buffer(records: int, stride: int = 0, third: int = 0x00027000, high: int = 0) -> str:
    return f"""
  s_mov_b32 s20, s4
  s_or_b32 s21, s5, 0x{stride << 16 | high:x}
  s_mov_b32 s22, {records}
  s_mov_b32 s23, 0x{third:x}
"""


@pytest.mark.parametrize("cpu", CDNA)
def test_raw_buffers_are_checked_dword_by_dword(cpu: str) -> None:
    """With the scalar offset; what is outside reads as 0 and is not written."""
    memory = np.concatenate(random_words(8, 4))
    rows = list(memory.reshape(4, LANES))
    body = f"""{_buffer(600)}
  s_mov_b32 s24, 8
  v_lshlrev_b32 v20, 1, v250
  v_add_u32 v20, 100, v20
  buffer_load_dwordx4 v[10:13], v20, s[20:23], s24 offen offset:4
  s_waitcnt vmcnt(0)
"""
    found = run_gfx9(cpu, body, rows, (10, 11, 12, 13))
    for lane in range(LANES):
        for part in range(4):
            place = 100 + 8 * lane + 8 + 4 + 4 * part
            expected = int(memory[place // 4]) if place + 4 <= 600 else 0
            assert int(found[part][lane]) == expected, (lane, part)


@pytest.mark.parametrize("cpu", CDNA)
def test_a_buffer_of_which_all_lanes_are_outside_reads_as_0(cpu: str) -> None:
    body = f"{_buffer(0)}\n  v_mov_b32 v9, -1\n  buffer_load_dword v9, v250, s[20:23], 0 offen"
    assert not run_gfx9(cpu, body, random_words(1, 1), (9,)).any()


@pytest.mark.parametrize("cpu", CDNA)
def test_records_are_checked_by_their_number_alone(cpu: str) -> None:
    memory = np.concatenate(random_words(9, 4))
    rows = list(memory.reshape(4, LANES))
    body = f"""{_buffer(20, stride=12)}
  v_lshrrev_b32 v20, 2, v250
  v_mov_b32 v21, 8
  buffer_load_dwordx2 v[10:11], v[20:21], s[20:23], 0 idxen offen
  s_waitcnt vmcnt(0)
"""
    found = run_gfx9(cpu, body, rows, (10, 11))
    for lane in range(LANES):
        for part in range(2):
            place = (12 * lane + 8) // 4 + part
            assert int(found[part][lane]) == (int(memory[place]) if lane < 20 else 0)


@pytest.mark.parametrize("cpu", CDNA)
def test_a_resource_that_adds_lanes_is_not_checked(cpu: str) -> None:
    """The stride has more bits then, where other resources have the data format."""
    memory = np.concatenate(random_words(10, 4))
    rows = list(memory.reshape(4, LANES))
    body = f"""{_buffer(1, stride=8, third=1 << 23)}
  buffer_load_dword v10, off, s[20:23], 0 offset:4
  s_waitcnt vmcnt(0)
"""
    found = run_gfx9(cpu, body, rows, (10,))[0]
    assert np.array_equal(found, memory[1 : 2 * LANES : 2])


@pytest.mark.parametrize("cpu", CDNA)
def test_a_swizzled_buffer_interleaves_records(cpu: str) -> None:
    """Groups of 8 records, dword by dword; the resource adds the lane."""
    memory = np.concatenate(random_words(11, 4))
    rows = list(memory.reshape(4, LANES))
    body = f"""{_buffer(64, stride=16, third=1 << 23, high=0x80000000)}
  buffer_load_dword v10, off, s[20:23], 0 offset:8
  s_waitcnt vmcnt(0)
"""
    found = run_gfx9(cpu, body, rows, (10,))[0]
    lanes = np.arange(LANES)
    places = (lanes // 8) * 16 * 8 + 8 * 8 + lanes % 8 * 4
    assert np.array_equal(found, memory[places // 4])


def test_uncertain_resources_are_refused() -> None:
    for high, third, reason in (
        (0x80000000, 0x00027000, "does not add"),
        (0, 0x40027000, "no buffer resource"),
        (0, 0, "not bound"),
    ):
        body = f"""{_buffer(1024, stride=16, third=third, high=high)}
  buffer_load_dword v10, v250, s[20:23], 0 idxen
"""
        with pytest.raises(KernelFault, match=reason):
            run_gfx9("gfx942", body, random_words(1, 4), (10,))


def _format(data: str, number: str) -> str:
    return f"format:[BUF_DATA_FORMAT_{data},BUF_NUM_FORMAT_{number}] offen"


@pytest.mark.parametrize("cpu", CDNA)
def test_typed_buffers_name_a_data_format_and_a_number_format(cpu: str) -> None:
    memory = np.concatenate(random_words(12, 2))
    rows = list(memory.reshape(2, LANES))
    body = f"""{_buffer(512)}
  tbuffer_load_format_xy v[10:11], v250, s[20:23], 0 {_format("16_16", "UINT")}
  tbuffer_load_format_xyzw v[12:15], v250, s[20:23], 0 {_format("8_8_8_8", "UNORM")}
  v_mov_b32 v16, -1
  tbuffer_load_format_d16_x v16, v250, s[20:23], 0 {_format("16", "SINT")}
  buffer_load_format_x v17, v250, s[20:23], 0 offen
  v_mov_b32 v18, 1.0
  tbuffer_store_format_x v18, v250, s[20:23], 0 {_format("16", "FLOAT")} offset:256
  s_waitcnt vmcnt(0)
  global_load_dword v19, v250, s[4:5] offset:256
  s_waitcnt vmcnt(0)
"""
    # The resource's own format: four bytes, selected in their order.
    body = body.replace("0x27000", f"0x{10 << 15 | 4 << 12 | 0xFAC:x}")
    found = run_gfx9(cpu, body, rows, tuple(range(10, 20)))
    one = rows[0]
    assert np.array_equal(found[0], one & 0xFFFF)
    assert np.array_equal(found[1], one >> 16)
    for channel in range(4):
        expected = (one >> 8 * channel & 0xFF).astype(np.float32) / np.float32(255)
        assert np.array_equal(found[2 + channel].view(np.float32), expected)
    assert np.array_equal(found[6], one & 0xFFFF | 0xFFFF0000)
    assert np.array_equal(found[7], one & 0xFF)
    assert np.array_equal(found[9], rows[1] & 0xFFFF0000 | 0x3C00)


@pytest.mark.parametrize("cpu", CDNA)
def test_scalar_stores_and_atomics(cpu: str) -> None:
    memory = np.arange(LANES, dtype=np.uint32) * 3
    body = f"""{_buffer(64)}
  s_mov_b32 s30, 100
  s_mov_b32 s31, 200
  s_mov_b32 s32, 7
  s_mov_b32 s33, 9
  s_mov_b32 s40, 0x10
  s_store_dword s30, s[4:5], 0x4
  s_store_dwordx2 s[30:31], s[4:5], s40
  s_buffer_store_dword s31, s[20:23], 0x3c
  s_buffer_store_dword s31, s[20:23], 0x40
  s_dcache_wb
  s_atomic_add s32, s[4:5], 0x8 glc
  s_buffer_atomic_umax s33, s[20:23], 0xc glc
  s_waitcnt lgkmcnt(0)
  s_mov_b32 s34, 5
  s_mov_b32 s35, 0x3c
  s_atomic_cmpswap s[34:35], s[4:5], 0x50 glc
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v10, s32
  v_mov_b32 v11, s33
  v_mov_b32 v12, s34
  global_load_dword v9, v250, s[4:5]
  s_waitcnt vmcnt(0)
"""
    found = run_gfx9(cpu, body, [memory], (9, 10, 11, 12))
    expected = memory.copy()
    expected[1], expected[4:6], expected[15] = 100, (100, 200), 200
    expected[2], expected[3], expected[20] = 6 + 7, 9, 5
    assert np.array_equal(found[0], expected)
    assert found[1:, 0].tolist() == [6, 9, 60]
