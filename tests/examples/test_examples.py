"""Every example, run on the emulator and compared with NumPy by the example itself."""

from __future__ import annotations

import importlib
import pkgutil
import subprocess
import sys

import numpy as np
import pytest

import amdjit
import amdjit.examples
from amdjit import demo
from amdjit.examples import i8_gemm, mlp, perf_hgemm, reduction, wmma_gemm
from amdjit.examples.report import CheckError, Report, compare, compare_relative
from amdjit.intrinsics.sync import wave_barrier

NAMES = sorted(
    info.name
    for info in pkgutil.iter_modules(amdjit.examples.__path__)
    if info.name not in ("report", "waves")
)


def test_there_are_examples() -> None:
    assert len(NAMES) == 22


# The demonstration runs the others, and test_command.py reads what it says of each.
IN_THE_DEMO = {example.__name__.rpartition(".")[2] for example in demo.EXAMPLES}


@pytest.mark.sample(6)
@pytest.mark.parametrize("name", [name for name in NAMES if name not in IN_THE_DEMO])
def test_it_agrees_with_numpy(name: str) -> None:
    outcome = importlib.import_module(f"amdjit.examples.{name}").main()
    reports = outcome if isinstance(outcome, list) else [outcome]
    for report in reports:
        assert isinstance(report, Report)
        assert report.example == name
        assert report.largest_error <= report.tolerance


# The others call the builtins of gfx12.
ON_GFX11 = [
    "article_fragments", "dlrm", "flash_attention", "hgemv", "i8_gemm", "jacobi", "perf_hgemm",
    "reduction", "saxpy", "simple_hgemm", "transpose_shuffle", "user_intrinsic", "vector_add",
    "tuned_gemm", "w4a16_gemm",
]  # fmt: skip
OFTEN = ("article_fragments", "flash_attention", "perf_hgemm", "simple_hgemm")


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "name",
    [
        name if name in OFTEN else pytest.param(name, marks=pytest.mark.exhaustive)
        for name in ON_GFX11
    ],
)
def test_the_same_source_runs_on_gfx11(name: str) -> None:
    with amdjit.use("emulator:gfx1100"):
        outcome = importlib.import_module(f"amdjit.examples.{name}").main()
    for report in outcome if isinstance(outcome, list) else [outcome]:
        assert report.device == "emulator:gfx1100"
        assert report.largest_error <= report.tolerance


ON_CDNA = (
    "simple_hgemm", "simple_sgemm", "perf_hgemm", "hgemv", "dlrm", "i8_gemm", "flash_attention",
    "w4a16_gemm", "reduction", "user_intrinsic", "saxpy", "vector_add", "tuned_gemm",
)  # fmt: skip


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("target", "name"),
    [
        (target, name)
        if (target, name) in (("gfx942", "simple_hgemm"), ("gfx90a", "perf_hgemm"))
        else pytest.param(target, name, marks=pytest.mark.exhaustive)
        for target in ("gfx942", "gfx90a", "gfx950", "gfx908")
        for name in ON_CDNA
    ],
)
def test_the_same_source_runs_on_cdna(target: str, name: str) -> None:
    with amdjit.use(f"emulator:{target}"):
        outcome = importlib.import_module(f"amdjit.examples.{name}").main()
    for report in outcome if isinstance(outcome, list) else [outcome]:
        assert report.device == f"emulator:{target}"
        assert report.largest_error <= report.tolerance


@pytest.mark.parametrize("name", sorted(set(NAMES) - {*ON_GFX11, "simple_sgemm"}))
def test_examples_of_gfx12_are_refused_on_gfx11(name: str) -> None:
    refused = pytest.raises(amdjit.TargetError, match="does not exist on gfx1100")
    with amdjit.use("emulator:gfx1100"), refused:
        importlib.import_module(f"amdjit.examples.{name}").main()


@pytest.mark.sample(4)
@pytest.mark.parametrize("name", NAMES)
def test_a_second_launch_compiles_nothing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    example = importlib.import_module(f"amdjit.examples.{name}")
    example.main()
    monkeypatch.setattr("amdjit.compiler.compile_kernel", None)
    example.main()


