"""`amdjit learn`: the course, with the learner's files and progress in the current folder.

A check is a process of its own: whatever a kernel's file does, the command says how it ended.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from amdjit.child_process import ending, run_in_place, signal_of
from amdjit.command_line.commands import Commands, answered
from amdjit.command_line.kernel_files import load_kernel
from amdjit.command_line.screen_choice import add_colour, choose_screen, show
from amdjit.diagnostics import LaunchError
from amdjit.late import late
from amdjit.learning.pages import Puzzle, chapters, puzzle, puzzles

if TYPE_CHECKING:
    from amdjit.command_line import watching
    from amdjit.learning import checking, notebooks
else:
    checking = late("amdjit.learning.checking")
    notebooks = late("amdjit.learning.notebooks")
    watching = late("amdjit.command_line.watching")

__all__ = ["add"]

_CHECK = "check"
# Of the current folder: the numbers of the puzzles that were solved there.
_PROGRESS = Path("amdjit_learn.json")
_NUMBER = re.compile(r"\s*# Puzzle (\d+)\b")
_SOLVED, _NOT_SOLVED, _MISTAKE = 0, 1, 2


def add(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "learn",
        help="learn to write kernels: thirty puzzles that need no GPU",
        description="Without a puzzle, list all of them. With a number, print the puzzle and write "
        "its file, which is yours to complete, to the current folder. Exit status of a check: 0 if "
        "the puzzle is solved, 1 if not, 2 for mistakes.",
        epilog="amdjit learn 3; amdjit learn check puzzle_03.py; amdjit learn 3 --hint",
    )
    parser.add_argument("puzzle", nargs="?", metavar="PUZZLE", help=f"its number; or: {_CHECK}")
    parser.add_argument("file", nargs="?", metavar="FILE", help=f"with {_CHECK}: the file to check")
    parser.add_argument("--list", action="store_true", help="list the puzzles and your progress")
    parser.add_argument(
        "--hint", nargs="?", type=int, const=1, metavar="K", help="print the Kth hint (default: 1)"
    )
    parser.add_argument("--solution", action="store_true", help="print a solution")
    parser.add_argument(
        "--watch", action="store_true", help="check the file again whenever it is saved"
    )
    parser.add_argument(
        "--notebooks", type=Path, metavar="FOLDER", help="write a notebook for each chapter"
    )
    # The process that checks, rather than the one that starts it.
    parser.add_argument("--here", type=Path, metavar="VERDICT", help=argparse.SUPPRESS)
    add_colour(parser)
    parser.set_defaults(run=answered(_learn))


def _learn(options: argparse.Namespace) -> int:
    words = [word for word in (options.puzzle, options.file) if word is not None]
    if options.notebooks is not None:
        return _write_notebooks(options.notebooks)
    if len(words) == 2 and words[0] == _CHECK:
        return _check(Path(words[1]), options)
    if options.watch:
        raise LaunchError(f"--watch is for a check: amdjit learn {_CHECK} FILE --watch")
    if words == [_CHECK]:
        raise LaunchError(f"{_CHECK} needs a file: amdjit learn {_CHECK} {puzzle(1).file_name}")
    if not words and (options.hint is not None or options.solution):
        raise LaunchError("--hint and --solution are for one puzzle: amdjit learn 3 --hint")
    if options.list or not words:
        show("\n".join(_listed()))
        return 0
    if len(words) > 1 or not words[0].isdecimal():
        raise LaunchError(
            f"write a puzzle's number, or {_CHECK} and a file, not {' '.join(words)!r}"
        )
    one = puzzle(int(words[0]))
    if options.hint is not None:
        return _show_hint(one, options.hint)
    if options.solution:
        show(_program(one, one.solution).rstrip())
        return 0
    return _begin(one)


def _write_notebooks(folder: Path) -> int:
    for file in notebooks.write(folder):
        print(file)
    return 0


# The list.


def _listed() -> Iterator[str]:
    solved = _solved()
    for chapter in chapters():
        yield f"{chapter.title}"
        for one in chapter.puzzles:
            begun = "begun" if Path(one.file_name).exists() else ""
            yield f"  {one.number:2}  {one.title:36} {_word(one, solved) or begun}".rstrip()
        yield ""
    yield f"{len(solved)} of {len(puzzles())} solved"
    following = next((number for number in puzzles() if number not in solved), None)
    if following is not None:
        yield f"Go on with: amdjit learn {following}"


def _word(one: Puzzle, solved: Sequence[int]) -> str:
    return "solved" if one.number in solved else ""


def _solved() -> list[int]:
    if not _PROGRESS.exists():
        return []
    try:
        numbers = json.loads(_PROGRESS.read_text(encoding="utf-8"))["solved"]
        return sorted({int(number) for number in numbers} & puzzles().keys())
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise LaunchError(f"{_PROGRESS} cannot be read ({error}): delete it") from None


def _note_solved(number: int) -> None:
    text = json.dumps({"solved": sorted({*_solved(), number})})
    try:
        _PROGRESS.write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise LaunchError(f"{_PROGRESS} cannot be written: {error.strerror}") from None


# A puzzle.


def _begin(one: Puzzle) -> int:
    file = Path(one.file_name)
    show(f"# {one.number}. {one.title}\n\n{one.statement}\n")
    check = f"amdjit learn {_CHECK} {file}"
    if file.exists():
        show(f"{file} is here already, and stays as it is. Check it: {check}")
        return 0
    try:
        # It may have come into being since.
        with file.open("x", encoding="utf-8") as output:
            output.write(_program(one, one.start))
    except OSError as error:
        raise LaunchError(f"{file} cannot be written: {error.strerror}") from None
    show(f"{file}: replace the `...` by your code, then: {check}")
    return 0


def _program(one: Puzzle, code: str) -> str:
    """Return a file's text: its first line says which puzzle it solves."""
    return f"# Puzzle {one.number}: {one.title}\n{code}"


