"""Whether a kernel solves a puzzle: its results, then what the sanitizer finds, then the limits."""

from __future__ import annotations

import linecache
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from inspect import getsourcelines
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from amdjit.api import Kernel
from amdjit.checking.sanitizing import sanitize
from amdjit.devices import use
from amdjit.diagnostics import AmdjitError, LaunchError
from amdjit.diagnostics.notebooks import shown_file
from amdjit.diagnostics.performance import PerformanceWarning
from amdjit.diagnostics.sanitizer import SanitizerReport
from amdjit.emulator import EmulatorDevice
from amdjit.explorer.terminal.screen import PLAIN, Screen
from amdjit.learning.pages import HOLE, Puzzle, puzzle
from amdjit.learning.pictures import draw
from amdjit.profiling.launch_profile import LaunchProfile
from amdjit.profiling.profile import profile
from amdjit.target import find_target
from amdjit.testing.gates import Outcome, gate

__all__ = ["Verdict", "check", "judge"]

# The course is about one processor: its figures are exact there, and need no GPU.
_TARGET = "gfx1201"
# Launches of solutions take less than one on the slowest machines; an endless loop takes this long.
_SECONDS = 20.0
# Of those that the sanitizer makes of one launch.
_MOST_REPORTS = 2

# What `check(kernel)` of a page returns.
Results = Mapping[str, tuple[Any, ...]]


@dataclass(frozen=True, slots=True, repr=False)
class Verdict:
    """What was found of a kernel. number: the puzzle's. passed: whether the kernel solves it. text:
    why not, a picture of what it did if its results are right, and what is slow by accident.
    Notebooks show the text."""

    number: int
    passed: bool
    text: str

    def __repr__(self) -> str:
        return self.text


def check(number: int, kernel: Kernel) -> Verdict:
    """Return whether a kernel solves a puzzle, and why not. It runs on the emulator, whichever
    device is current. LaunchError if there is no such puzzle, or for what is no kernel."""
    if not isinstance(kernel, Kernel):
        raise LaunchError(f"check takes a puzzle's number and a kernel, not {kernel!r}")
    return judge(puzzle(number), kernel)


def judge(one: Puzzle, kernel: Kernel, screen: Screen = PLAIN) -> Verdict:
    """Return the verdict on a kernel, with a picture for a screen."""
    with _held_back() as warned:
        try:
            found = _found(one, kernel)
        except AmdjitError as error:
            found = _Found([str(error)])
    picture = [draw(one.picture, found.launches, screen)] if found.launches else []
    picture += [screen.paint(text, "warning") for text in dict.fromkeys(warned)]
    if found.problems:
        head = screen.paint(f"Puzzle {one.number} is not solved yet.", "warning")
        return Verdict(one.number, False, "\n\n".join([head, *found.problems, *picture]))
    head = screen.heading(f"Puzzle {one.number}, {one.title}: solved.")
    kept = ["\n".join(_rows(found.outcomes))] if found.outcomes else []
    return Verdict(one.number, True, "\n\n".join([head, *kept, *picture]))


@contextmanager
def _held_back() -> Iterator[list[str]]:
    """Collect what is said of a kernel's performance, which each compilation says again; other
    warnings are issued at the end."""
    texts: list[str] = []
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always", PerformanceWarning)
        yield texts
    for each in warned:
        if issubclass(each.category, PerformanceWarning):
            texts.append(f"{each.category.__name__}: {each.message}")
        else:
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)


@dataclass(frozen=True, slots=True)
class _Found:
    """What was found of a kernel. problems: what is wrong, in the order in which to mend it.
    launches: the kernel's own, if at least the results are right and the sanitizer finds nothing.
    outcomes: of the limits, then."""

    problems: list[str]
    launches: Sequence[LaunchProfile] = ()
    outcomes: Sequence[Outcome] = ()


