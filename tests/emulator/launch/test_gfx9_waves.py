"""How waves of gfx9 begin: ids of work-items and workgroups, arguments in registers, scratch memory
by buffers and by FLAT_SCRATCH, and accumulation VGPRs that keep their values."""

from __future__ import annotations

import numpy as np
import pytest

from amdjit.code_object import CodeObject
from amdjit.diagnostics.errors import KernelFault
from tests.emulator.building import assemble, compile_source, emulate, using
from tests.emulator.required_tools import needs_tools

pytestmark = needs_tools
# gfx906 has no accumulation registers.
PROCESSORS = ("gfx906", "gfx908", "gfx90a", "gfx942", "gfx950")
_HEAD = """#include "common.h"
#define GROUP(axis) __builtin_amdgcn_workgroup_id_##axis()
#define ITEM(axis) __builtin_amdgcn_workitem_id_##axis()
"""


@pytest.mark.sample(2)
@pytest.mark.covering(1)
@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.parametrize("cpu", PROCESSORS)
def test_work_items_and_workgroups_know_their_places(cpu: str, level: str) -> None:
    """The ids are packed in v0, on gfx908 in v0 to v2; workgroups find theirs in SGPRs."""
    source = f"""{_HEAD}
KERNEL all(GLOBAL u32 *x) {{
  u32 group = GROUP(x) + 3 * (GROUP(y) + 2 * GROUP(z));
  u32 item = ITEM(x) + 10 * (ITEM(y) + 5 * ITEM(z));
  x[group * 150 + item] = GROUP(x) | GROUP(y) << 4 | GROUP(z) << 8 | ITEM(x) << 12 | ITEM(y) << 16
                          | ITEM(z) << 20;
}}
KERNEL last(GLOBAL u32 *x) {{ if (ITEM(y) == 0) x[GROUP(z)] = GROUP(z) + 1; }}
"""
    with using(cpu=cpu):
        code = compile_source(source, level)
        x = np.zeros(3 * 2 * 4 * 150, np.uint32)
        emulate(code, "all", (3, 2, 4), (10, 5, 3), [x])
        group, item = np.arange(x.size) // 150, np.arange(x.size) % 150
        groups = group % 3 | group // 3 % 2 << 4 | group // 6 << 8
        items = item % 10 << 12 | item // 10 % 5 << 16 | item // 50 << 20
        np.testing.assert_array_equal(x, groups | items)
        x = np.zeros(6, np.uint32)
        emulate(code, "last", (2, 3, 6), (8, 8), [x])
        assert x.tolist() == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("cpu", ["gfx90a", "gfx942"])
