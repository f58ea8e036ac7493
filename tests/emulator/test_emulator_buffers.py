"""Buffer instructions: their bounds, records and atomics."""

from __future__ import annotations

import numpy as np
import pytest
from building import assemble, emulate, missing_tools

from amdjit.diagnostics.errors import KernelFault

pytestmark = pytest.mark.skipif(missing_tools() is not None, reason=missing_tools() or "")

BUFFER = """
  s_load_b128 s[0:3], s[0:1], 0x0
  v_lshlrev_b32 v0, 2, v0
  s_wait_kmcnt 0x0
  s_mov_b32 s8, s0
  s_and_b32 s9, s1, 0xffff
  s_mov_b32 s10, 100
  s_mov_b32 s11, 0x30000000
  s_mov_b32 s12, s2
  s_and_b32 s13, s3, 0xffff
  s_mov_b32 s14, 64
  s_mov_b32 s15, 0x30000000
  s_mov_b32 s16, 8
"""


def test_raw_buffers_load_zero_and_store_nothing_out_of_bounds() -> None:
    body = f"""{BUFFER}
  v_mov_b32 v1, -1
  buffer_load_b32 v1, v0, s[8:11], s16 offen offset:4
  s_wait_loadcnt 0x0
  buffer_store_b32 v1, v0, s[12:15], null offen
  s_buffer_load_b64 s[20:21], s[8:11], 96
  s_wait_kmcnt 0x0
  v_dual_mov_b32 v2, s20 :: v_dual_mov_b32 v3, s21
  v_mov_b32 v4, 0
  global_store_b64 v4, v[2:3], s[2:3] offset:240
"""
    data = np.arange(1, 65, dtype=np.uint32)
    output = np.full(64, 7, np.uint32)
    emulate(assemble(body), "kernel", 1, 32, [data, output])
    loaded = np.array([data[n + 3] if 4 * n + 8 <= 100 else 0 for n in range(32)])
    np.testing.assert_array_equal(output[:16], loaded[:16])
    np.testing.assert_array_equal(output[16:60], np.full(44, 7))
    np.testing.assert_array_equal(output[60:62], [25, 0])


def test_buffers_with_records_and_atomics() -> None:
    body = f"""{BUFFER}
  s_or_b32 s9, s9, 0x100000
  s_mov_b32 s10, 10
  s_mov_b32 s11, 0
  v_lshrrev_b32 v5, 2, v0
  v_mov_b32 v6, 4
  buffer_load_b32 v1, v[5:6], s[8:11], null idxen offen offset:4
  s_wait_loadcnt 0x0
  v_mov_b32 v2, 3
  buffer_atomic_add_u32 v2, off, s[12:15], s16 th:TH_ATOMIC_RETURN
  s_wait_loadcnt 0x0
  v_add_nc_u32 v1, v1, v2
  global_store_b32 v0, v1, s[2:3] offset:64
"""
    data = np.arange(64, dtype=np.uint32) * 100
    output = np.zeros(64, np.uint32)
    emulate(assemble(body), "kernel", 1, 32, [data, output])
    assert output[2] == 96
    expected = [(data[4 * n + 2] if n < 10 else 0) + 3 * n for n in range(32)]
    np.testing.assert_array_equal(output[16:48], expected)


def test_what_a_buffer_claims_beyond_the_allocation_is_still_checked() -> None:
    body = (
        BUFFER.replace("s_mov_b32 s10, 100", "s_mov_b32 s10, 0x100000")
        + "  buffer_load_b32 v1, off, s[8:11], s16 offset:4096\n"
    )
    with pytest.raises(KernelFault, match="load of 4 bytes"):
        emulate(assemble(body), "kernel", 1, 32, [np.zeros(4, np.uint32), np.zeros(4, np.uint32)])