def _found(one: Puzzle, kernel: Kernel) -> _Found:
    hole = _hole(kernel)
    if hole:
        return _Found([hole])
    case = _case(one)
    with use(_device()):
        with sanitize(raises=False) as found:
            results = case(kernel)
        if any(report.check == "memory" and report.is_error for report in found.reports):
            # Without checks it would fault, and return nothing.
            return _Found([*_wrong_results(results), *_shown(found.reports)])
        with profile() as counted:
            results = case(kernel)
    problems = [*_wrong_results(results), *_shown(found.reports)]
    if problems:
        return _Found(problems)
    outcomes = gate(counted, one.limits) if one.limits else ()
    own = [launch for launch in counted.launches if launch.kernel == one.kernel_name]
    return _Found(list(_exceeded(outcomes)), own, outcomes)


@cache
def _device() -> EmulatorDevice:
    target = find_target(_TARGET)
    assert target is not None, "the course is about a processor that there is"
    return EmulatorDevice(target, time_limit=_SECONDS)


def _hole(kernel: Kernel) -> str:
    """Return a sentence if the hole is still there, "" otherwise."""
    lines, first = getsourcelines(kernel.function)
    for number, line in enumerate(lines, first):
        if line.strip() == HOLE:
            place = _place(kernel.function.__code__.co_filename, number)
            return f"{place}: `{HOLE}` is where your code goes."
    return ""


def _case(one: Puzzle) -> Callable[[Kernel], Results]:
    names: dict[str, Any] = {}
    # Tracebacks and kernels read their source there.
    name = f"<check of puzzle {one.number}>"
    linecache.cache[name] = (len(one.case), None, one.case.splitlines(keepends=True), name)
    exec(compile(one.case, name, "exec"), names)
    found: Callable[[Kernel], Results] = names["check"]
    return found


# Results.


def _wrong_results(results: Results) -> Iterator[str]:
    for name, (got, expected, *tolerance) in results.items():
        wrong = _wrong(np.asarray(got), np.asarray(expected), *tolerance)
        if wrong.any():
            yield _first_wrong(name, np.asarray(got), np.asarray(expected), wrong)


def _wrong(got: NDArray[Any], expected: NDArray[Any], tolerance: float = 0) -> NDArray[np.bool_]:
    """Return which elements are wrong. tolerance: a part of the largest expected one."""
    if got.shape != expected.shape:
        raise LaunchError(f"the result has shape {got.shape}, not {expected.shape}")
    # f64 holds the values of all types in the course.
    a, b = got.astype(np.float64), expected.astype(np.float64)
    most = tolerance * np.abs(b).max(initial=0)
    return ~np.isclose(a, b, rtol=0, atol=most)


def _first_wrong(
    name: str, got: NDArray[Any], expected: NDArray[Any], wrong: NDArray[np.bool_]
) -> str:
    place = tuple(int(index[0]) for index in np.nonzero(wrong))
    count = int(wrong.sum())
    where = f"{name}[{', '.join(map(str, place))}]"
    many = f"{count} of {wrong.size} elements are wrong" if count > 1 else "all others are right"
    return f"{where} is {got[place]}, and should be {expected[place]}; {many}."


# What the sanitizer reports, and limits.


def _shown(reports: Sequence[SanitizerReport]) -> list[str]:
    shown = [report.render() for report in reports[:_MOST_REPORTS]]
    more = len(reports) - _MOST_REPORTS
    return [*shown, f"{more} more report{'s' * (more > 1)}"] if more > 0 else shown


def _exceeded(outcomes: Sequence[Outcome]) -> Iterator[str]:
    if not all(one.holds for one in outcomes):
        yield "\n".join(["The results are right. The limits are not kept:", *_rows(outcomes)])


def _rows(outcomes: Sequence[Outcome]) -> list[str]:
    """Return a row for each outcome, and none twice: a check may launch a kernel several times."""
    return list(dict.fromkeys(map(_row, outcomes)))


def _row(one: Outcome) -> str:
    cause = f" ({one.cause})" if one.cause and not one.holds else ""
    row = f"  {'holds' if one.holds else 'FAILS'}  {one}{cause}"
    if one.file is None or one.line is None:
        return row
    source = linecache.getline(one.file, one.line).strip()
    return f"{row}\n         {_place(one.file, one.line)}  {source}".rstrip()


def _place(file: str, line: int) -> str:
    name = shown_file(file)
    return f"{Path(name).name if Path(file).exists() else name}:{line}"
