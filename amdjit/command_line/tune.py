"""`amdjit tune`: what files of tuning results say."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path

from amdjit.command_line.commands import Commands
from amdjit.tuning.configurations import text_of
from amdjit.tuning.records import KeyRecords, merge, read_file
from amdjit.tuning.results import candidate_table, losers_text, reasons_text
from amdjit.tuning.timing import seconds_text

__all__ = ["add"]

_SHOWN = 10


def add(commands: Commands) -> None:
    """Add the command."""
    tune = commands.add_parser("tune", help="show or merge files of tuning results")
    actions = tune.add_subparsers(required=True, metavar="action")
    show = actions.add_parser(
        "show",
        help="the best configuration of each key, and why others lost",
        description="The kernel is not needed.",
    )
    show.add_argument("file", type=Path, help="a file of results: cache= of amdjit.autotune")
    show.add_argument("--kernel", help="only the keys of this kernel")
    show.add_argument(
        "--all", action="store_true", help=f"all candidates of each key, not {_SHOWN}"
    )
    show.add_argument("--json", action="store_true", help="print one JSON document")
    show.set_defaults(run=_show)
    joined = actions.add_parser("merge", help="write the results of several files into one")
    joined.add_argument("files", nargs="+", type=Path, help="files of results")
    joined.add_argument("-o", "--output", required=True, type=Path, help="the file to write")
    joined.set_defaults(run=_merge)


def _show(options: argparse.Namespace) -> int:
    found = [
        known
        for known in read_file(options.file).values()
        if options.kernel in (None, known.key.kernel)
    ]
    if options.json:
        print(json.dumps({"keys": [_as_json(known) for known in found]}, indent=1))
        return 0
    if not found:
        print(f"{options.file} has no results" + (f" of {options.kernel}" * bool(options.kernel)))
        return 1
    print("\n\n".join(_text(known, None if options.all else _SHOWN) for known in found))
    return 0


def _merge(options: argparse.Namespace) -> int:
    merge(options.files, options.output)
    return 0


def _as_json(known: KeyRecords) -> dict[str, object]:
    return {
        **known.heading,
        "best": None if known.best is None else asdict(known.best),
        "candidates": list(known.candidates.values()),
    }


def _text(known: KeyRecords, most: int | None) -> str:
    key, best = known.key, known.best
    lines = [f"{key.kernel} on {key.device}" + f", {key.values}" * bool(key.values)]
    lines.append(f"  types: {key.types}")
    if key.options:
        lines.append(f"  options: {key.options}")
    lines.append(f"  source: {key.source}")
    candidates = known.all()
    space = known.heading.get("space", "?")
    lines.append(f"  {len(candidates)} of {space} configurations: {reasons_text(candidates)}")
    lines.append(f"  best: {_best_text(known)}")
    if best is not None and not best.complete:
        lines.append("  the search ended before all of them were tried")
    table = candidate_table(candidates, most)
    losers = losers_text(candidates, most)
    lines += [f"  {line}" for line in [*table.splitlines(), *losers.splitlines()]]
    return "\n".join(lines)


def _best_text(known: KeyRecords) -> str:
    best = known.best
    if best is None:
        return "not chosen yet: the search has not ended"
    record = known.candidates.get(best.text)
    text = best.text if record is None else text_of(record["configuration"])
    time = "" if best.seconds is None else f", {seconds_text(best.seconds)}"
    return f"{text}{time}, by {best.by}"
