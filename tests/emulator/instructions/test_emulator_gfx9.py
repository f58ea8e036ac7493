"""What gfx9 alone has: DPP across the halves of a wave, SDWA, and op_sel of its 16-bit
instructions. The results are compared with NumPy."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

import amdjit
from amdjit.diagnostics.errors import KernelFault
from tests.emulator.building import assemble, compile_source, emulate, using
from tests.emulator.required_tools import needs_tools

pytestmark = needs_tools
PROCESSORS = ("gfx906", "gfx908", "gfx90a", "gfx942", "gfx950")
Words = NDArray[np.uint32]
LANES = np.arange(64)


def words(count: int, seed: int = 1) -> Words:
    return np.random.default_rng(seed).integers(0, 1 << 32, count, np.uint32)


# The lane that each lane reads; -1 for none.
_CONTROLS: dict[int, Callable[[NDArray[np.int64]], NDArray[np.int64]]] = {
    0x1B: lambda lane: lane ^ 3,
    0x103: lambda lane: np.where(lane % 16 + 3 < 16, lane + 3, -1),
    0x112: lambda lane: np.where(lane % 16 >= 2, lane - 2, -1),
    0x125: lambda lane: lane // 16 * 16 + (lane - 5) % 16,
    0x130: lambda lane: np.where(lane < 63, lane + 1, -1),
    0x134: lambda lane: (lane + 1) % 64,
    0x138: lambda lane: lane - 1,
    0x13C: lambda lane: (lane - 1) % 64,
    0x140: lambda lane: lane ^ 15,
    0x141: lambda lane: lane ^ 7,
    0x142: lambda lane: lane // 16 * 16 - 1,
    0x143: lambda lane: lane // 32 * 32 - 1,
}


@pytest.mark.sample(8)
@pytest.mark.covering(1)
@pytest.mark.parametrize("control", [*_CONTROLS, 0x157])
@pytest.mark.parametrize("bound", [0, 1])
def test_dpp_reads_the_lanes_that_its_control_names(control: int, bound: int) -> None:
    """Also from the other half of the wave, and from the register that it writes."""
    source = f"""#include "common.h"
KERNEL move(GLOBAL u32 *x, GLOBAL const u32 *active) {{
  u32 lane = __builtin_amdgcn_workitem_id_x(), value = x[lane];
  if (active[lane])
    value = __builtin_amdgcn_update_dpp(value, value, {control}, 0xF, 0xE, {bound});
  x[lane] = value;
}}
"""
    x, active = words(64), np.where(words(64, 2) % 4 > 0, 1, 0).astype(np.uint32)
    given = x.copy()
    with using(cpu="gfx90a"):
        emulate(compile_source(source, "-O2"), "move", 1, 64, [given, active])
    reads = LANES // 16 * 16 + 7 if control == 0x157 else _CONTROLS[control](LANES)
    valid = (reads >= 0) & (active[reads] == 1)
    new = np.where(valid, x[reads], 0 if bound else x)
    written = (active == 1) & (LANES % 16 >= 4)
    np.testing.assert_array_equal(given, np.where(written, new, x))


def test_registers_are_indexed_by_m0() -> None:
    """As compilers for gfx9 index vectors that are held in registers."""
    source = """#include "common.h"
KERNEL index(GLOBAL u32 *x) {
  typedef u32 V __attribute__((ext_vector_type(16)));
  u32 lane = __builtin_amdgcn_workitem_id_x(), sum = 0;
  V v = *(GLOBAL V *)x;
  for (u32 n = 0; n < 16; n++) v[n] += lane * n;
  v[x[0] & 15] = lane;
  v[x[lane] & 15] = 77;
  for (u32 n = 0; n < 16; n++) sum = sum * 31 + v[n * x[n] & 15];
  x[64 + lane] = v[x[lane + 1] & 15] + sum;
}
"""
    x = words(128)
    expected = [int(value) for value in x]
    for lane in range(64):
        v = [expected[n] + lane * n for n in range(16)]
        v[expected[0] & 15] = lane
        v[expected[lane] & 15] = 77
        total = 0
        for n in range(16):
            total = total * 31 + v[n * expected[n] & 15]
        x[64 + lane] = (v[expected[lane + 1] & 15] + total) & 0xFFFFFFFF
    for tier in ("quick", "full"):
        with using(cpu="gfx90a", tier=tier):
            code = compile_source(source, "-O2")
            listing = " ".join(item.text for item in amdjit.inspect_object(code).instructions)
            assert "s_set_gpr_idx_on" in listing
            given = words(128)
            emulate(code, "index", 1, 64, [given])
            np.testing.assert_array_equal(given, x)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("v_sat_pk_u8_i16_sdwa v1, v2 dst_sel:BYTE_1 src0_sel:WORD_0", "SDWA of this instruction"),
        ("s_set_gpr_idx_on s2, 1\n v_add_u32 v1, v2, v3\n s_set_gpr_idx_off", "only V_MOV_B32"),
        ("s_set_gpr_idx_on s2, 1\n s_mov_b32 m0, 0\n s_set_gpr_idx_off", "while some have"),
        ("s_set_gpr_idx_on s2, 1\n s_branch 0\n s_set_gpr_idx_off", "inside of blocks only"),
        ("s_sendmsg sendmsg(MSG_GS_DONE, GS_OP_NOP)", "other than MSG_INTERRUPT are not emulated"),
        ("s_setvskip s2, s3", "skips vector instructions"),
        ("s_cbranch_g_fork s[2:3], s[4:5]", "order of two counts of lanes"),
        ("s_dcache_discard s[2:3], 0", "loses stores"),
        ("s_getreg_b32 s2, hwreg(HW_REG_HW_ID)", "cannot be read"),
        ("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 27, 1), 1", "reserved, or enable traps"),
    ],
)
def test_what_is_not_emulated_is_refused_with_the_reason(text: str, reason: str) -> None:
    code = assemble(f"  {text}\n", cpu="gfx90a", wave_size=64)
    with using(cpu="gfx90a"), pytest.raises(KernelFault, match=reason):
        emulate(code, "kernel", 1, 64, [np.zeros(64, np.uint32), np.zeros(64, np.uint32)])
