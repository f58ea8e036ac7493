"""Buffer instructions: their bounds, records and atomics."""

from __future__ import annotations

import numpy as np
import pytest

import amdjit
from amdjit.diagnostics.errors import KernelFault
from amdjit.diagnostics.sanitizer import SanitizerError
from tests.emulator.building import assemble, compile_source, emulate
from tests.emulator.required_tools import needs_tools

pytestmark = needs_tools

BUFFER = """
  s_load_b128 s[0:3], s[0:1], 0x0
  v_lshlrev_b32 v0, 2, v0
  s_wait_kmcnt 0x0
  s_mov_b32 s8, s0
  s_and_b32 s9, s1, 0xffff
  s_mov_b32 s10, 100
  s_mov_b32 s11, 0x30014000
  s_mov_b32 s12, s2
  s_and_b32 s13, s3, 0xffff
  s_mov_b32 s14, 64
  s_mov_b32 s15, 0x30014000
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
    loaded = np.array([data[n + 3] if 4 * n + 8 <= 100 - 8 else 0 for n in range(32)])
    np.testing.assert_array_equal(output[:16], loaded[:16])
    np.testing.assert_array_equal(output[16:60], np.full(44, 7))
    np.testing.assert_array_equal(output[60:62], [25, 0])


@pytest.mark.parametrize(
    ("one", "last", "inside"),
    [(0, 0x30014000, 256), (0x400000, 0x14000, 64), (0, 0x20014000, 1 << 32)],
    ids=["raw", "records of 64 bytes", "unchecked"],
)
@pytest.mark.usefixtures("each_tier")
def test_the_offsets_of_a_lane_and_of_the_instruction_wrap_at_32_bits(
    one: int, last: int, inside: int
) -> None:
    """A lane's part is "negative", as in loops that count up to 0, and the constant makes up for
    it."""
    body = f"""{resource(one, 256, last)}
  v_add_nc_u32 v3, 0xfffcf2c0, v0
  v_mov_b32 v1, -1
  v_dual_mov_b32 v4, -1 :: v_dual_mov_b32 v5, -1
  buffer_load_b32 v1, v3, s[8:11], null offen offset:200040
  buffer_load_b64 v[4:5], v3, s[8:11], null offen offset:200000
  s_wait_loadcnt 0x0
  global_store_b32 v0, v1, s[2:3]
  global_store_b32 v0, v4, s[2:3] offset:128
  global_store_b32 v0, v5, s[2:3] offset:256
"""
    data = np.arange(1, 65, dtype=np.uint32)
    output = np.full(96, 7, np.uint32)
    emulate(assemble(body), "kernel", 1, 32, [data, output])
    places = np.arange(32)
    wanted = [places + 10, places, places + 1]
    expected = np.concatenate([np.where(4 * place < inside, data[place], 0) for place in wanted])
    np.testing.assert_array_equal(output, expected)


def test_buffers_with_records_and_atomics() -> None:
    body = f"""{BUFFER}
  s_or_b32 s9, s9, 0x100000
  s_mov_b32 s10, 10
  s_mov_b32 s11, 0x14000
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
        emulate(
            assemble(body),
            "kernel",
            1,
            32,
            [np.zeros(4, np.uint32), np.zeros(4, np.uint32)],
            alone=True,
        )


# Base in s[0:1] and s[2:3] as they come; one resource over the first array, whose fields the tests
# set.
def resource(one: int = 0, records: int = 256, last: int = 0x30014000) -> str:
    return f"""
  s_load_b128 s[0:3], s[0:1], 0x0
  v_lshlrev_b32 v0, 2, v0
  s_wait_kmcnt 0x0
  s_mov_b32 s8, s0
  s_and_b32 s9, s1, 0xffff
  s_or_b32 s9, s9, {one:#x}
  s_mov_b32 s10, {records}
  s_mov_b32 s11, {last:#x}
  s_mov_b32 s16, 8
  v_mov_b32 v1, 0
  v_mov_b32 v2, 0x3f8ccccd
"""


