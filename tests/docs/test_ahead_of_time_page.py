"""docs/ahead_of_time.md: its kernel builds, its C compiles with that, its table is the layout."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from amdjit.command_line import main
from amdjit.command_line.kernel_files import load_kernel

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "ahead_of_time.md").read_text()
HEADERS = ROOT / "tests" / "ahead_of_time" / "hip_headers"

needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="a C compiler is needed")


def block(language: str, number: int = 0) -> str:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)[number]


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that the page's command writes to."""
    monkeypatch.chdir(tmp_path)
    Path("rows.py").write_text(block("python"))
    command = re.findall(r"```\namdjit (.*?)```", PAGE, re.DOTALL)[0]
    assert main(shlex.split(command.replace("\\\n", " "))) == 0
    return tmp_path / "out"


def test_the_table_is_the_kernarg_segment(built: Path) -> None:
    rows = re.findall(r"^\| (\d+) \| (\d+) \| `(\w+)` \|$", PAGE, re.MULTILINE)
    values = json.loads((built / "scale_rows.json").read_text())["kernarg"]["values"]
    found = [(str(each["offset"]), str(each["bytes"]), each["name"]) for each in values]
    assert found == rows


def test_the_function_makes_the_same_files(built: Path) -> None:
    names = {"scale_rows": load_kernel(Path("rows.py"), "scale_rows")}
    before = {file.name: file.read_bytes() for file in built.iterdir()}
    shutil.rmtree(built)
    exec(block("python", 1), names)
    assert {file.name: file.read_bytes() for file in built.iterdir()} == before


def compiles(file: Path) -> None:
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only"]
    command = ["gcc", *flags, "-isystem", str(HEADERS), str(file)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@needs_gcc
def test_the_launch_compiles(built: Path) -> None:
    file = built / "launch.c"
    file.write_text(block("c"))
    compiles(file)


_CHECKED = """\
import amdjit


@amdjit.kernel
def checked(x):
    assert x[amdjit.grid(1)] >= 0, "negative"
"""


@needs_gcc
def test_the_launch_with_a_record_compiles(tmp_path: Path) -> None:
    (tmp_path / "checks.py").write_text(_CHECKED)
    arguments = ["build", f"{tmp_path}/checks.py:checked", "--signature", "f32[:]"]
    assert main([*arguments, "-o", str(tmp_path)]) == 0
    used = "int main(void) { checked_kernel k; checked_arguments a; return add_up(&k, a, 2); }\n"
    used = used.replace("return", "memset(&k, 0, sizeof k); memset(&a, 0, sizeof a); return")
    (tmp_path / "launch.c").write_text(f'#include "checked.h"\n{block("c", 1)}{used}')
    compiles(tmp_path / "launch.c")
