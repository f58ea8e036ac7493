"""`amdjit diff`: what its two versions may be, its text, JSON and exit status."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from amdjit.command_line import main
from tests.testing.measured_kernels import OBJECTS, inspected
from tests.testing.test_kernel_differences import launch_of, results

HERE = Path(__file__).parent
KERNELS, PROGRAM = HERE / "shown_kernels.py", HERE / "shown_program.py"
SCALE = ["diff", f"{KERNELS}:scale", "--signature", "f32[:],f32", f"{KERNELS}:scale"]
SUM = OBJECTS / "iree_sum.co"


@pytest.fixture
def versions(tmp_path: Path) -> tuple[Path, Path]:
    """Two folders with a kernel file each; what the kernel computes is in a neighbour of it."""
    for name, factor in (("old", "2"), ("new", "x[i] * x[i + 1] * x[i + 2]")):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "kernel.py").write_text(
            "import amdjit\nfrom neighbour import changed\n\n@amdjit.kernel\ndef apply(x):\n"
            "    i = amdjit.grid(1)\n    x[i] = changed(x, i)\n"
        )
        (folder / "neighbour.py").write_text(f"def changed(x, i):\n    return x[i] * {factor}\n")
    return tmp_path / "old", tmp_path / "new"


def test_each_version_has_its_own_neighbours(
    versions: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    files = [f"{folder}/kernel.py:apply" for folder in versions]
    arguments = ["--signature", "f32[:]"]
    assert main(["diff", *files, *arguments]) == 0
    first, second, *rest = capsys.readouterr().out.splitlines()
    assert first == f"{files[0]} -> {files[1]}"
    assert second == "apply(f32[::1]) for gfx1201"
    assert rest[-1] == "1 kernel changed, 0 without a difference"
    (valu,) = [line.split() for line in rest if line.startswith("  valu_instructions")]
    assert int(valu[3]) > int(valu[1])
    assert any("neighbour.py:2" in line and "return x[i] * x[i] *" in line for line in rest)
    assert main(["diff", *files, *arguments, "--exit-code"]) == 1
    assert main(["diff", *reversed(files), *arguments, "--exit-code", "--figures", "vgprs"]) == 0


def test_without_a_second_target_the_options_of_the_first_change(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main([*SCALE, "--new-target", "gfx1100", "--new-signature", "i32[:],i32"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("scale(f32[::1], f32) -> (i32[::1], i32) for gfx1201 -> gfx1100\n")
    assert main([*SCALE, "--new-option", "fastmath=True"]) == 0
    assert capsys.readouterr().out == "0 kernels changed, 1 without a difference\n"


def test_an_inspections_json_is_a_version(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "saved.json"
    file.write_text(inspected("iree_sum").to_json())
    assert main(["diff", str(file), str(SUM), "--exit-code"]) == 0
    assert "0 kernels changed, 1 without a difference" in capsys.readouterr().out


def test_folders_have_added_and_removed_kernels(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    for folder, names in (
        (old, ("iree_sum", "triton_softmax")),
        (new, ("iree_sum", "flydsl_gemm")),
    ):
        folder.mkdir()
        for name in names:
            shutil.copy(OBJECTS / f"{name}.co", folder)
    assert main(["diff", str(old), str(new)]) == 0
    assert capsys.readouterr().out.splitlines()[1:] == [
        "added    gemm_kernel_0 for gfx1201",
        "removed  softmax for gfx1201",
        "0 kernels changed, 1 without a difference",
    ]
    assert main(["diff", str(old), str(new), "--kernel", "main*"]) == 0
    assert capsys.readouterr().out.splitlines()[1:] == ["0 kernels changed, 1 without a difference"]


def test_the_launches_of_two_programs_are_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    slower = tmp_path / "slower.py"
    slower.write_text(PROGRAM.read_text().replace("2 * x[i]", "x[i] + x[i] * x[i // 2]"))
    targets = [f"{PROGRAM}:doubled", f"{slower}:doubled"]
    assert main(["diff", *targets, "--run", "--exit-code", "--", "1"]) == 1
    output = capsys.readouterr()
    assert "doubled for gfx1201; launch: grid 4, block 32\n" in output.out
    assert "x[i] = x[i] + x[i] * x[i // 2]" in output.out
    assert output.err == "ran with ['1']\n" * 2


def test_profiles_and_lines_that_are_too_many(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("amdjit.command_line.diff._SHOWN", 1)
    files = [str(tmp_path / f"{step}.json") for step in (1, 32)]
    for file, step in zip(files, (1, 32), strict=True):
        Path(file).write_text(launch_of(step).to_json())
    assert main(["diff", *files, "--figures", "lds_conflicts"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1:3] == [
        "strided for gfx1201; launch: grid 1, block 32",
        "  lds_conflicts  0 -> 62  worse",
    ]
    assert lines[3].startswith("  test_kernel_differences.py:")
    assert lines[4] == "  and 2 more (--all)"
    assert main(["diff", *files, "--all", "--figures", "cycles"]) == 0
    assert "more (--all)" not in capsys.readouterr().out


def test_files_of_tuning_results_are_versions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = results(tmp_path / "old", {16: 3e-6, 32: 2e-6})
    new = results(tmp_path / "new", {16: 2.5e-6, 32: None})
    assert main(["diff", str(old), str(new), "--exit-code"]) == 1
    assert capsys.readouterr().out.splitlines()[1:] == [
        "gemm(a: f32[:]) for gfx1201; n=64  (the best: B=32 -> B=16)",
        "  seconds  2e-06 -> 2.5e-06  worse",
        "  B=32  fine -> refused: too much LDS",
        "  B=16  seconds 3e-06 -> 2.5e-06",
        "1 kernel changed, 0 without a difference",
    ]
    assert main(["diff", str(new), str(old), "--exit-code"]) == 0
    assert main(["diff", str(new), str(SUM)]) == 2
    assert "one is a file of tuning results, the other is not" in capsys.readouterr().err


def test_json_has_all_differences(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*SCALE, "--new-signature", "i64[:],i64", "--json"]) == 0
    form = json.loads(capsys.readouterr().out)
    assert form["schema"] == "amdjit.difference/1"
    assert (form["old"], form["same"], form["added"]) == (f"{KERNELS}:scale", 0, [])
    (one,) = form["changed"]
    assert one["kernel"].startswith("scale(f32[::1], f32) -> ")
    assert all(each["before"] != each["after"] for each in one["figures"])
    assert one["parts"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([*SCALE[:-1], str(SUM)], "--signature is for FILE.py:KERNEL"),
        (["diff", str(SUM), "absent.co"], "absent.co cannot be read"),
        (["diff", str(SUM), str(SUM), "--figures", "vgpr"], "no figure 'vgpr'; alike are vgprs"),
        (["diff", str(SUM), str(SUM), "--figures", "cycles"], "no figure of cycles in common"),
        (["diff", str(SUM), str(SUM), "--kernel", "absent"], "there is no kernel absent"),
        (["diff", str(SUM), str(SUM), "--run"], "--run is for FILE.py:KERNEL"),
    ],
)
def test_a_mistake_is_status_2(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    output = capsys.readouterr()
    assert words in output.err
    assert output.out == ""
