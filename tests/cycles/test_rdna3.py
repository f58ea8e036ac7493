"""Cycles of RDNA 3 and 3.5: loops, round trips to LDS, barriers, and hits of caches take what
traces of gfx1100 and gfx1151 show. What is measured over whole traces is in `test_trace_errors`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from amdjit.cycles.families import family_of
from amdjit.cycles.program import Kind, Step, program_table
from amdjit.cycles.rows import program_of
from amdjit.cycles.simulation import GroupRun, WaveRun, simulate
from amdjit.cycles.static import loop_cycles
from amdjit.isa.instruction import Instruction
from amdjit.target import read_target
from tests.cycles.test_cdna import assembled
from tests.emulator.required_tools import needs_tools

pytestmark = needs_tools

F16 = "v_wmma_f32_16x16x16_f16 v[{c}:{d}], v[{a}:{e}], v[{b}:{f}], v[{c}:{d}]"
I4 = "v_wmma_i32_16x16x16_iu4 v[{c}:{d}], v[{a}:{e}], v[{b}:{f}], v[{c}:{d}]"


def wmmas(text: str, a: int, b: int, count: int) -> str:
    """Return products whose sources begin at v`a`, v`b`, and at v0, v8 .. v56 in turn."""
    last = 7 if text is F16 else 1
    accumulators = (8 * (number % 8) for number in range(count))
    return "\n".join(
        text.format(a=a, b=b, c=c, d=c + 7, e=a + last, f=b + last) for c in accumulators
    )


def loop(body: str, cpu: str = "gfx1100") -> float:
    """Return the cycles of a pass of a loop, with a counter and a branch, of one wave a SIMD."""
    items = assembled(f"1:\n{body}\n s_cmp_eq_u32 s4, 0\n s_cbranch_scc0 1b\n", cpu)
    return loop_cycles(items, read_target(cpu)).cycles


@pytest.mark.parametrize(
    ("text", "a", "b", "cycles"),
    [
        (F16, 65, 74, 32),
        (F16, 64, 73, 34),
        (F16, 64, 72, 34),
        (I4, 65, 74, 16),
        (I4, 64, 72, 18),
    ],
)
def test_a_product_takes_longer_where_sources_share_a_bank(
    text: str, a: int, b: int, cycles: int
) -> None:
    assert loop(wmmas(text, a, b, 24)) - loop(wmmas(text, a, b, 16)) == 8 * cycles


@pytest.mark.parametrize(("cpu", "cycles"), [("gfx1100", 26), ("gfx1151", 10), ("gfx1201", 9)])
def test_a_taken_branch(cpu: str, cycles: int) -> None:
    # An s_cmp, then six cycles to the branch that reads SCC.
    assert loop("s_nop 0", cpu) - loop("s_nop 0\ns_nop 0", cpu) == -1
    assert cycles + 9 <= loop("s_nop 0", cpu) <= cycles + 14


def issued(items: Sequence[Instruction], latencies: Sequence[int], waves: int = 1) -> list[int]:
    """Return the cycles at which the last of some waves issues what is issued."""
    table = program_table(items)
    path = np.arange(len(items), dtype=np.int32)
    run = WaveRun(path, done=np.array(latencies, np.int64))
    group = GroupRun((run,) * waves, (0,) * waves)
    program = program_of(table, family_of(read_target("gfx1100")).values)
    return [int(cycle) for cycle in simulate(program, [group])[-1].issued]


@pytest.mark.parametrize(
    ("text", "cycles", "off"),
    [
        ("ds_load_b32 v32, v0", 31, 0),
        ("ds_load_u16_d16 v32, v0", 31, 0),
        ("ds_load_b64 v[32:33], v0", 33, 0),
        ("ds_load_2addr_b32 v[32:33], v0", 32, 1),
        ("ds_load_b128 v[32:35], v0", 37, 1),
        ("ds_store_b32 v0, v48", 33, 0),
        ("ds_store_b64 v0, v[48:49]", 35, 0),
        ("ds_store_b128 v0, v[48:51]", 39, 0),
        ("ds_add_u32 v0, v48", 33, 0),
        ("ds_add_rtn_u64 v[32:33], v0, v[48:49]", 36, 1),
        ("ds_bpermute_b32 v32, v0, v48", 35, 3),
    ],
)
def test_round_trips_to_lds(text: str, cycles: int, off: int) -> None:
    first, last = issued(assembled(f"{text}\n s_waitcnt lgkmcnt(0)", "gfx1100"), (0, 0))
    assert abs(last - first - cycles) <= off


@pytest.mark.parametrize(
    ("text", "name", "cycles"),
    [
        ("global_load_b32 v32, v0, s[2:3]", "vector cache latency", 70),
        ("s_load_b64 s[4:5], s[2:3], 0x0", "scalar cache latency", 27),
    ],
)
def test_hits_of_caches(text: str, name: str, cycles: int) -> None:
    latency = int(family_of(read_target("gfx1100")).values[name])
    items = assembled(f"{text}\n s_waitcnt vmcnt(0) lgkmcnt(0)", "gfx1100")
    first, last = issued(items, (latency, 0))
    assert last - first == cycles


def test_a_barrier_lets_waves_go_on_after_the_last_one() -> None:
    items = assembled("s_barrier\n v_mov_b32 v0, 0", "gfx1100")
    assert [Kind(int(step[Step.KIND])) for step in program_table(items).steps] == [
        Kind.BARRIER,
        Kind.VALU,
    ]
    first, last = issued(items, (0, 0), waves=2)
    assert last - first in (14, 15)


def test_vector_instructions_wait_for_the_scalar_registers_that_they_read() -> None:
    for scalar, cycles in (("s4", 7), ("s5", 1)):
        body = f"s_lshl_b32 s4, s6, 2\n v_add_nc_u32 v1, {scalar}, v0"
        first, last = issued(assembled(body, "gfx1100"), (0, 0))
        assert last - first == cycles
