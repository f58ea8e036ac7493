"""Each hazard is found with one too few in between, not with enough, and by its row alone."""

from __future__ import annotations

import functools
from dataclasses import replace

import pytest

from amdjit.code_object import CodeObject
from amdjit.emulator.checks.waits.hazard_rows import ROWS, Row
from amdjit.emulator.checks.waits.wait_states import find_wait_states
from amdjit.isa.analysis.control_flow import Graph, build_graph
from amdjit.isa.analysis.kernel_code import kernel_text
from tests.emulator.building import assemble, compile_source, using
from tests.emulator.checks.hazard_samples import CASES, CPUS, SAMPLES, case_name, sample_of
from tests.emulator.required_tools import needs_tools

pytestmark = needs_tools


def wave_size_of(row: Row) -> int:
    is_narrow = row.name.startswith(("SGPR that", "VCC that", "result of WMMA"))
    return 32 if is_narrow else 64


def cpu_of(processor: str) -> str:
    return CPUS.get(processor, processor)


def graphs(bodies: dict[str, str], cpu: str, wave_size: int) -> dict[str, Graph]:
    """Assemble pieces of code at once, and return the graph of each."""
    text = "\n".join(f"{label}:\n{body}\n s_endpgm" for label, body in bodies.items())
    whole = CodeObject.read(assemble(text, cpu=cpu, wave_size=wave_size))
    (kernel,) = whole.kernels.values()
    code = kernel_text(whole, kernel)
    labels = {symbol.name: symbol.address for symbol in whole.symbols}
    return {label: build_graph(code, labels[label]) for label in bodies}


def graph_of(body: str, cpu: str, wave_size: int = 64) -> Graph:
    return graphs({"piece": body}, cpu, wave_size)["piece"]


def states_of(row: Row, processor: str) -> int:
    states = sample_of(row, processor).states
    return row.states if states is None else states


@functools.cache
def samples(processor: str, wave_size: int) -> dict[str, Graph]:
    """Return the code of all samples for a processor: with one too few in between, and enough."""
    bodies = {}
    for number, (row, of) in enumerate(CASES):
        if of == processor and wave_size_of(row) == wave_size:
            sample, states = sample_of(row, of), states_of(row, of)
            bodies[f"few{number}"] = sample.code(row, states - 1)
            bodies[f"enough{number}"] = sample.code(row, states)
    return graphs(bodies, cpu_of(processor), wave_size)


@pytest.mark.parametrize("number", range(len(CASES)), ids=lambda number: case_name(*CASES[number]))
def test_one_too_few_is_found_and_enough_is_not(number: int) -> None:
    row, processor = CASES[number]
    code = samples(processor, wave_size_of(row))
    few, enough = code[f"few{number}"], code[f"enough{number}"]
    (missing,) = find_wait_states(few).missing
    assert missing.hazard == row.name
    held = find_wait_states(enough)
    assert held.missing == ()
    # What is in between is there for a reason, each of it.
    pauses = [i.pc for b in enough.blocks.values() for i in b.instructions if "nop" in i.mnemonic]
    assert pauses == sorted(held.needed) or not pauses
    others = [other for other in ROWS if other is not row]
    assert find_wait_states(few, rows=others).missing == ()


def test_every_row_has_a_sample_for_every_processor() -> None:
    assert {row.name for row in ROWS} == set(SAMPLES)
    for row, processor in CASES:
        sample_of(row, processor)


