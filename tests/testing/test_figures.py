"""Each figure is what the code object's metadata, its text, or arithmetic on the launch says."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import amdjit
from amdjit import f32, i32
from amdjit.code_object import CodeObject
from amdjit.inspection.facts import Occupancy, OccupancyStep
from amdjit.inspection.inspection import Inspection
from amdjit.inspection.missing import HIDDEN_BRANCHES, NO_CODE_SIZE, NO_SCRATCH_SIZE
from amdjit.testing import NotKnown, gate
from amdjit.testing.figures import FIGURES
from amdjit.testing.measured import Measured, measured
from tests.testing.measured_kernels import OBJECTS, inspected, launched, looping

OF_CODE = (
    "vgprs", "sgprs", "spills", "vgpr_spills", "sgpr_spills", "scratch", "lds", "live_vgprs",
    "occupancy", "code_bytes", "instructions", "loops", "lds_conflicts",
    "transcendental_instructions", "wmma_instructions", "mfma_instructions",
    "scalar_memory_instructions", "vector_memory_instructions", "lds_instructions",
    "branch_instructions", "wait_instructions", "barrier_instructions", "missing_waits",
    "spare_waits",
)  # fmt: skip
OF_LAUNCHES = (
    "lds_conflicts", "lds_cycles", "contention", "barrier_waits", "distinct_lines", "executions",
    "requests", "requested_bytes",
)  # fmt: skip
PREFIXES: dict[str, str | tuple[str, ...]] = {
    "wmma_instructions": "v_wmma_",
    "mfma_instructions": "v_mfma_",
    "scalar_memory_instructions": "s_load_",
    "vector_memory_instructions": ("global_", "scratch_", "buffer_", "flat_"),
    "lds_instructions": "ds_",
    "branch_instructions": ("s_cbranch", "s_branch", "s_endpgm"),
    "wait_instructions": tuple(f"s_wait_{name}cnt" for name in ("load", "store", "ds", "km")),
    "barrier_instructions": "s_barrier",
}
TRANSCENDENTAL = re.compile(r"v_(exp|log|rcp|rsq|sqrt|sin|cos)_")


@cache
def expected_of_code() -> dict[str, float]:
    """What IREE's matrix product has: registers by the metadata, instructions by the text."""
    whole = CodeObject.read((OBJECTS / "iree_matmul.co").read_bytes())
    (kernel,) = whole.kernels.values()
    code, facts = inspected("iree_matmul"), kernel.metadata
    texts = [one.text for one in code.instructions]
    found: dict[str, float] = {
        "vgprs": facts.vgpr_count,
        "sgprs": facts.sgpr_count,
        "spills": facts.vgpr_spills + facts.sgpr_spills,
        "vgpr_spills": facts.vgpr_spills,
        "sgpr_spills": facts.sgpr_spills,
        "scratch": facts.private_segment_bytes,
        "lds": facts.group_segment_bytes,
        "live_vgprs": max(len(one.live_vgprs) for one in code.instructions),
        "occupancy": code.occupancy.waves_per_simd,
        "code_bytes": kernel.code_size,
        "instructions": len(texts),
        "loops": len(code.loops),
        "lds_conflicts": 20,  # five stores, each with lanes in eight banks only
        "missing_waits": 0,
        "spare_waits": 0,
        "transcendental_instructions": sum(bool(TRANSCENDENTAL.match(text)) for text in texts),
    }
    found |= {
        name: sum(text.startswith(prefix) for text in texts) for name, prefix in PREFIXES.items()
    }
    return found


@cache
def expected_of_launch() -> dict[str, float]:
    """What the launch of `uneven` with four waves of 32 lanes has."""
    totals = launched().launches[0].totals
    return {
        "lds_conflicts": 2 * 4 * 31,  # a store and a load of each wave have all lanes in one bank
        "lds_cycles": 2 * 4 * 32,
        "contention": 4 * 6,  # eight lanes of each wave add to two elements
        "barrier_waits": 4,
        "distinct_lines": 32 + 2 + 1 + 1,  # a line of x for each lane; out; counts; the arguments
        "executions": sum(one.executions for one in launched().launches[0].instructions),
        "requests": totals.requests,
        "requested_bytes": totals.bytes,
    }


