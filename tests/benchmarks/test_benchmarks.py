"""The benchmarks run and print their tables. Their figures are not checked: machines differ."""

from __future__ import annotations

import importlib
import json
import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import algorithms
import code_changes
import code_quality
import compile_latency
import compile_scaling
import debugging
import emulator_speed
import family_lines
import gemm_loops
import hip_programs
import matrix_arithmetic
import measurement
import neon_code

from amdjit.demo import EXAMPLES
from tests.hip_programs.hip_programs import HIP, needs_hip


@pytest.fixture(autouse=True)
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(measurement, "RESULTS", tmp_path / "results")
    return tmp_path / "results"


@pytest.mark.exhaustive
def test_compile_latency_measures_every_stage(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    compile_latency.main(rounds=1)
    saved = json.loads((results / "compile_latency.json").read_text())
    for kernel in compile_latency.KERNELS:
        stages = [stage["best_ms"] for stage in saved["stages"][kernel].values()]
        assert all(0 <= stage <= saved["totals"][kernel]["best_ms"] for stage in stages)
    text = capsys.readouterr().out
    assert all(
        label in text
        for label in (
            *compile_latency.STAGES.values(),
            *(n for n, _ in compile_latency.MEASURED.values()),
        )
    )


@pytest.mark.exhaustive
def test_the_debuggers_benchmark_goes_back_from_the_end_and_the_middle(results: Path) -> None:
    debugging.main(20, 1)
    found = json.loads((results / "debugging.json").read_text())
    assert found["stepping"]["instructions"] > 100_000
    assert all(ms > 0 for ms in found["stepping"]["ms"].values())
    assert found["recording"]["recorded launch"] > found["recording"]["launch"]


@pytest.mark.exhaustive
@pytest.mark.skipif(shutil.which("clang-22") is None, reason="clang-22 is not installed")
@pytest.mark.parametrize("cpu", ["gfx1100", "gfx942"])
def test_code_for_other_families_is_not_much_longer_than_clangs(results: Path, cpu: str) -> None:
    code_quality.main(cpu)
    kernels = json.loads((results / f"code_quality_{cpu}.json").read_text())["kernels"]
    assert set(kernels) == set(code_quality.KERNELS) - code_quality.left_out(cpu)
    assert len(kernels) >= 10
    for name, by in kernels.items():
        assert by["amdjit"]["instructions"] <= 1.25 * by["clang"]["instructions"], name


@pytest.mark.skipif(shutil.which("clang-22") is None, reason="clang-22 is not installed")
def test_code_quality_compares_every_kernel_with_clang(results: Path) -> None:
    code_quality.main()
    kernels = json.loads((results / "code_quality.json").read_text())["kernels"]
    # The kernels over fragments are compared with those over instructions, and their loops with
    # clang's.
    by_fragments = {
        "article_fragments", "simple_hgemm", "perf_hgemm", "i8_gemm", "hgemv", "dlrm",
        "flash_attention", "w4a16_gemm",
    }  # fmt: skip
    assert {example.__name__.rpartition(".")[2] for example in EXAMPLES} <= set(
        kernels
    ) | by_fragments
    for name, row in kernels.items():
        assert row["amdjit"]["wmma"] == row["clang"]["wmma"], name
        ours, theirs = row["amdjit"]["accesses"], row["clang"]["accesses"]
        assert widest(ours).keys() == widest(theirs).keys(), (
            f"{name} is no longer the same algorithm"
        )
        assert all(widest(ours)[kind] >= bits for kind, bits in widest(theirs).items()), name
        assert sum(ours.values()) <= 1.1 * sum(theirs.values()), name
        assert row["amdjit"]["instructions"] <= 1.10 * row["clang"]["instructions"], name
        assert row["amdjit"]["vgprs"] <= 1.25 * row["clang"]["vgprs"], name
        assert row["amdjit"]["spills"] == 0
    assert kernels["saxpy_256"]["amdjit"]["instructions"] <= 16
    assert kernels["saxpy"]["amdjit"]["instructions"] <= 19
    assert kernels["wave_reduction"]["amdjit"]["instructions"] <= 64


def widest(accesses: dict[str, int]) -> dict[str, int]:
    """Return the widest access in bits, by memory and direction."""
    result: dict[str, int] = {}
    for name in accesses:
        kind, _, bits = name.rpartition(".")
        result[kind] = max(result.get(kind, 0), int(bits))
    return result


def test_compile_scaling_measures_every_stage_of_every_length(
    results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AMDJIT_CACHE_DIR", "")
    compile_scaling.main(50, 100)
    saved = json.loads((results / "compile_scaling.json").read_text())["seconds"]
    assert set(saved) == {"50", "100"}
    for row in saved.values():
        stages = [row[name] for name in compile_scaling.STAGES]
        assert all(stage > 0 for stage in stages)
        assert sum(stages) <= row["total"]


@pytest.mark.skipif(shutil.which("clang-22") is None, reason="clang-22 is not installed")
def test_the_main_loops_are_as_good_as_clangs(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The figures that the samples promise: 128-bit accesses, one barrier, next to nothing but
    matrix instructions."""
    gemm_loops.main()
    loops = json.loads((results / "gemm_loops.json").read_text())["loops"]
    for name, wmmas in (("f16 128x128x32", 32), ("i8 128x128x64", 64)):
        ours, theirs = loops[name]["amdjit"], loops[name]["clang"]
        assert (ours["mix"]["WMMA"], ours["mix"]["barriers"], ours["bits"], ours["spills"]) == (
            wmmas,
            1,
            128,
            0,
        )
        assert ours["mix"]["other VALU"] <= min(8, theirs["mix"]["other VALU"] + 2)
        assert ours["vgprs"] <= 240
        for kind in ("WMMA", "LDS", "VMEM", "barriers"):
            assert ours["mix"][kind] == theirs["mix"][kind], (
                f"{name} is no longer the same algorithm"
            )
    text = capsys.readouterr().out
    assert all(by in text for by in ("amdjit", "clang", "Triton"))


def test_loops_are_found_by_their_branches_and_units_by_their_names() -> None:
    kinds = {
        "v_wmma_i32_16x16x16_iu8": "WMMA", "v_add_f32": "other VALU", "s_add_co_i32": "SALU",
        "s_wait_dscnt": "waits",
        "s_barrier_signal": "", "s_barrier_wait": "barriers", "ds_load_b128": "LDS",
        "buffer_load_b128": "VMEM",
        "s_delay_alu": "", "global_store_b8": "VMEM", "global_inv": "barriers",
    }  # fmt: skip
    assert {name: gemm_loops.kind_of(name) for name in kinds} == kinds


@pytest.mark.exhaustive
def test_emulator_speed_measures_every_kernel(results: Path) -> None:
    emulator_speed.main(rounds=1)
    saved = json.loads((results / "emulator_speed.json").read_text())
    assert len(saved["seconds"]["1"]) == 8
    assert saved["numpy"] > 0
    for row in saved["translations"].values():
        assert {"full", "full, from the cache", "quick", "quick, operations known"} <= row.keys()


@pytest.mark.exhaustive
def test_both_arithmetics_of_matrix_products_are_measured() -> None:
    measured = matrix_arithmetic.seconds(32, 1)
    assert {name.partition(", ")[0] for name in measured} == {"N(0,1)", "integers"}
    assert all(
        times.keys() == {"silicon", "fma"} and min(times.values()) > 0
        for times in measured.values()
    )
    assert matrix_arithmetic.report(32, measured).count(">= 0.60") == len(measured) // 2


@pytest.mark.exhaustive
def test_both_arithmetics_of_every_approximate_instruction_are_measured() -> None:
    measured = matrix_arithmetic.seconds_of_functions(1024, 1)
    assert {name.partition(", ")[0] for name in measured} == set(matrix_arithmetic.FUNCTIONS)
    assert all(
        times.keys() == {"silicon", "fast"} and min(times.values()) > 0
        for times in measured.values()
    )
    assert matrix_arithmetic.functions_report(measured).count("<= 1.5") == len(measured)


def test_tables_put_numbers_to_the_right() -> None:
    text = measurement.table(("name", "count"), [("a", 7), ("longer", 12)])
    assert text.splitlines() == ["name    count", "------  -----", "a           7", "longer     12"]


def test_code_changes_shows_kernels_with_other_machine_code() -> None:
    kernel, arguments = code_quality.KERNELS["saxpy_256"]
    plain = code_changes.measured(kernel.compile(*arguments, target=code_quality.TARGET), 0.5)
    careful = code_changes.measured(
        kernel.compile(*arguments, target=code_quality.TARGET, fastmath=False), 0.5
    )
    assert plain["milliseconds"] == 500
    assert plain["vector"] < careful["vector"]
    assert code_changes.changes({"saxpy": plain}, {"saxpy": plain}) == []
    ((name, instructions, *_),) = code_changes.changes(
        {"saxpy": plain, "old": plain}, {"saxpy": careful, "new": plain}
    )
    assert (name, instructions) == (
        "saxpy",
        f"{plain['instructions']} -> {careful['instructions']}",
    )


def test_algorithms_measures_launches_and_memory(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    algorithms.main(4096, ["axpy"])
    saved = json.loads((results / "algorithms.json").read_text())
    assert set(saved["cases"]) == {"axpy"}
    assert saved["cases"]["axpy"]["bytes_per_element"] == 12
    assert set(algorithms.cases(1)) == set(algorithms.ROCPRIM)
    assert "axpy" in capsys.readouterr().out


FAMILIES_SOURCE = '''"""About gfx11 and gfx12."""

SHARED = ("gfx1100", "gfx1201")
ONLY = [
    "gfx942",  # gfx11

]


def both(target):
    """gfx9."""
    return target.is_gfx12 or target in WMMA_GFX11


class Plain:
    """MFMA."""

    kind = "rdna4"

    def plain(self):
        return 1


class Gfx11Rows:
    def plain(self):
        return 1
'''


def test_lines_of_one_family_are_those_of_units_that_name_it() -> None:
    found = list(family_lines.units(FAMILIES_SOURCE, "amdjit/module.py"))
    sizes = [(unit.first_line, unit.lines, *sorted(unit.families)) for unit in found]
    assert sizes == [
        (3, 1, "RDNA 3", "RDNA 4"),
        (4, 3, "CDNA"),
        (10, 2, "RDNA 3", "RDNA 4"),
        (15, 1),
        (18, 1, "RDNA 4"),
        (20, 2),
        (24, 3, "RDNA 3"),
    ]
    assert family_lines.by_family(found) == {"CDNA": 3, "RDNA 3": 3, "RDNA 4": 1}
    (whole,) = family_lines.units(FAMILIES_SOURCE, "amdjit/gfx11_tables.py")
    assert (whole.lines, whole.families) == (13, {"RDNA 3"})


def test_family_lines_are_counted_over_folders(
    results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(family_lines, "FOLDERS", ("lowering",))
    family_lines.main([])
    saved = json.loads((results / "family_lines.json").read_text())
    assert saved["total"] > 2_000
    assert set(saved["lines"]) <= set(family_lines.FAMILIES)


# Scripts that measure by the rounds of their first argument, or little.
SHORT = [
    ("block_reductions", ()),
    ("import_time", (1,)),
    ("profile_cost", (1,)),
    pytest.param("sanitizer_cost", (1, 1), marks=pytest.mark.exhaustive),
    pytest.param("cycle_model_speed", (), marks=pytest.mark.exhaustive),
    pytest.param("cycle_ranks", (), marks=pytest.mark.exhaustive),
    pytest.param("explorer_page", (), marks=pytest.mark.exhaustive),
    pytest.param("host_arrays", (1,), marks=pytest.mark.exhaustive),
]


@pytest.mark.sample(1)
@pytest.mark.parametrize(("script", "arguments"), SHORT)
def test_a_script_runs_to_its_end(
    results: Path, script: str, arguments: tuple[int, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    importlib.import_module(script).main(*arguments)
    assert capsys.readouterr().out
    (saved,) = results.glob("*.json")
    assert json.loads(saved.read_text())


@pytest.mark.exhaustive
def test_host_code_for_aarch64_computes_on_whole_vectors(results: Path) -> None:
    """Nothing falls back to functions of C's library, or to single elements."""
    neon_code.main()
    found = json.loads((results / "neon_code.json").read_text())
    del found["machine"]
    assert len(found) == 6
    for name, by in found.items():
        neon = by["NEON"]
        assert neon["vector_bits"] / neon["vector"] > 120, name
        assert set(neon["calls"]) <= {"memcpy", "memset"}, name
        assert neon["lane_moves"] < neon["vector"] / 4, name
        assert neon["instructions"] < 2 * by["AVX2"]["instructions"], name


@needs_hip
@pytest.mark.exhaustive  # a minute: it starts 20 programs
def test_programs_that_use_hip_are_compared_with_launches_from_python(
    results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HIP_HEADERS", str(HIP))
    hip_programs.main(rounds=1, side=64)
    saved = json.loads((results / "hip_programs.json").read_text())
    kernels = {row[0] for row in saved["checks"]}
    assert {row[0] for row in saved["launches, 2 threads"]} == kernels | {"nothing"}
    assert len(kernels) == 10
