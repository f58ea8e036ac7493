"""What docs/learn.md shows of a learner's way is what the command prints."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from amdjit.command_line import main
from amdjit.command_line.kernel_files import load_kernel
from amdjit.learning.pages import puzzle
from amdjit.learning.pictures import PICTURES

PAGE = (Path(__file__).parents[2] / "docs/learn.md").read_text()
BLOCKS = re.findall(r"```(?:python)?\n(.*?)```", PAGE, re.DOTALL)


def block(begins: str) -> str:
    """Return the block of the page that begins so."""
    (found,) = (text for text in BLOCKS if text.startswith(begins))
    return found


def command(begins: str) -> list[str]:
    return shlex.split(block(f"amdjit {begins}"))[1:]


def test_the_way_through_puzzle_9_is_as_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AMDJIT_DEVICE", "emulator:gfx1201")
    assert main(command("learn 9")) == 0
    file = tmp_path / "puzzle_09.py"
    start = file.read_text()
    assert start.partition("\n")[2] == puzzle(9).start == block("import amdjit\n\n\n@amdjit.kernel")

    lines = block("tile = amdjit")
    file.write_text(start.replace("    ...\n", re.sub("^", "    ", lines, flags=re.M).rstrip(" ")))
    capfd.readouterr()
    assert main(command("learn check")) == 1
    output = capfd.readouterr().out
    assert block("out[0, 1] is") in output
    assert block("error[race/lds]") in output

    stored = "    out[row, column]"
    file.write_text(file.read_text().replace(stored, f"    amdjit.syncthreads()\n{stored}"))
    assert main(command("learn check")) == 1
    assert capfd.readouterr().out.startswith(block("Puzzle 9 is not solved"))


def test_the_check_of_a_notebook_says_what_the_page_shows(tmp_path: Path) -> None:
    program = block("import amdjit\nfrom amdjit import learning")
    file = tmp_path / "cell.py"
    file.write_text(program.rpartition("print(")[0])
    kernel = load_kernel(file, "add_one")
    verdict = eval(program.rpartition("print(")[2].strip()[:-1], {**kernel.function.__globals__})
    assert f"{verdict}\n" == block("Puzzle 1 is not solved")


def test_every_picture_is_explained() -> None:
    (table,) = re.findall(r"\| picture \|.*?\n\n", PAGE, re.DOTALL)
    assert set(re.findall(r"^\| (\w+) \| \w", table, re.MULTILINE)) - {"picture"} == set(PICTURES)
