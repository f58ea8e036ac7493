"""Chips that differ from the emulator in one thing: the probe finds it, and names it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from amdjit.command_line import main
from amdjit.probe.outcome import CaseStatus, Record
from amdjit.probe.report import subjects_of
from tests.probe.probe_on_standin import needs_standin, probe

pytestmark = needs_standin
_SLOW = pytest.mark.exhaustive


@dataclass(frozen=True)
class Expected:
    """What a run must say. only: batches that are run; subject: what is named; words: in which way
    it differs; others: parts of names of subjects that may differ, too, because they are made of
    the same."""

    only: tuple[str, ...]
    subject: str
    words: str
    others: tuple[str, ...] = ()


EXPECTED: Mapping[str, Expected] = {
    "add_f32 toward zero": Expected(("examples/basics",), "saxpy", "1 ulp toward zero"),
    "mul_f32 without denormals": Expected(
        ("instructions/VOP2 1",), "v_mul_f32", "a denormal in the emulator, zero on the chip"
    ),
    "bfe_u32 one more": Expected(("instructions/VOP3 10",), "v_bfe_u32", "1 more"),
    "rcp_f32 last bit": Expected(("approximate/f32 rcp",), "v_rcp_f32", "1 ulp away from zero"),
    "sqrt_f32 last bit": Expected(("approximate/f32 sqrt",), "v_sqrt_f32", "1 ulp"),
    "wmma_f32_16x16x16_f16 lanes": Expected(
        ("matrix/1",), "v_wmma_f32_16x16x16_f16", "the emulator's values in other places"
    ),
}


def judge(record: Record, expected: Expected) -> None:
    """Check that a run names what is expected, and nothing that is not."""
    assert record.is_complete
    different = {each.name: each for each in subjects_of(record.cases()) if each.different}
    assert expected.subject in different, (expected.subject, sorted(different))
    assert expected.words in different[expected.subject].summary()
    for name in different:
        is_other = any(part in name for part in expected.others)
        assert name == expected.subject or is_other, (name, different[name].summary())
    agreeing = [case for case in record.cases() if case.status is CaseStatus.AGREES]
    assert agreeing, "a difference everywhere tells nothing"


@pytest.mark.parametrize(
    "alteration",
    [
        pytest.param(name, marks=() if expected.only == ("examples/basics",) else _SLOW)
        for name, expected in EXPECTED.items()
    ],
)
def test_an_alteration_is_found_and_named(tmp_path: Path, alteration: str) -> None:
    expected = EXPECTED[alteration]
    run = probe(tmp_path, "--only", *expected.only, alter=alteration)
    judge(run.record, expected)
    assert expected.subject in run.report
    assert expected.words in run.report


@pytest.mark.exhaustive
def test_an_altered_sum_is_found_in_the_instruction(tmp_path: Path) -> None:
    run = probe(tmp_path, "--only", "instructions/VOP2 1", alter="add_f32 toward zero")
    judge(run.record, Expected((), "v_add_f32", "1 ulp toward zero"))


@pytest.mark.exhaustive
def test_swapped_lanes_are_found_under_their_control(tmp_path: Path) -> None:
    run = probe(tmp_path, "--only", "instructions/VOPC 3", alter="row_shr lanes")
    different = [case.name for case in run.record.cases() if case.status is CaseStatus.DIFFERS]
    assert different
    assert all("dpp 0x111" in name for name in different)
    assert "dpp 0x111" in run.report


@pytest.mark.exhaustive
def test_a_slower_unit_is_found_and_its_parameter_is_fitted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    slower = '{"passes: transcendental": 8}'
    run = probe(tmp_path, "--only", "timing/arithmetic", STANDIN_HIP_CYCLES=slower)
    assert "v_rcp_f32 (passes: transcendental): 8 cycles, the cycle model expects 4" in run.report
    assert "v_fma_f32" not in run.report
    parameters = tmp_path / "parameters.json"
    assert main(["probe", "--fit", str(run.path), "-o", str(parameters)]) == 0
    differing = [line for line in capsys.readouterr().out.splitlines() if "DIFFERS" in line]
    assert [" ".join(line.split()[:6]) for line in differing] == [
        "passes: transcendental model 4 measured 8"
    ]
    assert json.loads(parameters.read_text())["parameters"]["passes: transcendental"] == 8


@pytest.mark.exhaustive
def test_the_rule_of_other_matrix_sums_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = probe(tmp_path, "--only", "matrix/1", alter="matrix sums one by one")
    assert main(["probe", "--compare", str(run.path)]) == 0
    words = capsys.readouterr().out
    assert "measured: wmma_f32_16x16x16_f16: refuted by" in words
    assert "wmma_f32_16x16x16_f16_w32_gfx12: nearest: a chain of fused products" in words
