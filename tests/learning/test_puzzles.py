"""Each puzzle accepts its solution, names the hole, and refuses what is right but exceeds its
limits; mistakes are named with their place."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import amdjit
from amdjit import learning
from amdjit.diagnostics import LaunchError
from amdjit.learning import checking
from amdjit.learning.checking import judge
from amdjit.learning.pages import puzzle, puzzles
from tests.learning.attempts import (
    MISTAKES,
    OTHER_SOLUTIONS,
    kernel_of,
    verdict_on,
    with_lines,
)

LIMITED = [one.number for one in puzzles().values() if one.limits]
# A word that each picture of a solution has.
DRAWN = {
    "banks": "LDS has 32 banks",
    "cache": "cache lines (128 bytes each)",
    "fragments": "which lane holds what",
    "lanes": "how many were active",
    "registers": "waves a SIMD",
    "time": "as the cycle model estimates",
    "waits": "the waits of the machine code",
}


@pytest.mark.sample(7)
@pytest.mark.parametrize("number", puzzles())
def test_the_solution_is_accepted_and_drawn(number: int, tmp_path: Path) -> None:
    one = puzzle(number)
    verdict = verdict_on(number, one.solution, tmp_path)
    assert verdict.passed, verdict.text
    assert DRAWN[one.picture] in verdict.text
    # The picture is of the learner's own lines, or of what they became.
    assert len(verdict.text.splitlines()) > 4


@pytest.mark.parametrize("number", puzzles())
def test_the_start_is_told_where_its_hole_is(number: int, tmp_path: Path) -> None:
    one = puzzle(number)
    line = 1 + one.start.splitlines().index("    ...")
    verdict = verdict_on(number, one.start, tmp_path)
    assert not verdict.passed
    assert f"{one.file_name}:{line}: `...` is where your code goes." in verdict.text


@pytest.mark.sample(4)
@pytest.mark.parametrize("number", puzzles())
def test_an_empty_hole_gives_no_right_results(number: int, tmp_path: Path) -> None:
    verdict = verdict_on(number, with_lines(puzzle(number), "pass"), tmp_path)
    assert not verdict.passed
    assert " and should be " in verdict.text


@pytest.mark.sample(6)
@pytest.mark.parametrize("number", LIMITED)
def test_what_is_right_and_exceeds_the_limits_is_refused_for_them(
    number: int, tmp_path: Path
) -> None:
    one = puzzle(number)
    verdict = verdict_on(number, one.refused, tmp_path)
    assert not verdict.passed
    assert "The results are right. The limits are not kept:" in verdict.text
    assert "  FAILS  " in verdict.text
    assert verdict_on(number, one.refused, tmp_path, limits="").passed


def test_a_solved_puzzle_shows_its_limits_once_and_the_learners_lines(tmp_path: Path) -> None:
    text = verdict_on(24, puzzle(24).solution, tmp_path).text
    # The check launches the kernel twice, and then one of its own.
    assert text.count("  holds  loops 2 <= 2\n") == 1
    assert "puzzle_24.py:15  out[row, column] = fp8(" in text
    assert "check of puzzle" not in text


def test_what_is_slow_is_said_once_below_the_picture(tmp_path: Path) -> None:
    text = verdict_on(25, puzzle(25).refused, tmp_path).text
    assert re.search(r"FAILS  used_bytes [\d.]+ % >= 90 % \([\d,]+ cache lines are of", text)
    assert text.count("PerformanceWarning: ") == 1
    assert text.index("the cache lines (128 bytes each)") < text.index("PerformanceWarning: ")


def test_other_warnings_are_issued(tmp_path: Path) -> None:
    case = returning("(array([0.0]), array([0.0]))").replace(
        "  return", "  import warnings; warnings.warn('mine')\n  return"
    )
    one = replace(puzzle(1), case=case)
    with pytest.warns(UserWarning, match="mine"):
        assert judge(one, kernel_of(one, one.solution, tmp_path)).passed


def test_every_picture_is_of_some_solution() -> None:
    assert {one.picture for one in puzzles().values()} == set(DRAWN)


@pytest.mark.sample(3)
@pytest.mark.parametrize("number", OTHER_SOLUTIONS)
def test_another_solution_is_accepted(number: int, tmp_path: Path) -> None:
    program = with_lines(puzzle(number), OTHER_SOLUTIONS[number])
    verdict = verdict_on(number, program, tmp_path)
    assert verdict.passed, verdict.text


@pytest.mark.sample(5)
@pytest.mark.parametrize(("number", "part", "instead", "said"), MISTAKES)
def test_a_mistake_is_named(
    number: int, part: str, instead: str, said: str, tmp_path: Path
) -> None:
    solution = puzzle(number).solution
    assert part in solution
    verdict = verdict_on(number, solution.replace(part, instead), tmp_path)
    assert not verdict.passed
    assert said in verdict.text


def test_results_are_told_before_what_the_sanitizer_finds(tmp_path: Path) -> None:
    program = puzzle(7).solution.replace("x[i + 64]", "x[i + 65]")
    text = verdict_on(7, program, tmp_path).text
    assert text.index("out[49] is") < text.index("error[memory/out-of-bounds]")


def returning(result: str) -> str:
    """Return a check that launches nothing."""
    return f"from numpy import array, nan\ndef check(kernel):\n  return {{'y': {result}}}\n"


@pytest.mark.parametrize(
    ("got", "expected", "said"),
    [
        ([1, 2, 3], [1, 9, 3], "y[1] is 2, and should be 9; all others are right."),
        ([1.0, np.nan], [1.0, 2.0], "y[1] is nan, and should be 2.0; all others are right."),
        ([[1, 2], [3, 4]], [[1, 2], [5, 6]], "y[1, 0] is 3, and should be 5; 2 of 4 elements"),
        ([1, 2], [1, 2, 3], "the result has shape (2,), not (3,)"),
    ],
)
def test_the_first_wrong_element_is_named(
    got: list[object], expected: list[object], said: str, tmp_path: Path
) -> None:
    one = replace(puzzle(1), case=returning(f"(array({got}), array({expected}))"))
    verdict = judge(one, kernel_of(one, one.solution, tmp_path))
    assert not verdict.passed
    assert said in verdict.text


def test_a_tolerance_is_a_part_of_the_largest_expected_element(tmp_path: Path) -> None:
    case = returning("(array([0.09, 10]), array([0.0, 10]), 0.01)")
    one = replace(puzzle(1), case=case)
    program = kernel_of(one, one.solution, tmp_path)
    assert judge(one, program).passed
    assert not judge(replace(one, case=case.replace("0.09", "0.11")), program).passed


def test_an_endless_loop_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checking, "_SECONDS", 0.5)
    checking._device.cache_clear()
    lines = "k = 0\nwhile k < 1:\n    k -= x[i] > 100\nout[i] = k"
    try:
        verdict = verdict_on(1, with_lines(puzzle(1), lines), tmp_path)
    finally:
        checking._device.cache_clear()
    assert not verdict.passed
    assert "the time limit has passed" in verdict.text


def test_users_check_kernels_by_number() -> None:
    @amdjit.kernel
    def add_one(x, out):
        i = amdjit.threadIdx.x
        out[i] = x[i] + 1

    verdict = learning.check(1, add_one)
    assert verdict.passed
    assert repr(verdict) == verdict.text
    with pytest.raises(LaunchError, match="there is no puzzle 31: they are numbered 1 to 30"):
        learning.check(31, add_one)
    with pytest.raises(LaunchError, match="takes a puzzle's number and a kernel"):
        learning.check(1, len)  # type: ignore[arg-type]
