"""`amdjit probe`: what a GPU computes and how long it takes, against the emulator."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from amdjit.command_line.commands import Commands
from amdjit.late import late

if TYPE_CHECKING:
    from amdjit.probe import session
else:
    session = late("amdjit.probe.session")

__all__ = ["add"]


def add(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "probe",
        help="compare a GPU with the emulator, bit by bit, and measure it",
        description="Run the corpus on a GPU, in about ten minutes, and write what it computed and "
        "how long it took into one file. The same command goes on with a run that was stopped.",
    )
    parser.add_argument("--device", default="", help="such as hip:0 (default: the first GPU)")
    parser.add_argument("-o", "--output", type=Path, help="the file (default: probe-gfx*.probe)")
    parser.add_argument("--quick", action="store_true", help="a minute at most")
    parser.add_argument(
        "--only",
        nargs="+",
        default=(),
        metavar="NAME",
        help="batches whose names have this in them, such as matrix or instructions/VOP3",
    )
    parser.add_argument("--list", action="store_true", help="list the batches and run nothing")
    parser.add_argument("--jobs", type=int, default=0, help="emulators at a time")
    parser.add_argument(
        "--patience", type=float, default=1.0, help="factor of all time-outs (default: 1)"
    )
    reading = parser.add_mutually_exclusive_group()
    reading.add_argument(
        "--compare", type=Path, metavar="FILE", help="say what a file settles; needs no GPU"
    )
    reading.add_argument(
        "--fit", type=Path, metavar="FILE", help="write parameters of the cycle model from a file"
    )
    parser.set_defaults(run=_probe)


def _probe(options: argparse.Namespace) -> int:
    if options.compare is not None:
        return int(session.compare(options.compare, options.output, options.jobs, _say))
    if options.fit is not None:
        return int(session.fit(options.fit, options.output))
    request = session.Request(
        device=options.device,
        is_quick=options.quick,
        only=tuple(options.only),
        minutes=1.0 if options.quick else None,
        patience=options.patience,
        jobs=options.jobs,
    )
    if options.list:
        return session.list_batches(request, say=_say)
    return session.probe(request, options.output, say=_say)


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
