"""`amdjit learn` as a process: the list, files of learners, checks, hints, progress."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from time import monotonic, sleep

import pytest

from amdjit.command_line import main
from amdjit.learning.pages import puzzle

WAITING = "waiting for puzzle_01.py to be saved"
COMMAND = [sys.executable, "-m", "amdjit", "learn"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
    return tmp_path


def checked(capture: pytest.CaptureFixture[str], file: str) -> tuple[int, str, str]:
    """Return the exit status of a check, and what it and its process have printed."""
    capture.readouterr()
    code = main(["learn", "check", file])
    return code, *capture.readouterr()


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["learn", *arguments]) == 0
    return capsys.readouterr().out


def fill(file: Path, lines: str) -> None:
    file.write_text(file.read_text().replace("    ...\n", lines))


def test_a_learner_goes_from_the_list_to_the_next_puzzle(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    first = printed(capfd)
    assert "0 of 30 solved\nGo on with: amdjit learn 1\n" in first
    assert printed(capfd, "--list") == first

    text = printed(capfd, "1")
    assert "# 1. Add one" in text
    assert "puzzle_01.py: replace the `...` by your code" in text
    file = folder / "puzzle_01.py"
    assert "\n   1  Add one                              begun\n" in printed(capfd)

    code, output, _ = checked(capfd, "puzzle_01.py")
    assert code == 1
    assert "puzzle_01.py:8: `...` is where your code goes." in output
    assert "amdjit learn 1 --hint" in output

    fill(file, "    out[i] = x[i] + 1\n")
    code, output, errors = checked(capfd, "puzzle_01.py")
    assert code == 0, output + errors
    assert "Puzzle 1, Add one: solved." in output
    assert "████" in output
    assert "Next, More work-items than elements: amdjit learn 2" in output
    text = printed(capfd)
    assert "\n   1  Add one                              solved\n" in text
    assert "1 of 30 solved\nGo on with: amdjit learn 2\n" in text


def test_a_learners_file_is_never_overwritten(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    printed(capsys, "2")
    file = folder / "puzzle_02.py"
    fill(file, "    mine\n")
    before = file.read_text()
    assert "is here already, and stays as it is" in printed(capsys, "2")
    assert file.read_text() == before


def test_hints_and_the_solution(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(capsys, "9", "--hint").startswith("Hint 1 of 2: Store `x[row, column]`")
    assert printed(capsys, "9", "--hint", "2").startswith("Hint 2 of 2: The tile is")
    text = printed(capsys, "9", "--solution")
    assert text == f"# Puzzle 9: Transpose with padding\n{puzzle(9).solution}"
    assert not list(folder.iterdir())
    assert main(["learn", "9", "--hint", "3"]) == 2
    assert "puzzle 9 has the hints 1 to 2" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["31"], "there is no puzzle 31: they are numbered 1 to 30"),
        (["tree"], "write a puzzle's number, or check and a file, not 'tree'"),
        (["check", "missing.py"], "there is no file missing.py"),
        (["check", "."], ". cannot be read: Is a directory"),
        (["check"], "check needs a file: amdjit learn check puzzle_01.py"),
        (["1", "2"], "write a puzzle's number, or check and a file, not '1 2'"),
        (["3", "--watch"], "--watch is for a check"),
    ],
)
def test_mistakes_are_named(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["learn", *arguments]) == 2
    assert said in capsys.readouterr().err


def test_a_file_says_which_puzzle_it_solves(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "mine.py").write_text(puzzle(1).solution)
    assert main(["learn", "check", "mine.py"]) == 2
    assert "begin it with a line `# Puzzle NUMBER`" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("import amdjit", "wrong.py has no kernel 'add_one'"),
        ("1 / 0", "ZeroDivisionError"),
        ("import os; os.abort()", "the check of wrong.py has ended by SIGABRT"),
    ],
)
def test_a_file_that_is_no_solution_is_a_mistake(
    text: str, said: str, folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (folder / "wrong.py").write_text(f"# Puzzle 1\n{text}\n")
    code, _, errors = checked(capfd, "wrong.py")
    assert code == 2
    assert said in errors
    assert not (folder / "amdjit_learn.json").exists()


def test_damaged_progress_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "amdjit_learn.json").write_text("{")
    assert main(["learn"]) == 2
    assert "amdjit_learn.json cannot be read" in capsys.readouterr().err


@pytest.mark.parametrize("end", ["import sys\nsys.exit(0)", "import os\nos._exit(0)"])
def test_a_file_that_ends_its_check_is_not_solved(
    folder: Path, capfd: pytest.CaptureFixture[str], end: str
) -> None:
    main(["learn", "1"])
    file = folder / "puzzle_01.py"
    fill(file, "    out[i] = x[i] + 1\n")
    file.write_text(file.read_text() + f"\n{end}\n", encoding="utf-8")
    assert main(["learn", "check", "puzzle_01.py"]) == 2
    assert "there is no verdict" in capfd.readouterr().err
    assert not (folder / "amdjit_learn.json").exists()


def test_the_first_line_says_which_puzzle_it_is_and_may_begin_with_a_mark(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    main(["learn", "1"])
    file = folder / "puzzle_01.py"
    fill(file, "    out[i] = x[i] + 1\n")
    file.write_text(file.read_text(), encoding="utf-8-sig")
    assert main(["learn", "check", "puzzle_01.py"]) == 0
    file.write_text('"""\n# Puzzle 2\n"""\n', encoding="utf-8")
    assert main(["learn", "check", "puzzle_01.py"]) == 2
    assert "does not say which puzzle" in capfd.readouterr().err


def test_a_watched_file_is_checked_on_each_save(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    printed(capsys, "1")
    output = folder / "output.txt"
    with (
        output.open("w") as stream,
        subprocess.Popen(
            [*COMMAND, "check", "puzzle_01.py", "--watch"], stdout=stream, text=True
        ) as process,
    ):
        try:
            (failed,) = parts(output, 1)
            assert "is where your code goes" in failed
            fill(folder / "puzzle_01.py", "    out[i] = x[i] + 1\n")
            assert "Puzzle 1, Add one: solved." in parts(output, 2)[1]
            process.send_signal(signal.SIGINT)
            assert process.wait(60) == 0
        finally:
            process.kill()


def parts(output: Path, count: int) -> list[str]:
    """Return what the first checks have printed, once they have ended."""
    end = monotonic() + 60
    while output.read_text().count(WAITING) < count:
        assert monotonic() < end
        sleep(0.1)
    return output.read_text().split(WAITING)[:count]


def test_notebooks_are_written(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, "--notebooks", "course")
    files = sorted(file.as_posix() for file in Path("course").iterdir())
    assert text.splitlines() == files
    assert len(files) == 7