@pytest.mark.parametrize("name", OF_CODE)
def test_a_figure_of_code_is_what_the_object_says(name: str) -> None:
    kernel = Measured.of_code(inspected("iree_matmul"))
    assert FIGURES[name].read(kernel) == expected_of_code()[name]
    check_both_ways(kernel, name)


@pytest.mark.parametrize("name", OF_LAUNCHES)
def test_a_figure_of_a_launch_is_what_its_lanes_do(name: str) -> None:
    (kernel,) = measured(launched())
    assert FIGURES[name].read(kernel) == expected_of_launch()[name]
    check_both_ways(kernel, name)


def check_both_ways(kernel: Measured, name: str) -> None:
    """Check that conditions around the value hold, and that those beside it do not."""
    value = FIGURES[name].read(kernel)
    subject = kernel.inspection if kernel.launch is None else launched()
    assert subject is not None
    for condition, holds in (
        (f"{name}=={value}", True),
        (f"{name}<={value}", True),
        (f"{name}>={value}", True),
        (f"{name}!={value}", False),
        (f"{name}<{value}", False),
        (f"{name}>{value}", False),
        (f"{name}<={value - 1}", False),
        (f"{name}>={value + 1}", False),
    ):
        (outcome,) = gate(subject, condition)
        assert (outcome.holds, outcome.value) == (holds, value), condition


def test_the_tables_above_leave_out_only_what_has_a_test_of_its_own() -> None:
    left = set(FIGURES) - set(OF_CODE) - set(OF_LAUNCHES)
    assert left == {
        "valu_instructions",
        "salu_instructions",
        "other_instructions",
        "cycles",
        "wmma_share",
        "valu_share",
        "active_lanes",
        "cache_lines",
        "used_bytes",
    }


def test_hazards_are_not_known_without_the_code() -> None:
    read = Inspection.from_json(inspected("iree_matmul").to_json())
    for name in ("missing_waits", "spare_waits"):
        with pytest.raises(NotKnown, match=f"{name} is not known"):
            FIGURES[name].read(Measured.of_code(read))


def test_the_units_make_up_all_instructions() -> None:
    kernel = Measured.of_code(inspected("iree_matmul"))
    units = [name for name in FIGURES if name.endswith("_instructions")]
    counts = [FIGURES[name].read(kernel) for name in units]
    assert sum(counts) == FIGURES["instructions"].read(kernel)
    valu = FIGURES["valu_instructions"].read(kernel)
    texts = [one.text for one in inspected("iree_matmul").instructions]
    vector = [text for text in texts if text.startswith("v_")]
    others = [text for text in vector if text.startswith("v_wmma") or TRANSCENDENTAL.match(text)]
    assert valu == len(vector) - len(others)


def test_cycles_and_shares_are_those_of_the_model() -> None:
    (kernel,), launch = measured(launched()), launched().launches[0]
    assert launch.cycles is not None
    assert FIGURES["cycles"].read(kernel) == launch.cycles.kernel > 100
    assert FIGURES["valu_share"].read(kernel) == 100 * launch.cycles.valu_share > 0
    assert FIGURES["wmma_share"].read(kernel) == 0


def test_shares_of_lanes_and_bytes_are_in_percent() -> None:
    (kernel,), launch = measured(launched()), launched().launches[0]
    narrow = [one for one in launch.instructions if one.active_lanes < 32 * one.executions]
    assert len(narrow) > 0
    off = sum(32 * one.executions - one.active_lanes for one in narrow)
    lanes = 100 - 100 * off / (32 * launch.totals.executions)
    assert FIGURES["active_lanes"].read(kernel) == pytest.approx(lanes)
    # Each wave reads 4 bytes of 32 lines; the lanes of a store are side by side, atomics in one.
    touched = 4 * (32 + 1 + 1)
    assert FIGURES["cache_lines"].read(kernel) == touched + scalar_lines()
    asked = 4 * (32 * 4 + 8 * 4 + 32 * 4)
    assert FIGURES["used_bytes"].read(kernel) == pytest.approx(100 * asked / (128 * touched))


def scalar_lines() -> int:
    launch = launched().launches[0]
    return sum(one.cache_lines for one in launch.instructions if one.unit == "scalar memory")


# Where figures come from.


