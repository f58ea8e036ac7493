"""The table of a program says what its instructions read, write, wait for and send."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from trace_programs import assembled

from amdjit.cycles.program import (
    COUNTERS,
    FIRST_SGPR,
    NO_WAIT,
    SCC,
    VCC,
    Dependency,
    Kind,
    ProgramTable,
    Step,
    program_table,
)
from amdjit.isa.decode import decode_all

EXEC = 381


def table_of(*texts: str) -> ProgramTable:
    codes = assembled(texts)
    return program_table(list(decode_all(b"".join(codes[text] for text in texts), 0x100)))


def step(text: str, column: Step) -> int:
    return int(table_of(text).steps[0][column])


def s(*numbers: int) -> list[int]:
    return [FIRST_SGPR + number for number in numbers]


@pytest.mark.parametrize(
    ("text", "reads", "writes"),
    [
        ("v_add_f32_e32 v0, v0, v3", [0, 3, EXEC], [0]),
        ("v_fmac_f32_e32 v5, v34, v31", [5, 31, 34, EXEC], [5]),
        ("v_dual_fmac_f32 v2, v46, v32 :: v_dual_fmac_f32 v5, v35, v27",
         [2, 5, 27, 32, 35, 46, EXEC], [2, 5]),
        ("v_add_co_ci_u32_e32 v2, vcc_lo, s7, v2, vcc_lo", [2, *s(7), EXEC], [2, VCC]),
        ("v_cmpx_eq_u32_e32 0, v0", [0, EXEC], [EXEC]),
        ("s_add_nc_u64 s[0:1], s[4:5], s[0:1]", s(0, 1, 4, 5), s(0, 1)),
        ("s_cmp_eq_u32 s2, 0x100", s(2), [SCC]),
        ("s_cbranch_scc0 65425", [SCC], []),
        ("global_store_b64 v0, v[2:3], s[0:1]", [0, 2, 3, *s(0, 1), EXEC], []),
        ("ds_load_b128 v[2:5], v1", [1, EXEC], [2, 3, 4, 5]),
        ("v_wmma_i32_16x16x16_iu8 v[50:57], v[46:47], v[48:49], v[50:57]",
         list(range(46, 58)), list(range(50, 58))),
    ],
)  # fmt: skip
def test_registers(text: str, reads: Sequence[int], writes: Sequence[int]) -> None:
    table = table_of(text)
    assert sorted(table.reads(0)) == sorted(reads)
    assert sorted(table.writes(0)) == sorted(writes)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("s_wait_kmcnt 0x0", {"kmcnt": 0}),
        ("s_wait_loadcnt 0x4", {"loadcnt": 4}),
        ("s_wait_dscnt 0x1", {"dscnt": 1}),
        # gfx11's lgkmcnt(0)
        ("s_waitcnt 64519", {"dscnt": 0, "kmcnt": 0}),
        ("s_nop 0x0", {}),
    ],
)
def test_waits(text: str, expected: dict[str, int]) -> None:
    limits = [expected.get(name, NO_WAIT) for name in COUNTERS]
    assert list(table_of(text).waits[0]) == limits


@pytest.mark.parametrize(
    ("text", "kind", "transfer", "result", "counted"),
    [
        ("global_load_b128 v[22:25], v[16:17], off", Kind.VECTOR_MEMORY, 2, 4, "loadcnt"),
        ("global_store_b128 v[4:5], v[0:3], off", Kind.VECTOR_MEMORY, 6, 0, "storecnt"),
        ("global_store_b64 v0, v[2:3], s[0:1]", Kind.VECTOR_MEMORY, 3, 0, "storecnt"),
        ("ds_store_b32 v1, v0", Kind.LDS, 2, 0, "dscnt"),
        ("ds_load_b128 v[2:5], v1", Kind.LDS, 1, 4, "dscnt"),
        ("ds_append v32", Kind.LDS, 1, 1, "dscnt"),
        ("s_load_b64 s[0:1], s[0:1], null", Kind.SCALAR_MEMORY, 0, 0, "kmcnt"),
    ],
)
def test_memory_instructions(
    text: str, kind: Kind, transfer: int, result: int, counted: str
) -> None:
    row = table_of(text).steps[0]
    found = [row[column] for column in (Step.KIND, Step.TRANSFER, Step.RESULT, Step.COUNTED)]
    assert found == [kind, transfer, result, 1 << COUNTERS.index(counted)]


def test_transfers_are_those_that_trace_packets_count() -> None:
    # The same register twice is sent twice.
    assert step("ds_store_b32 v5, v4", Step.TRANSFER) == 2
    assert step("global_load_b128 v[46:49], v[46:47], off offset:768", Step.TRANSFER) == 2


def test_delays_of_s_delay_alu() -> None:
    row = table_of("s_delay_alu instid0(VALU_DEP_2) | instskip(SKIP_1) | instid1(VALU_DEP_4)").steps
    columns = (Step.KIND, Step.DELAY, Step.SKIP, Step.NEXT_DELAY)
    assert [row[0][column] for column in columns] == [Kind.DELAY, 2, 2, 4]


@pytest.mark.parametrize(
    ("text", "waits"),
    [
        ("s_wait_alu 0xfffe", Dependency.SALU_SCALAR),
        ("s_wait_alu 0xfffd", Dependency.VALU_VCC),
        ("s_wait_alu 0xf1ff", Dependency.VALU_SCALAR),
    ],
)
def test_dependencies_of_s_wait_alu(text: str, waits: Dependency) -> None:
    assert step(text, Step.DEPENDENCIES) == waits


def test_carries_that_go_nowhere_count_as_scalars() -> None:
    null = "v_mad_co_u64_u32 v[40:41], null, v12, v13, v[14:15]"
    assert step(null, Step.USES_SGPR)
    assert not step("v_add_co_u32 v16, vcc_lo, 0x400, v16", Step.USES_SGPR)
    assert step("v_add_co_u32 v1, vcc_lo, s6, v1", Step.USES_SGPR)


def test_what_comes_before_a_message_needs_the_sources_of_memory_instructions() -> None:
    table = table_of("s_nop 0x0", "s_nop 0x0", "s_sendmsg 0x3", "s_endpgm")
    assert list(table.steps[:, Step.NEEDS_SOURCES]) == [0, 1, 1, 0]
    assert list(table.addresses) == [0x100, 0x104, 0x108, 0x10C]


def test_a_program_without_instructions_is_an_empty_table() -> None:
    table = program_table([])
    assert len(table) == 0
    assert table.steps.shape == (0, Step.COLUMNS)
    assert table.registers.dtype == np.int32