def _show_hint(one: Puzzle, number: int) -> int:
    if not 1 <= number <= len(one.hints):
        raise LaunchError(f"puzzle {one.number} has the hints 1 to {len(one.hints)}")
    show(f"Hint {number} of {len(one.hints)}: {one.hints[number - 1]}")
    return 0


# A check.


def _check(file: Path, options: argparse.Namespace) -> int:
    if options.here is not None:
        return _check_here(file, options.color, options.here)
    if not options.watch:
        return _check_in_child(file, options.color)
    try:
        for _ in watching.changes(file):
            try:
                _check_in_child(file, options.color)
            except LaunchError as error:
                print(error, file=sys.stderr)
            print(f"\nwaiting for {file} to be saved; Ctrl-C ends", flush=True)
    except KeyboardInterrupt:
        return 0
    raise AssertionError("files never end to change")


def _check_in_child(file: Path, colour: str) -> int:
    one = _puzzle_of(file)
    command = [sys.executable, "-m", "amdjit", "learn", _CHECK, str(file), "--color", colour]
    with tempfile.TemporaryDirectory() as folder:
        verdict = Path(folder, "verdict")
        code = run_in_place([*command, "--here", str(verdict)], dict(os.environ))
        is_judged = verdict.exists()
    if code == _SOLVED and is_judged:
        _note_solved(one.number)
    elif code == _SOLVED:
        raise LaunchError(f"{file} ends the process that checks it, so that there is no verdict")
    elif signal_of(code) == "SIGINT":
        raise KeyboardInterrupt
    elif code not in (_NOT_SOLVED, _MISTAKE):
        raise LaunchError(f"the check of {file} has {ending(code)}")
    return code


def _check_here(file: Path, colour: str, solved: Path) -> int:
    """Check a file, and make `solved` if it solves its puzzle."""
    one = _puzzle_of(file)
    kernel = load_kernel(file, one.kernel_name)
    verdict = checking.judge(one, kernel, choose_screen(colour))
    show(verdict.text)
    if not verdict.passed:
        show(f"\nIf you are stuck: amdjit learn {one.number} --hint")
        return _NOT_SOLVED
    solved.touch()
    following = puzzles().get(one.number + 1)
    last = "That was the last puzzle."
    show(
        f"\nNext, {following.title}: amdjit learn {following.number}" if following else f"\n{last}"
    )
    return _SOLVED


def _puzzle_of(file: Path) -> Puzzle:
    try:
        found = _NUMBER.match(file.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise LaunchError(f"there is no file {file}") from None
    except OSError as error:
        raise LaunchError(f"{file} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise LaunchError(f"{file} cannot be read: {error}") from None
    if found is None:
        raise LaunchError(
            f"{file} does not say which puzzle it solves: begin it with a line `# Puzzle NUMBER`"
        )
    return puzzle(int(found[1]))