def line_with(text: str) -> int:
    source = (OBJECTS.parents[1] / "testing/measured_kernels.py").read_text().splitlines()
    (found,) = [number for number, line in enumerate(source, 1) if text in line]
    return found


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("contention", "amdjit.atomic.add(counts, lane % 2, 1)"),
        ("barrier_waits", "amdjit.syncthreads()"),
        ("cache_lines", "tile[lane, wave] = x[32 * lane]"),
        ("used_bytes", "tile[lane, wave] = x[32 * lane]"),
        ("requested_bytes", "tile[lane, wave] = x[32 * lane]"),
    ],
)
def test_what_fails_names_the_line_that_has_most_of_it(name: str, line: str) -> None:
    (outcome,) = gate(launched(), f"{name}<0")
    assert outcome.line == line_with(line)
    assert outcome.file is not None
    assert outcome.file.endswith("measured_kernels.py")


def test_a_line_that_only_reads_arguments_says_so() -> None:
    @amdjit.kernel(block=32)
    def guarded(x):
        i = amdjit.grid(1)
        if i < x.shape[0]:
            x[i] = 1

    with amdjit.use("emulator:gfx1201"), amdjit.profile() as found:
        guarded[4, 32](np.zeros(128, np.float32))
    (outcome,) = gate(found, "cache_lines<0")
    assert outcome.cause.endswith(" are of this line, most by scalar loads, as of the arguments")
    (outcome,) = gate(launched(), "cache_lines<0")
    assert outcome.cause.endswith(" are of this line")


def test_the_line_of_inactive_lanes_is_one_behind_the_branch() -> None:
    (outcome,) = gate(launched(), "active_lanes>=100%")
    assert outcome.line in (line_with("if lane < 8"), line_with("amdjit.atomic.add(counts"))
    lines = launched().launches[0].lines.values()
    off = {line.line: 32 * line.executions - line.active_lanes for line in lines}
    assert outcome.line == max(off, key=lambda line: off[line])
    assert outcome.cause == f"{off[outcome.line]:,} are of this line"


@pytest.mark.parametrize(
    ("condition", "words", "line"),
    [
        ("vgprs<1", "VGPRs are live", None),
        ("sgprs<1", "SGPRs are live", None),
        ("instructions<1", "are of this line", None),
        ("lds<1", "the first access to LDS", "tile[lane, wave] = x[32 * lane]"),
        ("lds_instructions<1", "1 are of this line", None),
        ("barrier_instructions<1", "2 are of this line", "amdjit.syncthreads()"),
        ("lds_conflicts<1", "31 cycles of one store", "tile[lane, wave] = x[32 * lane]"),
        ("occupancy>99", "limited by none", None),
    ],
)
def test_what_fails_in_code_says_what_it_comes_from(
    condition: str, words: str, line: str | None
) -> None:
    (outcome,) = gate(launched().launches[0].inspection, condition)
    assert not outcome.holds
    assert words in outcome.cause
    assert line is None or outcome.line == line_with(line)


def test_a_loop_is_where_the_innermost_one_begins() -> None:
    compiled = looping.compile(f32[:], f32[:], i32, target="gfx1201")
    (outcome,) = gate(compiled, "loops==0")
    assert (outcome.value, outcome.cause) == (2, "one of 2, at depth 2")
    assert outcome.line in (line_with("in amdjit.unroll(range(row)"), line_with("total += x[row"))


def test_the_line_of_registers_is_that_of_the_peak() -> None:
    code = launched().launches[0].inspection
    places = {one.address: (one.file, one.line) for one in code.instructions}
    (outcome,) = gate(code, "vgprs<1")
    assert (outcome.file, outcome.line) == places[code.peak.address]


def test_code_without_lines_is_told_by_address() -> None:
    code = inspected("iree_matmul")
    (outcome,) = gate(code, "vgprs<1")
    assert outcome.line is None
    assert outcome.cause == f"{code.peak.vgprs} VGPRs are live at {code.peak.address:#x}"


def test_occupancy_is_where_its_limit_comes_from() -> None:
    code = launched().launches[0].inspection
    places = {one.address: one.line for one in code.instructions}
    step = OccupancyStep(16, 96, None, "4 VGPRs fewer: 12 -> 16 waves")
    for limit, line in (
        ("vgprs", places[code.peak.address]),
        ("lds", line_with("tile[lane, wave] = x[32 * lane]")),
        ("workgroup size", None),
    ):
        limited = replace(code, occupancy=Occupancy(12, limit, {}, (step,)))
        (outcome,) = gate(limited, "occupancy>=16")
        assert outcome.cause == f"limited by {limit}; 4 VGPRs fewer: 12 -> 16 waves"
        assert outcome.line == line


