"""Cycles of CDNA 3 and 4: closed forms, AMD's table of MFMA, and traces of gfx950."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from cycle_model import Replay, replay
from trace_errors import errors_of
from trace_replays import replay_in_host_code

import amdjit
from amdjit import f32, shared
from amdjit.code_object import CodeObject
from amdjit.cycles.families import family_of
from amdjit.cycles.parameters import issue_cycles
from amdjit.cycles.program import Kind, program_table
from amdjit.cycles.rows import program_of
from amdjit.cycles.simulation import GroupRun, WaveRun, simulate
from amdjit.cycles.static import loop_cycles
from amdjit.isa.analysis.control_flow import build_graph
from amdjit.isa.analysis.kernel_code import kernel_text
from amdjit.isa.instruction import Instruction
from amdjit.isa.instruction_set import instruction_set_of
from amdjit.isa.rows import opcodes
from amdjit.target import read_target
from tests.emulator.building import assemble
from tests.emulator.required_tools import needs_tools

HARDWARE = Path(__file__).parents[1] / "hardware"
TRACES = sorted((HARDWARE / "traces_cdna").glob("*__*.json"))
PROCESSORS = {"cdna1": "gfx908", "cdna2": "gfx90a", "cdna3": "gfx942"}


def assembled(body: str, cpu: str) -> list[Instruction]:
    """Return the instructions of a body, without the end of the program."""
    code = CodeObject.read(assemble(body, cpu=cpu))
    (kernel,) = code.kernels.values()
    graph = build_graph(kernel_text(code, kernel), kernel.entry_address)
    found = [item for block in graph.blocks.values() for item in block.instructions]
    return sorted(found, key=lambda item: item.pc)[:-1]


def loop(body: str, cpu: str = "gfx942", waves: int = 1) -> float:
    """Return the cycles of a pass of a loop, with a counter and a branch, on one wave of each
    SIMD."""
    items = assembled(f"1:\n{body}\n s_cmp_eq_u32 s4, 0\n s_cbranch_scc0 1b\n", cpu)
    return loop_cycles(items, read_target(cpu), waves, 64).cycles


# What the counter and the branch take: s_cmp, two quanta to the branch, five to the next issue.
REST = 4 + 4 + 20
F16 = "v_mfma_f32_32x32x8_f16 v[0:15], v[64:65], v[66:67], v[0:15]"
F32 = "v_mfma_f32_32x32x2_f32 v[0:15], v64, v66, v[0:15]"
SPARSE = "v_smfmac_f32_32x32x16_f16 v[0:15], v[64:65], v[66:69], v70"
DOUBLE = "v_mfma_f64_16x16x4_f64 v[0:7], v[64:65], v[66:67], v[0:7]"


def moves(count: int) -> str:
    """Return moves that depend on nothing."""
    return "\n".join(f"v_mov_b32 v{100 + number}, 0" for number in range(count))


@needs_tools
@pytest.mark.parametrize("count", [1, 7, 20])
def test_vector_instructions_take_a_quantum_each(count: int) -> None:
    assert loop(moves(count)) == 4 * count + REST
    assert loop("\n".join(["v_add_f32 v100, v100, v100"] * count)) == 4 * count + REST


@needs_tools
def test_transcendental_instructions_take_four() -> None:
    assert loop("v_rcp_f32 v1, v2\n v_rcp_f32 v3, v4\n v_mov_b32 v5, 0") == 16 + 16 + 4 + REST


@pytest.mark.sample(3)
@needs_tools
@pytest.mark.parametrize(
    ("product", "cpu", "cycles"),
    [(F16, "gfx942", 32), (F32, "gfx942", 64), (SPARSE, "gfx942", 32), (DOUBLE, "gfx942", 32),
     (F16, "gfx950", 32), (DOUBLE, "gfx950", 64)],
)  # fmt: skip
def test_products_follow_each_other_after_their_passes(product: str, cpu: str, cycles: int) -> None:
    long = loop("\n".join([product] * 20), cpu) - loop("\n".join([product] * 10), cpu)
    assert long == 10 * cycles
    # Of several waves of a SIMD, too.
    assert loop("\n".join([product] * 20), cpu, waves=4) == pytest.approx(80 * cycles, rel=0.02)


@needs_tools
def test_the_vector_alu_works_beside_xdl_only() -> None:
    """Beside a product of 32 cycles there is room for 7 instructions, one less beside a sparse one;
    f32 and f64 products leave none."""
    for product, free in ((F16, 7), (SPARSE, 6), (F32, 0), (DOUBLE, 0)):
        alone = loop("\n".join([product] * 10))
        beside = loop("\n".join([f"{product}\n{moves(free)}"] * 10))
        more = loop("\n".join([f"{product}\n{moves(free + 1)}"] * 10))
        assert beside == pytest.approx(alone, abs=32), product
        assert more == pytest.approx(beside + 40, abs=32), product
        assert more > beside + 30, product


@needs_tools
def test_memory_instructions_do_not_wait_for_products() -> None:
    load = "global_load_dword v200, v201, s[0:1]"
    several = "\n".join([F32] * 3)
    assert loop(f"{several}\n{load}\n{F32}") == pytest.approx(loop(f"{several}\n{F32}"), abs=16)


@needs_tools
@pytest.mark.parametrize(("cpu", "quanta"), [("gfx942", 4), ("gfx950", 2)])
def test_a_pair_of_simds_has_half_of_lds(cpu: str, quanta: int) -> None:
    """16 bytes of 64 lanes: 8 groups of lanes on gfx942, 4 on gfx950."""
    loads = "\n".join(f"ds_read_b128 v[{4 * n}:{4 * n + 3}], v100" for n in range(12))
    body = f"{loads}\n s_waitcnt lgkmcnt(0)"
    less = body.replace("ds_read_b128 v[44:47], v100\n", "")
    longer = loop(body, cpu, waves=4) - loop(less, cpu, waves=4)
    assert longer == pytest.approx(8 * 4 * quanta, abs=2)


@needs_tools
def test_waves_wait_for_each_other_at_a_barrier() -> None:
    """The second wave comes 100 quanta later."""
    items = assembled("s_nop 0\n s_barrier\n v_mov_b32 v0, 0", "gfx942")
    table = program_table(items)
    assert table.steps[1, 0] == Kind.BARRIER
    path = np.arange(3, dtype=np.int32)
    runs = WaveRun(path), WaveRun(path, start=100)
    first, second = simulate(
        program_of(table, family_of(read_target("gfx942")).values), [GroupRun(runs, (0, 1))]
    )
    assert second.issued.tolist() == [400, 404, 420]
    assert first.issued.tolist() == [0, 4, 420]


@needs_tools
def test_issue_cycles_of_f8f6f4_depend_on_the_formats() -> None:
    text = "v_mfma_f32_32x32x64_f8f6f4 v[0:15], v[32:{}], v[40:{}], v[0:15] cbsz:{} blgp:{}"
    for cbsz, blgp, cycles in ((0, 0, 64), (4, 4, 32), (2, 3, 32), (4, 1, 64)):
        last = [{0: 7, 1: 7, 2: 5, 3: 5, 4: 3}[each] for each in (cbsz, blgp)]
        body = text.format(32 + last[0], 40 + last[1], cbsz, blgp)
        (item,) = assembled(body, "gfx950")
        assert issue_cycles(item) == cycles


@pytest.mark.sample(2)
@pytest.mark.parametrize("architecture", PROCESSORS)
def test_passes_are_those_of_the_matrix_instruction_calculator(architecture: str) -> None:
    content = json.loads((HARDWARE / "mfma_cycles.json").read_text())
    processor = PROCESSORS[architecture]
    sets = instruction_set_of(processor)
    assert sets is not None
    known = {opcode.mnemonic: opcode for opcode in opcodes(sets)}
    for name, row in content["architectures"][architecture].items():
        opcode = known[name]
        product = opcode.traits.block_product
        assert product is not None
        assert 4 * product.passes(opcode.operands[0].dwords, processor) == row["cycles"], name
        if architecture == "cdna3":
            assert product.is_xdl(processor) == row["coexecute"], name


@cache
def replays() -> tuple[Replay, ...]:
    return tuple(replay(file, replay_in_host_code) for file in TRACES)


def test_kernels_of_gfx950_are_within_15_percent_and_most_within_2() -> None:
    found = {
        one.trace.name: one.errors["kernel"].relative for one in replays() if "kernel" in one.errors
    }
    assert len(found) >= 10
    assert {name: error for name, error in found.items() if abs(error) > 0.15} == {}
    assert sum(abs(error) <= 0.02 for error in found.values()) >= 9


def test_gaps_of_gfx950_are_mostly_exact() -> None:
    errors = errors_of([sample for one in replays() for sample in one.samples])
    assert errors["ALU"].count > 4000
    assert errors["ALU"].within(0) > 0.9
    assert errors["memory"].within(0) == 1
    assert errors["branch"].within(0) > 0.85
    assert abs(errors["LDS"].relative) < 0.1


def test_traces_of_gfx950_are_used_whole() -> None:
    assert {sentence for one in replays() for sentence in one.trace.missing} == set()


@amdjit.kernel(block=256)
def _summed(x, out):
    box = shared.array(256, f32)
    i = amdjit.threadIdx.x
    box[i] = x[amdjit.grid(1)]
    amdjit.syncthreads()
    out[amdjit.grid(1)] = box[255 - i]


@pytest.mark.parametrize("target", ["gfx942", "gfx950"])
def test_profiles_estimate_cycles_and_say_what_they_rest_on(target: str) -> None:
    x = np.ones(1 << 16, np.float32)
    with amdjit.use(f"emulator:{target}"), amdjit.profile() as found:
        _summed[256, 256](x, x.copy())
    (launch,) = found.launches
    cycles = launch.cycles
    assert cycles is not None
    # Loads from the Infinity Cache and what waits for them.
    assert 900 < cycles.kernel < 3000
    assert cycles.kernel % 4 == 0
    assert all(each.issue % 4 == 0 for each in cycles.by_instruction.values())
    assert any("CDNA" in sentence for sentence in cycles.assumptions)
    assert not any("MFMA" in sentence for sentence in cycles.assumptions)
