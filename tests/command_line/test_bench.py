"""`amdjit bench rocwmma`: rocWMMA's grid, columns and rule of correctness."""

from __future__ import annotations

import csv
import importlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import command_line
from amdjit.intrinsics.matrix.operands.parameters import Rounded
from amdjit.profiling.peaks import PEAKS
from amdjit.rocwmma import SUITES, Outcome, cases, grid, report, run, running
from amdjit.rocwmma.cases import TYPES, Case, Layout, Program, Types
from amdjit.rocwmma.report import lines_of
from amdjit.target import Target, find_target
from amdjit.types import bf16, f16, f32, f64, fp8, fp8_fnuz, i8, i32

SMOKE, VALIDATION, BENCH = SUITES
# The header that rocWMMA's programs of several blocks print: test/gemm, printHeader.
THEIR_COLUMNS = (
    "TBlkX, TBlkY, BlksX, BlksY, BlkM, BlkN, BlkK, MatM, MatN, MatK, alpha, lda, ldb, beta, ldc, "
    "ldd, LytA_LytB_LytC_LytD, Ti_To_Tc, elapsedMs, Problem Size(GFlops), TFlops/s, "
    "Efficiency(%), Result"
)
MIXED = (Layout.ROWS, Layout.COLUMNS, Layout.COLUMNS)
TURNED = (Layout.COLUMNS, Layout.ROWS, Layout.ROWS)


def bench(*arguments: str) -> int:
    return command_line.main(["bench", "rocwmma", *arguments])


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file, skipinitialspace=True))