def test_the_two_mlp_variants_differ() -> None:
    first, second = mlp.main()
    assert first.checked != second.checked


@pytest.mark.parametrize(
    "shape", [(16, 16, 16), (48, 160, 16), (144, 16, 48), (128, 128, 32), (272, 144, 80)]
)
def test_gemm_of_any_multiples_of_16(shape: tuple[int, int, int]) -> None:
    assert wmma_gemm.main(*shape).largest_error <= 1e-3


def test_gemm_writes_nothing_outside_c() -> None:
    space = np.full((3, 48, 80), 7, np.float32)
    ones = np.ones((48, 16), np.float16)
    wmma_gemm.gemm(ones, np.ones((16, 80), np.float16), space[1])
    assert (space[1] == 16).all()
    assert (space[[0, 2]] == 7).all()


def test_gemm_refuses_shapes_that_do_not_fit() -> None:
    a, b, c = (
        np.zeros((16, 16), np.float16),
        np.zeros((16, 24), np.float16),
        np.zeros((16, 24), np.float32),
    )
    with pytest.raises(ValueError, match="multiples of 16"):
        wmma_gemm.gemm(a, b, c)


@pytest.mark.parametrize("n", [1, 3, 4, 1023, 100_003])
def test_reduction_of_any_length(n: int) -> None:
    assert reduction.main(n).largest_error <= reduction.main(n).tolerance


def test_a_wrong_result_is_an_error() -> None:
    with pytest.raises(CheckError, match="largest error 1"):
        compare("example", "nothing", np.ones(2), np.zeros(2))
    with pytest.raises(CheckError):
        compare("example", "nothing", np.array([np.nan]), np.zeros(1), tolerance=1.0)


def test_a_script_prints_its_report() -> None:
    outcome = subprocess.run(
        [sys.executable, "-m", "amdjit.examples.wmma_matmul"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert outcome.stdout.startswith("wmma_matmul on ")
    assert "exact" in outcome.stdout


@pytest.mark.parametrize("k", [32, 64, 96])
def test_the_tuned_gemm_takes_odd_and_even_numbers_of_steps(k: int) -> None:
    assert perf_hgemm.main(128, 128, k).largest_error == 0


def test_without_its_barrier_the_tuned_gemm_has_a_race(monkeypatch: pytest.MonkeyPatch) -> None:
    """One barrier a step is enough, and none is too few."""
    monkeypatch.setattr(perf_hgemm, "lds_barrier", wave_barrier)
    racing = amdjit.kernel(block=(32 * perf_hgemm.WAVES, 1, 1))(perf_hgemm.perf_hgemm.function)
    a, b, c, d = (np.ones((128, depth), np.float16) for depth in (96, 96, 128, 128))
    with amdjit.use("emulator:gfx1201"), amdjit.sanitize("race", raises=False) as found:
        racing[(1, 1), 128](a, b, c, d, np.float32(1), np.float32(0))
    assert {report.check for report in found.reports} == {"race"}


def test_silu_is_exact_for_every_sum() -> None:
    @amdjit.kernel
    def apply(totals, out, scale, result_scale):
        i = amdjit.grid(1)
        out[i] = i8_gemm.silu(totals[i], 0, (scale, result_scale))

    totals = np.arange(-(2**15), 2**15, dtype=np.int32)
    out = np.zeros(totals.size, np.int8)
    apply[totals.size // 64, 64](totals, out, np.float32(1 / 64), np.float32(16))
    x = np.clip(totals, -(2**14), None) / 64
    np.testing.assert_array_equal(out, np.minimum(np.rint(16 * x / (1 + np.exp(-x))), 127))


def test_rocwmmas_rule_is_relative_and_refuses_what_is_further_away() -> None:
    result = np.array([1000.0, 0.0], np.float16)
    report = compare_relative("example", "two numbers", result, np.array([1001.0, 0.0]), 10)
    assert report.largest_error == 1 / 2002
    assert report.tolerance == 10 * 2.0**-10
    for wrong in (np.array([1030.0, 0.0]), np.array([np.nan, 0.0])):
        with pytest.raises(CheckError):
            compare_relative("example", "two numbers", result, wrong, 10)