def test_arguments_that_are_preloaded_are_in_registers(cpu: str) -> None:
    source = f"""{_HEAD}
KERNEL sum(GLOBAL u32 *x, u32 a, u32 b, unsigned long c) {{
  x[GROUP(x) * 64 + ITEM(x)] = a + 3 * b + 5 * (u32)(c >> 32) + GROUP(x);
}}
"""
    with using(cpu=cpu):
        code = compile_source(source, "-O2", "-mllvm", "-amdgpu-kernarg-preload-count=8")
        descriptor = CodeObject.read(code).kernels["sum"].descriptor
        assert descriptor.kernarg_preload_dwords > 2
        x = np.zeros(128, np.uint32)
        emulate(code, "sum", 2, 64, [x, np.uint32(7), np.uint32(11), np.uint64(13 << 32)])
    np.testing.assert_array_equal(x, 7 + 33 + 65 + np.arange(128) // 64)


_PRIVATE = f"""{_HEAD}
__attribute__((noinline)) void fill(u32 *a, u32 count, u32 seed) {{
  for (u32 i = 0; i < count; i++) a[i] = seed * 31 + i * i;
}}
KERNEL arrays(GLOBAL u32 *x) {{
  u32 lane = ITEM(x), a[40], b[24];
  fill(a, 40, lane);
  fill(b, 24, lane + GROUP(x));
  u32 sum = 0;
  for (u32 i = 0; i < 64; i++) sum = sum * 7 + (i % 3 ? a[(i * lane) % 40] : b[(i + lane) % 24]);
  x[GROUP(x) * 192 + lane] = sum;
}}
KERNEL beyond(GLOBAL u32 *x) {{
  volatile u32 a[8];
  for (u32 i = 0; i < 8; i++) a[i] = i;
  x[ITEM(x)] = a[x[ITEM(x)]];
}}
"""


def _expected() -> list[int]:
    found = []
    for group in range(3):
        for lane in range(192):
            a = [(lane * 31 + i * i) & 0xFFFFFFFF for i in range(40)]
            b = [((lane + group) * 31 + i * i) & 0xFFFFFFFF for i in range(24)]
            total = 0
            for i in range(64):
                total = total * 7 + (a[i * lane % 40] if i % 3 else b[(i + lane) % 24])
            found.append(total & 0xFFFFFFFF)
    return found


@pytest.mark.sample(2)
@pytest.mark.covering(1)
@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.parametrize("cpu", PROCESSORS)
def test_each_lane_has_scratch_memory_of_its_own(cpu: str, level: str) -> None:
    """Reached through the private segment buffer and flat addresses (gfx908, gfx90a), or by scratch
    instructions; also in functions."""
    with using(cpu=cpu):
        x = np.zeros(3 * 192, np.uint32)
        emulate(compile_source(_PRIVATE, level), "arrays", 3, 192, [x])
    assert x.tolist() == _expected()


@pytest.mark.parametrize("cpu", ["gfx90a", "gfx942"])
def test_an_access_beyond_scratch_memory_is_a_fault(cpu: str) -> None:
    x = np.zeros(64, np.uint32)
    x[5] = 100_000
    with using(cpu=cpu), pytest.raises(KernelFault, match="outside of the private memory") as fault:
        emulate(compile_source(_PRIVATE, "-O1"), "beyond", 1, 64, [x])
    assert fault.value.thread == (5, 0, 0)


@pytest.mark.parametrize(
    ("change", "access"),
    [
        ("s_add_u32 s0, s0, 64", "buffer_store_dword v0, off, s[0:3], 0"),
        ("s_movk_i32 s10, 0x40", "buffer_store_dword v0, off, s[0:3], s10"),
        ("v_mov_b32 v1, 1", "buffer_store_dword v0, v1, s[0:3], 0 idxen"),
    ],
)
def test_the_private_segment_buffer_names_dwords_of_all_lanes(change: str, access: str) -> None:
    body = f"  s_add_u32 s0, s0, s9\n  s_addc_u32 s1, s1, 0\n  {change}\n  {access}"
    with using(cpu="gfx90a"), pytest.raises(KernelFault, match="private segment buffer"):
        emulate(_assembled(body), "kernel", 1, 64, _buffers())


def _assembled(body: str) -> bytes:
    directives = """.amdhsa_user_sgpr_private_segment_buffer 1
  .amdhsa_system_sgpr_private_segment_wavefront_offset 1"""
    return assemble(body, cpu="gfx90a", wave_size=64, private=64, directives=directives)


def _buffers() -> list[np.ndarray]:
    return [np.arange(64, dtype=np.uint32), np.zeros(64, np.uint32)]


@pytest.mark.sample(4)
@pytest.mark.parametrize("tier", ["quick", "full"])
@pytest.mark.parametrize("cpu", PROCESSORS[1:])
def test_accumulation_registers_are_others_and_keep_their_values(cpu: str, tier: str) -> None:
    """Of both halves of a wave, also where it waits for another wave."""
    body = """
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_lshlrev_b32 v1, 2, v0
  s_waitcnt lgkmcnt(0)
  global_load_dword v2, v1, s[4:5]
  v_mov_b32 v3, 3
  s_waitcnt vmcnt(0)
  v_accvgpr_write_b32 a2, v2
  v_accvgpr_write_b32 a255, v1
  v_mov_b32 v2, 1
  s_barrier
  v_accvgpr_read_b32 v3, a2
  v_accvgpr_read_b32 v4, a255
  v_mad_u32_u24 v3, v3, v2, v4
  global_store_dword v1, v3, s[6:7]
"""
    x, found = np.arange(128, dtype=np.uint32) * 3 + 1, np.zeros(128, np.uint32)
    with using(cpu=cpu, tier=tier):
        emulate(assemble(body, cpu=cpu, wave_size=64), "kernel", 1, 128, [x, found])
    np.testing.assert_array_equal(found, x + 4 * np.arange(128))


def test_hardware_registers_say_where_the_apertures_are() -> None:
    body = """
  s_load_dwordx2 s[6:7], s[0:1], 0x8
  s_getreg_b32 s8, hwreg(HW_REG_SH_MEM_BASES)
  s_mov_b64 s[10:11], src_shared_base
  s_mov_b64 s[12:13], src_private_base
  s_getreg_b32 s9, hwreg(HW_REG_XCC_ID)
  s_pack_hh_b32_b16 s10, s13, s11
  s_sub_u32 s8, s8, s10
  s_or_b32 s8, s8, s9
  v_mov_b32 v1, s8
  v_lshlrev_b32 v2, 2, v0
  s_waitcnt lgkmcnt(0)
  global_store_dword v2, v1, s[6:7]
"""
    found = np.ones(64, np.uint32)
    with using(cpu="gfx942"):
        code = assemble(body, cpu="gfx942", wave_size=64)
        emulate(code, "kernel", 1, 64, [np.zeros(1, np.uint32), found])
    assert not found.any()


@pytest.mark.parametrize("text", ["s_mov_b64 flat_scratch, 0", "s_mov_b32 flat_scratch_hi, 7"])
def test_flat_scratch_holds_the_address_of_the_waves_memory(text: str) -> None:
    with using(cpu="gfx90a"), pytest.raises(KernelFault, match="FLAT_SCRATCH is set to another"):
        emulate(_assembled(f"  {text}"), "kernel", 1, 64, _buffers())