def test_rows_have_rocwmmas_columns_and_the_counts_of_the_launch(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    sizes = ["--sizes", "64x32x48", "--types", "f16_f32_f32", "--first", "2"]
    assert bench("--target", "gfx1201", "-o", str(path), *sizes) == 0
    assert path.read_text().startswith(THEIR_COLUMNS + ", ")
    narrow, wide = rows_of(path)
    assert (narrow["Result"], wide["Result"]) == ("PASSED", "SKIPPED")
    assert narrow["TBlkX"], narrow["TBlkY"] == ("64", "2")
    assert [narrow[name] for name in ("MatM", "MatN", "MatK")] == ["64", "32", "48"]
    assert [narrow[name] for name in ("lda", "ldb", "ldc", "ldd")] == ["48", "32", "64", "64"]
    assert narrow["LytA_LytB_LytC_LytD"] == "T_T_N_N"
    assert float(narrow["Problem Size(GFlops)"]) == pytest.approx(2 * 64 * 32 * 48 / 1e9)
    assert narrow["elapsedMs"] == narrow["TFlops/s"] == "n/a"
    executed = dict(part.rsplit("=", 1) for part in _parts(narrow["executed"]))
    assert int(executed["WMMA"]) == 64 * 32 * 48 // 16**3
    assert int(narrow["estimated cycles"]) > 0
    assert wide["reason"] == "the workgroups' tiles do not divide the matrix"
    assert wide["executed"] == wide["Problem Size(GFlops)"] == "n/a"


def _parts(text: str) -> list[str]:
    """Return "SALU=3", "vector memory=2" and so on."""
    parts: list[str] = []
    for word in text.split(" "):
        if parts and "=" not in parts[-1]:
            parts[-1] += f" {word}"
        else:
            parts.append(word)
    return parts


DIRECT, STAGED = Program.DIRECT, Program.STAGED
CASES = [
    ("gfx1201", Case(DIRECT, Types(bf16, bf16, bf16), MIXED, (2, 1), 32, (1, 2), (64, 64, 96))),
    ("gfx1201", Case(STAGED, Types(fp8, f32, f32), TURNED, (1, 2), 16, (2, 1), (32, 64, 48))),
    ("gfx1201", Case(STAGED, Types(i8, i8, i32), MIXED, (2, 2), 32, (2, 2), (64, 128, 64))),
    ("gfx1100", Case(STAGED, Types(f16, f16, f16), MIXED, (1, 1), 16, (2, 2), (64, 32, 64))),
    ("gfx1103", Case(DIRECT, Types(i8, i32, i32), TURNED, (1, 1), 16, (1, 1), (16, 32, 64))),
    ("gfx942", Case(STAGED, Types(fp8_fnuz, f32, f32), MIXED, (2, 2), 16, (2, 1), (64, 32, 64))),
    ("gfx942", Case(DIRECT, Types(f64, f64, f64), TURNED, (1, 1), 16, (1, 2), (16, 32, 48))),
]


def named(name: str) -> Target:
    target = find_target(name)
    assert target is not None
    return target


@pytest.mark.sample(2)
@pytest.mark.parametrize(("target", "case"), CASES, ids=[f"{t}-{c.types}" for t, c in CASES])
def test_cases_are_right(target: str, case: Case) -> None:
    with amdjit.use(f"emulator:{target}") as device:
        result = run(case, device)
    assert result.outcome is Outcome.PASSED, result.reason
    assert result.lds_bytes == case.lds_bytes
    assert result.mix is not None
    assert result.mix["MFMA" if target == "gfx942" else "WMMA"] > 0
    assert (result.cycles is None) == (target == "gfx1103")


@pytest.mark.sample(1)
@pytest.mark.parametrize("program", Program, ids=lambda program: program.name)
def test_a_wrong_product_fails(
    program: Program, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    make = running.product_kernel

    def transposed(case: Case, wave_size: int) -> Any:
        a, b, c = case.layouts
        other = Layout.ROWS if a is Layout.COLUMNS else Layout.COLUMNS
        return make(replace(case, layouts=(other, b, c)), wave_size)

    monkeypatch.setattr(running, "product_kernel", transposed)
    sizes = ["--sizes", "32", "--types", "f16_f32_f32", "--first", "1"]
    assert bench("--target", "gfx1201", "--programs", program.value, *sizes) == 1
    shown = capsys.readouterr()
    assert "FAILED" in shown.out
    assert "relative error" in shown.out
    assert shown.err == "0 passed, 1 failed, 0 skipped\n"


def test_memory_that_nobody_wrote_fails() -> None:
    for types in TYPES:
        case = replace(CASES[0][1], types=types, size=(16, 16, 16))
        problem, d = running.problem_of(case), running.unwritten(case)
        assert running.largest_error(case, problem, d) > running.tolerance(case)
        right = problem.expected.T.reshape(-1).astype(types.output.dtype)
        assert running.largest_error(case, problem, right) == 0


def test_the_reference_is_the_product_of_what_lies_in_memory() -> None:
    case = Case(Program.DIRECT, TYPES[0], TURNED, (1, 1), 16, (1, 1), (32, 16, 48))
    problem = running.problem_of(case)
    a = problem.a.reshape(48, 32).T.astype(np.float64)
    b = problem.b.reshape(48, 16).astype(np.float64)
    c = problem.c.reshape(32, 16).astype(np.float64)
    np.testing.assert_array_equal(problem.expected, 2 * (a @ b) + 2 * c)
    assert (problem.ld_a, problem.ld_b, problem.ld_c) == (32, 16, 16)
    assert len(np.unique(a)) == 5


def test_what_a_processor_lacks_is_skipped_with_its_reason() -> None:
    case = CASES[1][1]
    assert cases.why_skipped(case, named("gfx1201")) is None
    assert "no products of fp8" in str(cases.why_skipped(case, named("gfx1100")))
    assert "do not multiply on gfx1250" in str(cases.why_skipped(case, named("gfx1250")))
    assert "no products of fp8" in str(cases.why_skipped(case, named("gfx942")))
    shallow = replace(case, types=Types(fp8_fnuz, f32, f32))
    assert "fp8_fnuz are 32 along k" in str(cases.why_skipped(shallow, named("gfx942")))
    assert "no products of f64" in str(
        cases.why_skipped(replace(case, types=Types(f64, f64, f64)), named("gfx908"))
    )
    large = replace(case, types=TYPES[0], tile=(4, 4), depth=64, waves=(4, 1), size=(8192,) * 3)
    assert "LDS" in str(cases.why_skipped(large, named("gfx1201")))
    direct = replace(large, program=Program.DIRECT)
    assert "registers" in str(cases.why_skipped(direct, named("gfx1201")))


def test_the_suites_are_rocwmmas() -> None:
    assert BENCH.sizes == ((1024,) * 3, (2048,) * 3, (4096,) * 3, (8192,) * 3)
    assert (2048, 64, 1024) in VALIDATION.sizes
    smoke = list(grid(SMOKE))
    assert len(smoke) == len(Program) * len(TYPES) * 4 * len(SMOKE.tiles)
    assert {case.types for case in smoke} == set(TYPES)


def test_speeds_are_operations_over_time() -> None:
    with amdjit.use("emulator:gfx1201") as device:
        result = run(replace(CASES[0][1], size=(32, 32, 32)), device)
    timed = replace(result, milliseconds=0.5)
    assert report.tflops(timed) == pytest.approx(2 * 32**3 / 0.0005 / 1e12)
    peak = 1024 * 64 * 2.97e9  # AMD: of bf16 on the RX 9070 XT
    assert report.efficiency(timed) == pytest.approx(100 * 2 * 32**3 / 0.0005 / peak)
    assert report.efficiency(result) is None


@pytest.mark.parametrize(
    ("types", "peak"),
    [
        (Types(fp8_fnuz, f32, f32), "fp8 matrix"),
        (Types(f64, f64, f64), "f64 matrix"),
        (Types(Rounded.XF32, f32, f32), "xf32 matrix"),
    ],
    ids=str,
)
def test_efficiency_on_cdna_is_of_the_peak_of_the_types(types: Types, peak: str) -> None:
    case = Case(DIRECT, types, MIXED, (1, 1), 16, (1, 1), (16, 16, 32))
    found = running.Result(case, "gfx942", 64, 16, Outcome.PASSED, milliseconds=0.5)
    expected = 100 * case.operations / 0.0005 / PEAKS["gfx942"].operations[peak]
    assert report.efficiency(found) == pytest.approx(expected)


def test_plots_show_the_best_case_of_each_type(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    picture = tmp_path / "speeds.svg"
    options = ["--sizes", "32", "64", "--types", "f16_f16_f32", "--first", "3"]
    assert bench("--target", "gfx1201", "--plot", str(picture), *options) == 0
    shown = picture.read_bytes()  # matplotlib writes texts as paths, and as comments beside them
    for text in (b"GEMM on gfx1201", b"estimated by the cycle model", b"f16_f16_f32"):
        assert text in shown
    with amdjit.use("emulator:gfx1201") as device:
        one = run(replace(CASES[0][1], size=(32, 32, 32)), device)
    slower = replace(one, seconds=2 * (one.seconds or 1))
    (points,) = lines_of([slower, one, slower]).values()
    assert points == [(32, report.tflops(one))]


def test_a_plot_without_matplotlib_is_refused_before_the_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    load = importlib.import_module

    def missing(name: str) -> Any:
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return load(name)

    monkeypatch.setattr(importlib, "import_module", missing)
    assert bench("--target", "gfx1201", "--plot", "speeds.svg") == 1
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "pip install matplotlib" in shown.err


def test_a_plot_without_speeds_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    options = ["--sizes", "32", "--types", "i8_i32_i32", "--first", "1"]
    assert bench("--target", "gfx1103", "--plot", str(tmp_path / "x.png"), *options) == 1
    assert "no case has a speed to plot" in capsys.readouterr().err


@pytest.mark.parametrize("size", ["3x4", "0", "a", "16x16x0"])
def test_sizes_are_checked(size: str, capsys: pytest.CaptureFixture) -> None:
    with pytest.raises(SystemExit):
        bench("--sizes", size)
    assert f"'{size}' is neither N nor MxNxK" in capsys.readouterr().err


@pytest.mark.exhaustive
@pytest.mark.parametrize("types", TYPES, ids=str)
@pytest.mark.parametrize("target", ["gfx942", "gfx90a", "gfx1100", "gfx1201"])
def test_the_smoke_and_validation_suites_pass(target: str, types: Types) -> None:
    """Of the validation suite every 97th case: 17,000 take days on a CPU."""
    chosen = [*grid(SMOKE), *list(grid(VALIDATION))[::97]]
    with amdjit.use(f"emulator:{target}") as device:
        for case in chosen:
            if case.types == types:
                result = run(case, device)
                assert result.outcome is not Outcome.FAILED, (case, result.reason)
