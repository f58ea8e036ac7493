"""`amdjit gate`: exit status, text, JSON and annotations, for each kind of target."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from amdjit.command_line import main
from amdjit.command_line.gate import annotation
from amdjit.testing import Outcome
from tests.hip_programs.hip_programs import compile_program, needs_hip, run_program
from tests.testing.measured_kernels import OBJECTS, launched

HERE = Path(__file__).parent
KERNELS, PROGRAM = HERE / "shown_kernels.py", HERE / "shown_program.py"
SCALE = ["gate", f"{KERNELS}:scale", "--signature", "f32[:],f32"]
SUM = OBJECTS / "iree_sum.co"


def test_conditions_that_hold_are_status_0(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*SCALE, "vgprs<=16, spills==0", "occupancy>=16"]) == 0
    output = capsys.readouterr()
    assert re.fullmatch(
        r"scale\(f32\[::1\], f32\) for gfx1201\n"
        r"  holds  vgprs \d+ <= 16\n"
        r"  holds  spills 0 == 0\n"
        r"  holds  occupancy 16 >= 16\n"
        r"3 of 3 conditions hold\n",
        output.out,
    )
    assert output.err == ""


def test_one_that_does_not_is_status_1_with_its_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(HERE)
    assert main([*SCALE, "spills==0, vector_memory_instructions<=1"]) == 1
    assert capsys.readouterr().out.splitlines()[1:] == [
        "  holds  spills 0 == 0",
        "  FAILS  vector_memory_instructions 2 <= 1 (2 are of this line)",
        "         shown_kernels.py:11  x[i] = s * x[i]",
        "1 of 2 conditions hold",
    ]


def test_options_targets_and_several_signatures_reach_the_compiler(
    capsys: pytest.CaptureFixture[str],
) -> None:
    arguments = ["--signature", "f32[:],f32", "--signature", "i32[:],i32", "--target", "gfx1100"]
    options = ["--option", "fastmath=True"]
    assert main(["gate", f"{KERNELS}:scale", *arguments, *options, "spills==0"]) == 0
    text = capsys.readouterr().out
    assert "scale(f32[::1], f32) for gfx1100; fastmath=True\n" in text
    assert "scale(i32[::1], i32) for gfx1100; fastmath=True\n" in text


def test_each_launch_of_a_program_is_checked(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["gate", f"{PROGRAM}:doubled", "executions>0, cycles<=1", "--run", "--", "2"]
    assert main(arguments) == 1
    output = capsys.readouterr()
    assert output.out.count("FAILS  cycles") == 2
    assert "doubled for gfx1201; launch 1 of 2: grid 4, block 32\n" in output.out
    assert output.out.endswith("2 of 4 conditions hold\n")
    # What the program prints is none of the answer.
    assert output.err == "ran with ['2']\n"


def test_a_folder_names_the_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(SUM, tmp_path / "sum.hsaco")
    shutil.copy(OBJECTS / "triton_softmax.co", tmp_path)
    monkeypatch.chdir(tmp_path)
    assert main(["gate", ".", "vgprs<=0", "--kernel", "main*"]) == 1
    assert " for gfx1201 in sum.hsaco\n  FAILS  vgprs " in capsys.readouterr().out


def test_json_has_every_outcome(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gate", str(SUM), "vgprs<=0, spills==0", "--json"]) == 1
    form = json.loads(capsys.readouterr().out)
    assert (form["schema"], form["holds"]) == ("amdjit.gate/1", False)
    failed, held = form["outcomes"]
    assert (failed["figure"], failed["operator"], failed["bound"], failed["holds"]) == (
        "vgprs", "<=", 0, False,
    )  # fmt: skip
    assert (held["figure"], held["value"], held["holds"]) == ("spills", 0, True)
    assert main([*SCALE, "vgprs<=99", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["holds"] is True


# Annotations for GitHub.


def test_annotations_name_files_from_the_current_folder(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(HERE.parents[1])
    assert main([*SCALE, "vector_memory_instructions<=1, spills==0", "--github"]) == 1
    *_, last, written = capsys.readouterr().out.splitlines()
    assert last == "1 of 2 conditions hold"
    assert written == (
        "::error file=tests/command_line/shown_kernels.py,line=11,title=amdjit gate%3A "
        "vector_memory_instructions::scale(f32[::1], f32) for gfx1201: not "
        "vector_memory_instructions 2 <= 1 (2 are of this line)"
    )


def test_what_holds_is_not_annotated(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*SCALE, "spills==0", "--github"]) == 0
    assert "::" not in capsys.readouterr().out.replace("[::1]", "")


def outcome(file: str | None, cause: str) -> Outcome:
    return Outcome(
        "k", "gfx1201", (), "", figure="vgprs", operator="<=", bound=8, value=9, holds=False,
        file=file, line=3 if file else None, cause=cause,
    )  # fmt: skip


def test_annotations_are_escaped() -> None:
    text = annotation(outcome("a,b:c.py", "50 % of\r\nall: a, b"))
    assert text == (
        "::error file=a%2Cb%3Ac.py,line=3,title=amdjit gate%3A vgprs::"
        "k for gfx1201: not vgprs 9 <= 8 (50 %25 of%0D%0Aall: a, b)"
    )


def test_files_outside_are_told_in_the_text_alone(tmp_path: Path) -> None:
    file = str(tmp_path / "k.py")
    assert annotation(outcome(file, "")).endswith(
        f"vgprs::k for gfx1201: not vgprs 9 <= 8 at {file}:3"
    )
    assert " file=" not in annotation(outcome(None, ""))


# Mistakes are status 2, never an answer.


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([*SCALE, "vgpr<=16"], "there is no figure 'vgpr'; alike are vgprs"),
        ([*SCALE, ""], "there is no condition"),
        ([*SCALE, "cycles<=16"], "cycles is not known. Only a launch tells: `--run`"),
        ([*SCALE, "grid: vgprs<=16"], "there is no kernel grid, but scale"),
        ([*SCALE, "vgprs<=16", "--kernel", "grid"], "there is no kernel grid, but scale"),
        ([*SCALE, "vgprs<=16", "--run"], "--run measures the kernel with the types"),
        ([*SCALE, "vgprs<=16", "--option", "unrol=3"], "unrol"),
        (["gate", f"{KERNELS}:scale", "vgprs<=16"], "but 0 were given"),
        (["gate", f"{KERNELS}:absent", "vgprs<=16"], "has no kernel 'absent'"),
        (["gate", str(KERNELS), "vgprs<=16"], "names no kernel: write FILE.py:KERNEL"),
        (["gate", "absent.co", "vgprs<=16"], "absent.co cannot be read"),
        (["gate", "absent.py:k", "vgprs<=16"], "absent.py is not a Python file"),
        (["gate", str(SUM), "vgprs<=9", "--signature", "f32"], "--signature is for FILE.py:KERNEL"),
        (["gate", str(SUM), "vgprs<=16", "--option", "unroll=4"], "--option is for FILE.py:KERNEL"),
        (["gate", str(SUM), "vgprs<=16", "--run"], "--run is for FILE.py:KERNEL"),
        (["gate", str(SUM), "vgprs<=16", "--target", "gfx942"], "no kernels for gfx942 are there"),
        (["gate", f"{PROGRAM}:absent", "vgprs<=9", "--run"], "has launched no kernel 'absent'"),
    ],
)  # fmt: skip
def test_a_mistake_is_status_2(
    arguments: list[str],
    words: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    output = capsys.readouterr()
    assert words in output.err
    assert output.out == ""


@pytest.mark.parametrize("runs", [False, True])
def test_an_exception_of_the_users_file_is_status_2(
    runs: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "broken.py"
    file.write_text("raise RuntimeError('the file is broken')\n")
    assert main(["gate", f"{file}:k", "vgprs<=16", *["--run"] * runs]) == 2
    assert "RuntimeError: the file is broken" in capsys.readouterr().err


def test_a_program_that_hides_a_fault_passes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "hiding.py"
    file.write_text(
        "import contextlib\nimport numpy as np\nimport amdjit\n\n@amdjit.kernel\n"
        "def store(x, i):\n    x[i] = 1\n\nx = np.zeros(4, np.float32)\nstore[1, 1](x, 0)\n"
        "with contextlib.suppress(amdjit.KernelFault):\n    store[1, 1](x, 1_000_000)\n"
    )
    assert main(["gate", f"{file}:store", "vgprs<=99", "--run"]) == 2
    assert "store: nothing is counted, a fault stopped the launch" in capsys.readouterr().err


def test_the_json_of_a_profile_is_a_target(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "profile.json"
    file.write_text(launched().to_json())
    assert main(["gate", str(file), "contention<=24"]) == 0
    assert main(["gate", str(file), "contention<24"]) == 1
    assert "measured_kernels.py:" in capsys.readouterr().out
    assert main(["gate", str(file), "vgprs<24"]) == 2
    assert "A profile does not hold the code" in capsys.readouterr().err


@needs_hip
@pytest.mark.exhaustive
def test_the_launches_of_a_hip_program_are_gated(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program, profile = compile_program("vector_add", "gfx1201"), tmp_path / "launches.json"
    assert run_program(program, options=("--profile", str(profile))).code == 0
    assert main(["gate", str(profile), "used_bytes>=97%, lds_conflicts==0, cycles<=1"]) == 1
    launches = capsys.readouterr().out
    assert "FAILS  cycles" in launches
    assert "2 of 3 conditions hold" in launches
    assert main(["gate", str(program), "spills==0, vgprs<1"]) == 1
    assert "_Z3addPKfS0_Pfi for gfx1201 in " in capsys.readouterr().out
