"""`amdjit explore`: the page of a kernel or code object, and of a program's launches."""

from __future__ import annotations

import json
import sys
import webbrowser
from pathlib import Path

import pytest

from amdjit.command_line import main
from amdjit.command_line.program_run import profile_program

HERE = Path(__file__).parent
SCALE = [f"{HERE / 'shown_kernels.py'}:scale", "--signature", "f32[:],f32"]
PROGRAM = HERE / "shown_program.py"


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AMDJIT_DEVICE", "emulator:gfx1201")


def page_of(file: Path) -> str:
    """Return a page's text, which is whole."""
    text = file.read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>") or text.startswith("<!DOCTYPE html>")
    assert text.rstrip().endswith("</html>")
    return text


def test_the_page_of_a_kernel_is_named_like_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explore", *SCALE]) == 0
    text = page_of(tmp_path / "scale.html")
    assert "global_load_b32 v1, v0, s[0:1]" in text
    assert capsys.readouterr().out == f"scale.html: {len(text.encode())} bytes\n"
    assert main(["inspect", *SCALE, "--html", "other.html"]) == 0
    assert page_of(tmp_path / "other.html") == text


def test_the_page_of_a_code_object_needs_no_signature(tmp_path: Path) -> None:
    assert main(["inspect", *SCALE, "--emit", "object"]) == 0
    assert main(["explore", "scale.hsaco", "-o", "page.html"]) == 0
    assert "global_load_b32 v1, v0, s[0:1]" in page_of(tmp_path / "page.html")


def test_the_page_is_opened_on_request(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    assert main(["explore", *SCALE]) == 0
    assert not opened
    assert main(["explore", *SCALE, "--open"]) == 0
    assert opened == [(tmp_path / "scale.html").resolve().as_uri()]


def test_run_runs_the_program_with_its_arguments_and_shows_launches(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sys.argv, sys.path[:]
    assert main(["explore", "--run", f"{PROGRAM}:doubled", "--", "3", "--more"]) == 0
    assert (sys.argv, sys.path) == before
    output = capsys.readouterr().out
    assert output.startswith("ran with ['3', '--more']\ndoubled.html: ")
    assert "x[i] = 2 * x[i]" in page_of(tmp_path / "doubled.html")


def test_run_writes_a_trace_beside_the_page(tmp_path: Path) -> None:
    trace = ["--trace", "trace.json"]
    assert main(["explore", "--run", *trace, f"{PROGRAM}:doubled", "--", "3"]) == 0
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert {event["pid"] for event in events} == {1, 2, 3}


def test_only_the_launches_of_the_kernel_are_counted_with_what_is_known_of_it() -> None:
    done = profile_program(PROGRAM, "doubled", ["3"], None)
    assert [launch.kernel for launch in done.launches] == ["doubled"] * 3
    stores = [item for item in done.launches[0].instructions if "store" in item.text]
    assert [(item.executions, item.active_lanes) for item in stores] == [(4, 100)]
    inspection = done.launches[0].inspection
    assert inspection.kernel == "doubled"
    assert inspection.companion.llvm
    chosen = profile_program(PROGRAM, "doubled", [], "gfx1200")
    assert [launch.target for launch in chosen.launches] == ["gfx1200"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--run", f"{PROGRAM}:absent"], "has launched no kernel 'absent'; it has launched: "
         "doubled, other"),
        (["--run", f"{PROGRAM}:other", "--", "1", "fail"], "has ended with status 3"),
        (["--run", "absent.py:k"], "absent.py is not a Python file"),
        (["--run", "k.hsaco"], "a code object is no program"),
        (["--run", *SCALE], "with the types that the program launches it with"),
        ([*SCALE, "-o", "absent/page.html"], "page.html cannot be written: No such file"),
        ([*SCALE, "--trace", "trace.json"], "it needs --run"),
        ([*SCALE, "--port", "8000"], "--port is for --watch"),
        ([SCALE[0]], '--signature "f32[:],f32"'),
    ],
)  # fmt: skip
def test_wrong_input_is_one_clear_error(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explore", *arguments]) == 1
    error = capsys.readouterr().err
    assert words in error
    assert "Traceback" not in error


@pytest.mark.parametrize("command", ["explore", "inspect"])
def test_arguments_without_a_program_are_refused(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main([command, *SCALE, "--", "1"])
    assert "what follows -- is for the program" in capsys.readouterr().err


def test_errors_of_the_program_are_its_own(tmp_path: Path) -> None:
    program = tmp_path / "wrong.py"
    program.write_text("raise ZeroDivisionError('mine')\n")
    with pytest.raises(ZeroDivisionError, match="mine"):
        main(["explore", "--run", f"{program}:k"])
