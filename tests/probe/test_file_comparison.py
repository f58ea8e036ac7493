"""What a file decides: rows of the certainty tables, and results that the emulator computes
again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from amdjit.diagnostics import AmdjitError
from amdjit.probe import child, session
from amdjit.probe import record as records
from amdjit.probe.case import Difference, Measurement
from amdjit.probe.comparison import GFX9_ROWS, Verdict, compare, judged_rows, text
from amdjit.probe.corpus import corpus_version
from amdjit.probe.outcome import (
    BatchOutcome,
    BatchStatus,
    CaseOutcome,
    CaseStatus,
    Facts,
    Record,
    plain,
    read_record,
)
from amdjit.probe.processes import Processes
from amdjit.probe.record import read_values
from amdjit.target import read_target

BASICS = "examples/basics"
DOCS = Path(__file__).parents[2] / "docs"


def agreeing(subject: str, rule: str = "rule") -> CaseOutcome:
    return CaseOutcome("plain", subject, rule, CaseStatus.AGREES, 512, 0, "a", "a")


def differing(subject: str, kinds: dict[str, int] | None = None) -> CaseOutcome:
    found = (Difference(0, 7, "1.5, 2**-24", 0x3F800001, 0x3F800000),)
    return CaseOutcome(
        "plain",
        subject,
        "rule",
        CaseStatus.DIFFERS,
        512,
        12,
        "a",
        "b",
        kinds=kinds or {"1 ulp away from zero": 12, "from an even result": 12},
        differences=found,
    )


def verdicts(target: str, *cases: CaseOutcome) -> dict[str, str]:
    rows = judged_rows(cases, read_target(target))
    return {row.subject: str(row) for row in rows if row.verdict is not Verdict.OPEN}


def test_rows_of_gfx12_are_confirmed_or_refuted() -> None:
    found = verdicts(
        "gfx1201",
        agreeing("v_swmmac_f32_16x16x32_f16"),
        agreeing("v_wmma_f32_16x16x16_f16", "measured"),
        differing("wmma_f32_16x16x16_fp8_bf8"),
        agreeing("saxpy"),
    )
    assert found == {
        "swmmac_f32_16x16x32_f16": "rule: swmmac_f32_16x16x32_f16: confirmed by 1 cases",
        "wmma_f32_16x16x16_f16": "measured: wmma_f32_16x16x16_f16: confirmed by 1 cases",
        "wmma_f32_16x16x16_fp8_bf8": "model: wmma_f32_16x16x16_fp8_bf8: refuted by 1 cases, of "
        "which 1 differ: 1 ulp away from zero in 12 of 512: rounds so instead of to even",
    }


def test_rows_of_gfx11_and_cdna_are_found_by_either_spelling() -> None:
    assert list(verdicts("gfx1100", agreeing("v_wmma_i32_16x16x16_iu8"))) == [
        "wmma_i32_16x16x16_iu8"
    ]
    for name in ("v_mfma_f32_32x32x8_f16", "mfma_f32_32x32x8f16"):
        assert list(verdicts("gfx942", agreeing(name))) == ["mfma_f32_32x32x8f16"]


def test_rows_of_approximate_instructions_say_what_their_results_were_known_by() -> None:
    cases = (agreeing("v_sqrt_f32"), differing("v_rcp_f64"), agreeing("v_s_log_f16"))
    found = {target: verdicts(target, *cases) for target in ("gfx942", "gfx1100", "gfx1201")}
    assert {target: rows["v_sqrt_f32"] for target, rows in found.items()} == {
        "gfx942": "rule: v_sqrt_f32: confirmed by 1 cases",
        "gfx1100": "measured: v_sqrt_f32: confirmed by 1 cases",
        "gfx1201": "measured: v_sqrt_f32: confirmed by 1 cases",
    }
    assert {target for target, rows in found.items() if "v_s_log_f16" in rows} == {"gfx1201"}
    assert all(
        rows["v_rcp_f64"].startswith("model: v_rcp_f64: refuted by 1") for rows in found.values()
    )
    is_open = {row.subject for row in judged_rows(cases, read_target("gfx1100"))}
    assert {"v_exp_f16", "v_sin_f32", "v_rsq_f64"} <= is_open
    assert "v_s_log_f16" not in is_open


def test_rows_of_gfx9_are_those_of_the_documentation() -> None:
    page = (DOCS / "emulator.md").read_text()
    for row in GFX9_ROWS:
        assert f"| {row.certainty} | {row.what} |" in page
    cases = (
        agreeing("v_add_u32"),
        agreeing("v_exp_f32", "rule"),
        differing("v_div_fmas_f32", {"another NaN": 12}),
        differing("v_mad_f16", {"a denormal in the emulator, zero on the chip": 12}),
        agreeing("global_atomic_add_f32"),
    )
    assert {row: words.split(": ")[-1] for row, words in verdicts("gfx90a", *cases).items()} == {
        "v_exp_f32": "confirmed by 1 cases",
        "v_div_fmas_f32": "another NaN in 12 of 512",
        GFX9_ROWS[0].what: "confirmed by 2 cases",
        GFX9_ROWS[1].what: "confirmed by 1 cases",
        GFX9_ROWS[2].what: "confirmed by 1 cases",
        GFX9_ROWS[4].what: "another NaN in 12 of 512",
        GFX9_ROWS[6].what: "a denormal in the emulator, zero on the chip in 12 of 512",
    }


def record(*cases: CaseOutcome, corpus: str = "", measured: tuple[Measurement, ...] = ()) -> Record:
    batches = [BatchOutcome(BASICS, "examples", BatchStatus.DONE, 1.0, "", cases)]
    if measured:
        batches.append(BatchOutcome("timing/x", "timing", BatchStatus.DONE, measurements=measured))
    facts = Facts("hip:0", "gfx1201", "a GPU", 32, "amdgpu 6.1", "Linux", "3.12")
    return Record("0.1.0", corpus or corpus_version(), facts, "whole", tuple(batches))


def test_the_emulator_of_today_is_asked_again(tmp_path: Path) -> None:
    file = tmp_path / "emulated"
    assert child.main(["run", str(file), "emulator:gfx1201", BASICS, "0"]) == 0
    digests = [value["digest"] for value in read_values(file) if value["kind"] == "ended"]
    before = [
        replace(differing(name), name=name, chip=digest, emulator="another")
        for name, digest in zip(("saxpy", "LDS", "atomic add"), digests, strict=True)
    ]
    before[1] = replace(before[1], chip="what no emulator computes", emulator=digests[1])
    said: list[str] = []
    found = compare(record(*before), 1, Processes(), said.append)
    statuses = [case.status for case in found.record.cases()]
    assert statuses == [CaseStatus.AGREES, CaseStatus.DIFFERS, CaseStatus.AGREES]
    assert said[0].startswith(f"{BASICS}: emulated again in")
    words = text(found)
    assert "3 cases that differ in the file" in words
    assert "2 of them agree with the chip now" in words
    assert "What the emulator would have to change (1 subjects):" in words
    assert "1.5, 2**-24: chip 0x3f800001, emulator 0x3f800000" in words
    assert read_record(plain(found.record)) == found.record


def test_a_file_of_another_corpus_is_taken_as_it_is(tmp_path: Path) -> None:
    found = compare(record(differing("saxpy"), corpus="0-old"), 1, Processes(), print)
    assert [case.status for case in found.record.cases()] == [CaseStatus.DIFFERS]
    assert f"The corpus is {corpus_version()}, and the file's 0-old" in text(found)


def test_figures_of_the_cycle_model_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    measured = (
        Measurement("latency v_exp_f32", 18.0, "cycles", (18.0,), "transcendental latency", 9.0),
        Measurement("latency v_add_f32", 5.04, "cycles", (5.04,), "valu dependency", 5.0),
        Measurement("launch", 4.0, "us", (4.0,)),
    )
    path, out = tmp_path / "run.probe", tmp_path / "words.txt"
    records.write(record(agreeing("saxpy"), measured=measured), path)
    assert session.compare(path, out, 1) == 0
    words = out.read_text()
    assert "What the cycle model would have to change (1 of 2 figures):" in words
    assert (
        "latency v_exp_f32 (transcendental latency): 18 cycles, the cycle model expects 9" in words
    )
    assert "latency v_add_f32" not in words
    assert capsys.readouterr().out == ""


def test_a_foreign_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"PK")
    with pytest.raises(AmdjitError, match="is not a file of"):
        session.compare(path, None, 1)
