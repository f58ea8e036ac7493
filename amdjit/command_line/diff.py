"""`amdjit diff`: what differs between two versions of kernels, of launches, of tuning results."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

from amdjit.command_line.commands import Commands, answered
from amdjit.command_line.measuring import TARGETS, Source, add_source
from amdjit.command_line.screen_choice import show
from amdjit.diagnostics import AmdjitError
from amdjit.inspection.facts import json_text
from amdjit.testing.conditions import figure_of
from amdjit.testing.differences import (
    Change,
    Difference,
    Differences,
    PartDifference,
    differences,
)
from amdjit.testing.figures import FIGURES
from amdjit.testing.tuning_differences import tuning_differences

__all__ = ["add"]

SCHEMA = "amdjit.difference/1"
_SHOWN = 10


def add(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "diff",
        help="show what differs between two versions of kernels, what got worse first",
        description="Exit status: 0; with --exit-code 1 if a figure got worse; 2 for mistakes.",
    )
    parser.add_argument("old", metavar="OLD", help=f"{TARGETS}; a file of tuning results")
    parser.add_argument(
        "new", metavar="NEW", help="what it is compared with; OLD again, if --new-... say how"
    )
    add_source(
        parser,
        run="run both files as programs on the emulator, and compare their launches of KERNEL; "
        "what follows -- is the programs'",
    )
    for option, meaning in (
        ("signature", "types"),
        ("target", "processor"),
        ("option", "further compile option"),
    ):
        parser.add_argument(
            f"--new-{option}",
            action="append",
            default=[],
            metavar="NAME=VALUE" if option == "option" else option.upper(),
            help=f"the {meaning} of NEW, if it is another one",
        )
    parser.add_argument(
        "--figures", default="", help="only these, such as cycles,vgprs; `amdjit gate -h` has all"
    )
    parser.add_argument("--all", action="store_true", help=f"all lines, not {_SHOWN} a kernel")
    parser.add_argument("--json", action="store_true", help="print all differences as JSON")
    parser.add_argument(
        "--exit-code", action="store_true", help="exit with status 1 if a figure got worse"
    )
    parser.set_defaults(run=answered(_diff))


def _diff(options: argparse.Namespace) -> int:
    found = _found(options)
    if options.json:
        show(json_text(SCHEMA, found))
    else:
        show("\n".join(_text(found, None if options.all else _SHOWN)))
    worse = any(one.is_worse for one in found.changed)
    return 1 if worse and options.exit_code else 0


def _found(options: argparse.Namespace) -> Differences:
    files, names = (Path(options.old), Path(options.new)), (options.old, options.new)
    are_results = [_is_of_tuning(file) for file in files]
    if all(are_results):
        return tuning_differences(*files, names)
    if any(are_results):
        raise AmdjitError("one is a file of tuning results, the other is not")
    old, new = (
        [one for one in source.measure() if fnmatchcase(one.kernel, options.name)]
        for source in _sources(options)
    )
    if not old and not new:
        raise AmdjitError(f"there is no kernel {options.name}")
    figures = [figure_of(name.strip()) for name in options.figures.split(",") if name.strip()]
    return differences(old, new, names, figures or tuple(FIGURES.values()))


_OF_TUNING = re.compile(rb'\s*\{"kind": "file", "schema": "amdjit\.tuning/')


def _is_of_tuning(file: Path) -> bool:
    if not file.is_file():
        return False
    with file.open("rb") as opened:
        return _OF_TUNING.match(opened.read(200)) is not None


def _sources(options: argparse.Namespace) -> tuple[Source, Source]:
    old = Source(
        options.old,
        signatures=options.signature,
        target=options.target,
        options=options.option,
        runs=options.runs,
        arguments=options.arguments,
    )
    new = Source(
        options.new,
        signatures=options.new_signature or options.signature,
        target=options.new_target[-1] if options.new_target else options.target,
        options=[*options.option, *options.new_option],
        runs=options.runs,
        arguments=options.arguments,
    )
    return old, new


# The text.


def _text(found: Differences, most: int | None) -> Iterator[str]:
    if found.old != found.new:
        yield f"{found.old} -> {found.new}"
    for one in found.changed:
        yield from _kernel(one, most)
    yield from (f"added    {title}" for title in found.added)
    yield from (f"removed  {title}" for title in found.removed)
    same = f"{found.same} without a difference"
    yield f"{_counted(len(found.changed), 'kernel')} changed, {same}"


def _counted(number: int, thing: str) -> str:
    return f"{number} {thing}{'s' * (number != 1)}"


def _kernel(one: Difference, most: int | None) -> Iterator[str]:
    yield one.kernel + (f"  ({one.note})" if one.note else "")
    width = max((len(change.name) for change in one.figures), default=0)
    for change in one.figures:
        yield f"  {change.name:{width}}  {_change(change)}{'  worse' * change.is_worse}"
    for part in one.parts[:most]:
        yield _part(part)
    left = len(one.parts[most:]) if most is not None else 0
    if left:
        yield f"  and {left} more (--all)"


def _part(part: PartDifference) -> str:
    figures = ", ".join(f"{one.name} {_change(one)}" for one in part.figures)
    return "  " + "  ".join(text for text in (part.name, figures, part.text) if text)


def _change(one: Change) -> str:
    before, after = (f"{number:,.6g}" if number % 1 else f"{number:,.0f}" for number in _both(one))
    return f"{before} -> {after}"


def _both(one: Change) -> tuple[float, float]:
    return one.before, one.after