# What comes between the two instructions, and whether it is still too soon.
BETWEEN = {
    # An `s_nop N` is N + 1 wait states, and every other instruction one.
    ("lane select", "gfx90a", "s_nop 3"): False,
    ("lane select", "gfx90a", "s_nop 2"): True,
    ("lane select", "gfx90a", "v_nop\n s_nop 1\n s_waitcnt lgkmcnt(0)"): False,
    # Of two paths, the shorter one counts.
    ("lane select", "gfx90a", "s_cbranch_scc0 1f\n s_nop 7\n 1: s_nop 1"): True,
    ("lane select", "gfx90a", "s_cbranch_scc0 1f\n s_nop 7\n 1: s_nop 2"): False,
    # Memory instructions wait for the vector ALU, and so does the counter.
    ("transcendental result", "gfx11", "global_load_b32 v9, v[8:9], off"): False,
    ("transcendental result", "gfx11", "s_waitcnt_depctr 0xfff"): False,
    ("transcendental result", "gfx11", "s_waitcnt_depctr 0xfffe"): True,
    ("transcendental result", "gfx11", "v_rcp_f32 v9, v8"): True,
    ("transcendental result", "gfx11", "v_rcp_f32 v9, v8\n v_rcp_f32 v10, v8"): False,
    # Four vector instructions, or a nearer write of the first register.
    ("VGPRs of before and after EXEC", "gfx11", "v_nop\n" * 4): True,
    ("VGPRs of before and after EXEC", "gfx11", "v_mov_b32 v0, 3"): False,
    ("VGPRs of before and after EXEC", "gfx11", "v_mov_b32 v1, 3"): True,
    # One operand of two registers, each written on another side of EXEC.
    (
        "VGPRs of before and after EXEC",
        "gfx11",
        "v_lshlrev_b64 v[4:5], 2, v[0:1]\n v_mov_b32 v0, 1",
    ): False,
    ("EXEC before a permutation", "gfx12", "v_nop"): True,
    ("SGPR that the scalar ALU overwrites", "gfx12", "v_nop\n s_nop 7"): True,
    ("SGPR that the scalar ALU overwrites", "gfx12", "s_load_b32 s9, s[10:11], 0x0"): False,
    # The scalar ALU waits for what the vector ALU writes, whichever SGPR it reads.
    ("SGPR that the vector ALU overwrites", "gfx12", "s_mov_b32 s9, s20"): False,
    ("SGPR that the vector ALU overwrites", "gfx12", "s_mov_b32 s9, exec_lo"): True,
    ("VGPR of memory for a direct load of LDS", "gfx11", "s_waitcnt 0"): False,
    ("VGPR of memory for a direct load of LDS", "gfx11", "s_waitcnt vmcnt(0)"): True,
    ("VGPR of memory for a direct load of LDS", "gfx12", "s_wait_alu 0xffe3"): False,
    ("VGPR of memory for a direct load of LDS", "gfx12", "s_nop 7"): True,
    ("clause of vector memory instructions", "gfx942", "s_waitcnt vmcnt(0)"): False,
}


@pytest.mark.parametrize(("name", "processor", "between"), BETWEEN)
def test_what_is_on_the_way_counts(name: str, processor: str, between: str) -> None:
    row = next(row for row in ROWS if row.name == name and processor in row.processors)
    sample = sample_of(row, processor)
    body = f"{sample.first}\n {between}\n {sample.then}"
    graph = graph_of(body, cpu_of(processor), wave_size_of(row))
    hazards = {one.hazard for one in find_wait_states(graph).missing}
    assert (name in hazards) == BETWEEN[name, processor, between]


def test_a_loop_comes_back_to_what_its_end_began() -> None:
    body = (
        "1: v_readlane_b32 s6, v9, s4\n s_nop {n}\n v_readfirstlane_b32 s4, v0\n s_cbranch_scc1 1b"
    )
    (missing,) = find_wait_states(graph_of(body.format(n=7), "gfx90a")).missing
    assert missing.text == "v_readlane_b32 s6, v9, s4"
    assert missing.wait == "s_nop 2"


@pytest.mark.parametrize(
    ("setting", "repeats"), [("", True), (":xnack+", True), (":xnack-", False)]
)
def test_clauses_matter_unless_the_target_id_excludes_xnack(setting: str, repeats: bool) -> None:
    with using(cpu=f"gfx90a{setting}"):
        whole = CodeObject.read(compile_source("__attribute__((amdgpu_kernel)) void k() {}"))
    (kernel,) = whole.kernels.values()
    assert kernel_text(whole, kernel).repeats_clauses == repeats
    row = next(row for row in ROWS if row.name == "clause of scalar loads")
    code = graph_of(sample_of(row, "gfx90a").code(row, 0), "gfx90a")
    found = find_wait_states(replace(code, repeats_clauses=repeats)).missing
    assert bool(found) == repeats


def test_a_function_goes_on_with_what_its_caller_has_read() -> None:
    """The vector ALU reads s4 in the kernel; s4 is overwritten and read in the function."""
    body = """
      v_mov_b32 v0, s4
      s_getpc_b64 s[8:9]
      s_swappc_b64 s[30:31], s[8:9]
      s_endpgm
      .type function, @function
    function:
      s_mov_b32 s4, 0
      {wait}
      v_mov_b32 v1, s4
      s_setpc_b64 s[30:31]
    """
    for wait, missing in (("s_nop 0", 1), ("s_wait_alu 0xfffe", 0)):
        graph = graph_of(body.format(wait=wait), "gfx1201", 32)
        assert len(find_wait_states(graph).missing) == missing
