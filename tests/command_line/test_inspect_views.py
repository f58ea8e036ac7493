"""`amdjit inspect --view`: views of kernels and code objects, as the terminal can show them."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from amdjit.code_object import CodeObject
from amdjit.command_line import main
from amdjit.command_line.kernel_files import load_kernel
from amdjit.command_line.screen_choice import choose_screen
from amdjit.explorer.terminal.screen import Screen
from amdjit.explorer.terminal.views import view
from amdjit.types import f32

FILE = Path(__file__).with_name("shown_kernels.py")
SCALE = ["inspect", f"{FILE}:scale", "--signature", "f32[:],f32"]
TWO_KERNELS = """
__attribute__((amdgpu_kernel)) void first(float *x) { *x += 1; }
__attribute__((amdgpu_kernel)) void second(float *x, int n) {
    for (int i = 0; i < n; i++) x[i] = i;
}
"""


VIEWS = ("lines", "pressure", "memory", "waits", "occupancy", "meanings")


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_of_a_kernel_is_that_of_its_inspection(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    compiled = load_kernel(FILE, "scale").compile(f32[:], f32)
    assert main([*SCALE, "--view", name]) == 0
    assert capsys.readouterr().out == view(compiled.inspect(), name) + "\n"


def test_meanings_stand_below_each_instruction(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*SCALE, "--view", "meanings"]) == 0
    text = capsys.readouterr().out
    inspection = load_kernel(FILE, "scale").compile(f32[:], f32).inspect()
    assert len(re.findall(r"^ {10}\S", text, re.MULTILINE)) == len(inspection.instructions)
    assert "v_mul_f32_e32 v1, s3, v1\n          v1 = s3 * v1 in f32, in each active lane.\n" in text


@pytest.mark.parametrize("name", VIEWS)
@pytest.mark.parametrize("width", [32, 60, 100])
def test_views_of_real_kernels_keep_to_the_width(name: str, width: int) -> None:
    inspection = load_kernel(FILE, "scale").compile(f32[:], f32).inspect()
    assert max(map(len, view(inspection, name, Screen(width)).splitlines())) <= width


@pytest.mark.parametrize("stage", ["tree", "llvm", "optimized", "asm", "resources"])
def test_stages_are_views_too(stage: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*SCALE, "--view", stage]) == 0
    shown = capsys.readouterr().out
    assert main([*SCALE, "--emit", stage]) == 0
    assert capsys.readouterr().out == shown


def test_json_has_all_facts(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*SCALE, "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["schema"] == "amdjit.inspection/1"
    compiled = load_kernel(FILE, "scale").compile(f32[:], f32)
    assert facts == json.loads(compiled.inspect().to_json())


def test_a_code_object_shows_the_same_as_the_kernel_that_it_holds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "scale.hsaco"
    assert main([*SCALE, "--emit", "object", "-o", str(file)]) == 0
    capsys.readouterr()
    for name in VIEWS:
        assert main([*SCALE, "--view", name]) == 0
        of_kernel = capsys.readouterr().out
        assert main(["inspect", str(file), "--view", name]) == 0
        assert capsys.readouterr().out == of_kernel
    assert main(["inspect", str(file)]) == 0
    listing = capsys.readouterr().out
    assert "global_load_b32 v1, v0, s[0:1]" in listing
    assert main(["inspect", str(file), "--view", "llvm"]) == 1
    assert "a code object has no llvm; there are lines, " in capsys.readouterr().err


@pytest.fixture
def object_file(tmp_path: Path) -> Path:
    """Return an object of clang with two kernels, not linked."""
    compiler = shutil.which("clang-22")
    if compiler is None:
        pytest.skip("clang-22 is not installed")
    target = ["--target=amdgcn-amd-amdhsa", "-mcpu=gfx1201", "-nogpulib", "-O2", "-x", "c"]
    file = tmp_path / "two.o"
    subprocess.run(
        [compiler, *target, "-c", "-", "-o", str(file)], input=TWO_KERNELS.encode(), check=True
    )
    return file


def test_an_object_file_is_linked_first_and_names_its_kernels(
    object_file: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["inspect", str(object_file)]) == 1
    assert "it has first, second" in capsys.readouterr().err
    assert main(["inspect", str(object_file), "--kernel", "third"]) == 1
    assert "has no kernel third; it has first, second" in capsys.readouterr().err
    assert main(["inspect", str(object_file), "--kernel", "second", "--view", "lines"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("second: gfx1201, wave32\n")
    assert "not known: " in shown
    linked = tmp_path / "two.co"
    assert main(
        ["inspect", str(object_file), "--kernel", "first", "--emit", "object", "-o", str(linked)]
    ) == 0  # fmt: skip
    assert list(CodeObject.read(linked.read_bytes()).kernels) == ["first", "second"]


@pytest.mark.parametrize("data", [b"", b"no object", b"\x7fELF" + bytes(100)])
def test_what_is_no_code_object_is_one_clear_error(
    data: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "broken.hsaco"
    file.write_bytes(data)
    assert main(["inspect", str(file)]) == 1
    error = capsys.readouterr().err
    assert error
    assert "Traceback" not in error


class Output(io.StringIO):
    """A stream that may be a terminal, of an encoding."""

    def __init__(self, is_terminal: bool, encoding: str = "utf-8") -> None:
        super().__init__()
        self._is_terminal, self._encoding = is_terminal, encoding

    def isatty(self) -> bool:
        return self._is_terminal

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._encoding


@pytest.mark.parametrize(
    ("choice", "is_terminal", "variables", "coloured"),
    [
        ("auto", True, {}, True),
        ("auto", False, {}, False),
        ("auto", True, {"NO_COLOR": "1"}, False),
        ("auto", True, {"TERM": "dumb"}, False),
        ("auto", False, {"FORCE_COLOR": "1"}, True),
        ("auto", False, {"FORCE_COLOR": "0"}, False),
        ("auto", True, {"NO_COLOR": "1", "FORCE_COLOR": "1"}, False),
        ("always", False, {"NO_COLOR": "1"}, True),
        ("never", True, {"FORCE_COLOR": "1"}, False),
    ],
)
def test_colour_is_for_terminals_and_for_who_asks(
    choice: str,
    is_terminal: bool,
    variables: dict[str, str],
    coloured: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert choose_screen(choice, Output(is_terminal)).colour is coloured


def test_lines_are_cut_in_terminals_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "57")
    assert choose_screen("auto", Output(True)).width == 57
    assert choose_screen("auto", Output(False)).width is None


def test_encodings_without_block_characters_get_plain_ones() -> None:
    assert choose_screen("auto", Output(False, "utf-8")).unicode
    assert not choose_screen("auto", Output(False, "ascii")).unicode
    assert not choose_screen("auto", Output(True, "latin-1")).unicode


def test_sources_that_the_encoding_lacks_do_not_stop_a_view(tmp_path: Path) -> None:
    file = tmp_path / "accents.py"
    file.write_text(
        "import amdjit\n@amdjit.kernel\ndef k(x):\n    x[0] = 1  # é █ 漢\n", encoding="utf-8"
    )
    command = ["amdjit", "inspect", f"{file}:k", "--signature", "f32[:]", "--view", "lines"]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, capture_output=True, env=environment, check=True)
    assert b"x[0] = 1  # ? ? ?" in done.stdout