REFUSALS = {
    "TYPE": (
        resource(last=0x70014000),
        "buffer_load_b32 v1, off, s[8:11], null",
        "no buffer resource",
    ),
    "UNBOUND": (
        resource(last=0x30000000),
        "buffer_load_b32 v1, off, s[8:11], null",
        "format INVALID",
    ),
    "SWIZZLE": (
        resource(0x80040000, last=0x14000),
        "buffer_load_b32 v1, off, s[8:11], null",
        "2, which is reserved",
    ),
    "ELEMENT": (
        resource(0x40080000, last=0x14000),
        "buffer_load_b64 v[4:5], off, s[8:11], null",
        "fit into an element",
    ),
    "STRIDE": (
        resource(0x40060000, last=0x14000),
        "buffer_load_b32 v1, off, s[8:11], null",
        "not a multiple",
    ),
    "RAW_INDEX": (
        resource(0x00040000),
        "buffer_load_b32 v1, v1, s[8:11], null idxen",
        "OOB_SELECT 3",
    ),
    "SWIZZLED_OFFSET": (
        resource(0x40040000),
        "buffer_load_b32 v1, off, s[8:11], s16",
        "scalar offset",
    ),
    "COMPRESSED": (
        resource(last=0x34014000),
        "buffer_load_b32 v1, off, s[8:11], null",
        "compressed data",
    ),
    "SELECT reserved": (
        resource(last=0x30014002),
        "buffer_load_format_x v1, off, s[8:11], null",
        "channel selection",
    ),
    "SELECT missing": (
        resource(last=0x30014005),
        "buffer_load_format_x v1, off, s[8:11], null",
        "channel selection",
    ),
    "SELECT store": (
        resource(last=0x30014001),
        "buffer_store_format_x v1, off, s[8:11], null",
        "channel selection",
    ),
    "VALUE float": (
        resource(),
        "tbuffer_store_format_x v2, v0, s[8:11], null format:[BUF_FMT_16_FLOAT] offen",
        "without rounding",
    ),
    "VALUE integer": (
        resource(),
        "tbuffer_store_format_x v2, v0, s[8:11], null format:5 offen",
        "clamping",
    ),
    "SCALED": (
        resource(last=0x30003FAC),
        "buffer_store_format_x v1, off, s[8:11], null",
        "USCALED",
    ),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_what_no_document_settles_stops_the_launch_at_the_instruction(name: str) -> None:
    head, instruction, message = REFUSALS[name]
    arrays = [np.zeros(64, np.uint32), np.zeros(64, np.uint32)]
    with pytest.raises(KernelFault, match=message) as error:
        emulate(assemble(f"{head}  {instruction}\n"), "kernel", 1, 32, arrays)
    assert error.value.kind == "buffer"
    assert instruction.split()[0] in str(error.value)


@pytest.mark.parametrize("number", [3, 64, 0])
def test_formats_that_a_store_cannot_have_are_refused_before_the_launch(number: int) -> None:
    text = f"{resource()}  tbuffer_store_format_x v1, off, s[8:11], null format:{number}\n"
    with pytest.raises(Exception, match="scaled format" if number == 3 else "no such format"):
        emulate(assemble(text), "kernel", 1, 32, [np.zeros(64, np.uint32), np.zeros(64, np.uint32)])


def test_formats_need_their_alignment() -> None:
    text = (
        f"{resource()}  tbuffer_load_format_xy v[1:2], off, s[8:11], null "
        "format:[BUF_FMT_16_16_UINT] offset:2\n"
    )
    with pytest.raises(KernelFault, match="not aligned"):
        emulate(assemble(text), "kernel", 1, 32, [np.zeros(64, np.uint32), np.zeros(64, np.uint32)])


def test_what_is_outside_is_never_refused() -> None:
    text = f"""{resource(records=0, last=0)}
  buffer_load_b32 v1, v0, s[8:11], null offen
  s_wait_loadcnt 0x0
  global_store_b32 v0, v1, s[2:3]
"""
    output = np.full(64, 7, np.uint32)
    emulate(assemble(text), "kernel", 1, 32, [np.ones(64, np.uint32), output])
    np.testing.assert_array_equal(output[:32], 0)


def test_tfe_leaves_its_register_since_all_memory_is_resident() -> None:
    text = f"""{resource()}
  v_mov_b32 v4, 5
  v_mov_b32 v5, 6
  buffer_load_b32 v[4:5], v0, s[8:11], null offen tfe
  s_wait_loadcnt 0x0
  global_store_b64 v1, v[4:5], s[2:3]
"""
    output = np.zeros(64, np.uint32)
    emulate(assemble(text), "kernel", 1, 1, [np.arange(9, 73, dtype=np.uint32), output])
    np.testing.assert_array_equal(output[:2], [9, 6])


def test_the_upper_half_of_a_wave64_adds_its_own_lanes() -> None:
    text = f"""{resource(0x00040000, 64, 0x00814000)}
  buffer_load_b32 v1, off, s[8:11], null
  s_wait_loadcnt 0x0
  global_store_b32 v0, v1, s[2:3]
"""
    data, output = np.arange(64, dtype=np.uint32) * 3, np.zeros(64, np.uint32)
    emulate(assemble(text, wave_size=64), "kernel", 1, 64, [data, output])
    np.testing.assert_array_equal(output, data)


def test_the_checks_follow_converted_formats() -> None:
    body = """
  buffer_load_format_x v6, v0, s[8:11], null offen
  s_wait_loadcnt 0x0
  buffer_store_format_x v6, v0, s[8:11], null offen
"""
    arrays = [np.arange(64, dtype=np.uint32), np.zeros(64, np.uint32)]
    with amdjit.sanitize("init", "race", "memory", "sync"):
        emulate(assemble(resource(last=0x30014FAC) + body), "kernel", 1, 32, arrays)
    undefined = body.replace("_store_format_x v6", "_store_format_x v7")
    with pytest.raises(SanitizerError, match="was never written"), amdjit.sanitize("init"):
        emulate(assemble(resource(last=0x30014FAC) + undefined), "kernel", 1, 32, arrays)


CLANG = """#include "common.h"
KERNEL k(GLOBAL unsigned *x, GLOBAL unsigned *y, u32 records) {
  __amdgpu_buffer_rsrc_t from =
      __builtin_amdgcn_make_buffer_rsrc((void *)x, 0, records, 0x30014000);
  __amdgpu_buffer_rsrc_t to = __builtin_amdgcn_make_buffer_rsrc((void *)y, 0, records, 0x30014000);
  typedef unsigned quad __attribute__((ext_vector_type(4)));
  quad value = __builtin_amdgcn_raw_buffer_load_b128(from, 16 * LANE, 8, 0);
  __builtin_amdgcn_raw_buffer_store_b128(value + 1, to, 16 * LANE, 8, 0);
}"""


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_buffers_of_a_kernel_in_c(level: str) -> None:
    """The buffer's end is 8 bytes nearer, by the scalar offset, and lies within an element of 16
    bytes."""
    x, y = np.arange(64, dtype=np.uint32), np.zeros(64, np.uint32)
    emulate(compile_source(CLANG, level), "k", 1, 16, [x, y, np.uint32(208)])
    expected = np.where((np.arange(64) >= 2) & (np.arange(64) < 52), np.arange(64) + 1, 0)
    np.testing.assert_array_equal(y, expected)
