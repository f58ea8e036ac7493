"""`amdjit gate`: whether kernels keep to conditions on their figures."""

from __future__ import annotations

import argparse
import linecache
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from amdjit.command_line.commands import Commands, answered
from amdjit.command_line.measuring import TARGETS, Source, add_source
from amdjit.command_line.screen_choice import show
from amdjit.inspection.facts import json_text
from amdjit.testing.conditions import parse_conditions
from amdjit.testing.figures import FIGURES
from amdjit.testing.gates import Outcome, outcomes

__all__ = ["GateRecord", "add", "annotation"]

SCHEMA = "amdjit.gate/1"


@dataclass(frozen=True)
class GateRecord:
    """What `amdjit gate --json` prints. holds: whether all conditions are met. outcomes: one for
    each kernel and condition on it."""

    holds: bool
    outcomes: tuple[Outcome, ...]


def add(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "gate",
        help="check kernels against conditions such as vgprs<=128",
        description="Exit status: 0 if all conditions hold, 1 if one does not, 2 for mistakes and "
        "for figures that TARGET does not have.",
        epilog=_figures(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("kernel", metavar="TARGET", help=TARGETS)
    parser.add_argument(
        "conditions",
        nargs="+",
        metavar="CONDITIONS",
        help='such as "vgprs<=128, spills==0, gemm_*: occupancy>=8"',
    )
    add_source(
        parser,
        run="run FILE.py as a program on the emulator, and check each launch of KERNEL; what "
        "follows -- is the program's",
    )
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument("--json", action="store_true", help="print all outcomes as JSON")
    shown.add_argument(
        "--github",
        action="store_true",
        help="print an annotation for GitHub, too, for each condition that does not hold",
    )
    parser.set_defaults(run=answered(_gate))


def _figures() -> str:
    width = max(map(len, FIGURES))
    rows = (
        f"  {one.name:{width}}  {one.plain_meaning}{f' ({one.unit})' * bool(one.unit)}"
        for one in FIGURES.values()
    )
    return "\n".join(["figures:", *rows])


def _gate(options: argparse.Namespace) -> int:
    conditions = parse_conditions("\n".join(options.conditions))
    source = Source(
        options.kernel,
        signatures=options.signature,
        target=options.target,
        options=options.option,
        runs=options.runs,
        arguments=options.arguments,
    )
    found = outcomes(source.measure(), conditions, options.name)
    holds = all(one.holds for one in found)
    if options.json:
        show(json_text(SCHEMA, GateRecord(holds, found)))
    else:
        show(_text(found))
    if options.github:
        for one in found:
            if not one.holds:
                show(annotation(one))
    return 0 if holds else 1


def _text(found: Sequence[Outcome]) -> str:
    rows: list[str] = []
    for title, group in groupby(found, lambda one: (one.title, one.object)):
        rows.append(f"{title[0]}{f' in {_relative(title[1])}' if title[1] else ''}")
        rows += (row for one in group for row in _rows(one))
    met = sum(one.holds for one in found)
    return "\n".join([*rows, f"{met} of {len(found)} conditions hold"])


def _rows(one: Outcome) -> Iterator[str]:
    yield f"  {'holds' if one.holds else 'FAILS'}  {one}{f' ({one.cause})' if one.cause else ''}"
    if one.file is not None and one.line is not None:
        text = linecache.getline(one.file, one.line).strip()
        yield f"         {_relative(one.file)}:{one.line}  {text}".rstrip()


def _relative(file: str) -> str:
    """Return a path from the current folder on, if the file is below it."""
    path, here = Path(file).absolute(), Path.cwd()
    return path.relative_to(here).as_posix() if path.is_relative_to(here) else file


# Annotations: GitHub's documentation, "Workflow commands for GitHub Actions", "Setting an error
# message"; how texts are escaped is in actions/toolkit, packages/core/src/command.ts.


def annotation(one: Outcome) -> str:
    """Return the line that makes GitHub show an outcome beside the source."""
    properties = {}
    place = ""
    if one.file is not None:
        file = _relative(one.file)
        if Path(file).is_absolute():  # none of the repository's
            place = f" at {file}:{one.line}"
        else:
            properties = {"file": file, "line": str(one.line)}
    properties["title"] = f"amdjit gate: {one.figure}"
    listed = ",".join(f"{name}={_escaped(text, ':,')}" for name, text in properties.items())
    cause = f" ({one.cause})" if one.cause else ""
    return f"::error {listed}::{_escaped(f'{one.title}: not {one}{cause}{place}')}"


def _escaped(text: str, more: str = "") -> str:
    for character in f"%\r\n{more}":
        text = text.replace(character, f"%{ord(character):02X}")
    return text