def test_spills_are_where_scratch_is_accessed_or_registers_are_most() -> None:
    code = replace(launched().launches[0].inspection, vgpr_spills=3, sgpr_spills=4)
    places = {one.address: one.line for one in code.instructions}
    (outcome,) = gate(code, "spills==0")
    assert (outcome.value, outcome.line) == (7, places[code.peak.address])
    assert [gate(code, f"{name}==0")[0].value for name in ("vgpr_spills", "sgpr_spills")] == [3, 4]
    access = replace(code.accesses[0], space="private")
    (outcome,) = gate(replace(code, accesses=(access,)), "spills==0")
    assert (outcome.line, outcome.cause) == (places[access.address], "the first access to scratch")


# What a target cannot tell is an error, never a pass.


@pytest.mark.parametrize(
    ("missing", "condition"),
    [
        (NO_SCRATCH_SIZE, "scratch==0"),
        (NO_CODE_SIZE, "code_bytes>=0"),
        (HIDDEN_BRANCHES, "instructions>0"),
        (HIDDEN_BRANCHES, "loops>=0"),
        (HIDDEN_BRANCHES, "lds_conflicts>=0"),
    ],
)
def test_a_figure_that_the_object_does_not_tell_is_an_error(missing: str, condition: str) -> None:
    code = inspected("iree_sum")
    assert all(one.holds for one in gate(code, condition))
    with pytest.raises(NotKnown, match=re.escape(missing)):
        gate(replace(code, missing=(missing,)), condition)


def test_code_that_is_not_decoded_passes_nothing_that_needs_it() -> None:
    code = replace(inspected("iree_sum"), instructions=(), accesses=(), missing=("No decoder.",))
    for condition in ("instructions<=9999", "lds_conflicts==0", "loops==0", "mfma_instructions==0"):
        with pytest.raises(NotKnown, match="No decoder"):
            gate(code, condition)
    unknown = replace(inspected("iree_sum").instructions[3], mnemonic="unknown")
    with pytest.raises(NotKnown, match="valu_instructions is not known"):
        gate(replace(inspected("iree_sum"), instructions=(unknown,)), "valu_instructions<=9999")
    assert gate(code, "vgprs<=9999")[0].holds


def test_hidden_addresses_are_no_absent_conflicts() -> None:
    with pytest.raises(NotKnown, match=r"9 of 39 accesses to LDS.*--run") as caught:
        gate(inspected("triton_matmul_i8"), "lds_conflicts==0")
    assert "matmul for gfx1201: lds_conflicts" in str(caught.value)


def test_figures_of_launches_need_one_and_figures_of_code_need_that() -> None:
    for name, figure in FIGURES.items():
        if figure.of_code is None:
            with pytest.raises(
                NotKnown, match=f"{name} is not known. Only a launch tells: `--run`"
            ):
                gate(inspected("iree_sum"), f"{name}>=0")
    (kernel,) = measured(launched())
    with pytest.raises(NotKnown, match="A profile does not hold the code"):
        FIGURES["vgprs"].read(replace(kernel, inspection=None))


def test_a_launch_without_an_estimate_says_why() -> None:
    (kernel,) = measured(launched())
    assert kernel.launch is not None
    without = replace(kernel, launch=replace(kernel.launch, cycles=None, no_cycles="no sample"))
    for name in ("cycles", "valu_share"):
        with pytest.raises(NotKnown, match="There is no estimate: no sample"):
            FIGURES[name].read(without)


def test_a_launch_without_accesses_has_no_share_of_used_bytes() -> None:
    (kernel,) = measured(launched())
    assert kernel.launch is not None
    idle = replace(kernel.launch, instructions=())
    with pytest.raises(NotKnown, match="accesses no memory by vector instructions"):
        FIGURES["used_bytes"].read(replace(kernel, launch=idle))
    nothing = replace(idle, totals=replace(idle.totals, executions=0))
    with pytest.raises(NotKnown, match="No wave executed anything"):
        FIGURES["active_lanes"].read(replace(kernel, launch=nothing))
