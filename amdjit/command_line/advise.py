"""`amdjit advise`: what would make a kernel faster, tried on the emulator before it is said."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from amdjit.command_line.commands import Commands
from amdjit.command_line.inspected import add_target, find, is_object
from amdjit.command_line.kernel_files import split_name
from amdjit.command_line.program_run import profile_program
from amdjit.diagnostics import LaunchError
from amdjit.inspection.inspection import Inspection

if TYPE_CHECKING:
    from amdjit.advising.launches import Launch

__all__ = ["add"]


def add(commands: Commands) -> None:
    """Add the command."""
    advise = commands.add_parser(
        "advise",
        help="try changes to a kernel, and print those that make it faster",
        description="With --run, FILE.py is run as a program on the emulator, and the launch of "
        "the kernel that takes most cycles is repeated with one change at a time. Without it, and "
        "for code objects, what the code alone shows to cost time is printed.",
        epilog="What follows `--` is the program's: amdjit advise --run FILE.py:KERNEL -- 1024",
    )
    add_target(advise)
    advise.add_argument(
        "--run", dest="runs", action="store_true", help="run the program, and try changes"
    )
    advise.add_argument(
        "--seconds", type=float, default=30.0, help="how long to try changes (default: 30)"
    )
    advise.add_argument("--json", action="store_true", help="print the advice as JSON")
    advise.add_argument("--all", action="store_true", help="also print what did not help, and why")
    advise.set_defaults(run=_advise)


def _advise(options: argparse.Namespace) -> int:
    return _tried(options) if options.runs else _in_code(options)


def _in_code(options: argparse.Namespace) -> int:
    if options.json or options.all:
        raise LaunchError("--json and --all are for changes that are tried: add --run")
    inspection = find(options).inspection
    print(_text(inspection))
    if not is_object(options.kernel):
        print("add --run to try changes to a launch of the program")
    return 0


def _text(inspection: Inspection) -> str:
    head = f"{inspection.kernel} for {inspection.target}"
    causes = [f"costs time: {cause}" for cause in inspection.advise()]
    return "\n".join([head, *(causes or ["the code alone shows nothing that costs much time"])])


def _tried(options: argparse.Namespace) -> int:
    if is_object(options.kernel) or options.signature:
        raise LaunchError("--run is for FILE.py:KERNEL without --signature: it runs the program")
    file, name = split_name(options.kernel)
    launches = _launches(file, name, options)
    advice = max(launches, key=_cycles).advise(options.seconds)
    print(advice.to_json() if options.json else advice)
    if options.all and not options.json:
        for each in advice.rejected:
            print(f"did not help: {each.text}: {each.reason}")
    return 0


def _launches(file: Path, name: str, options: argparse.Namespace) -> list[Launch]:
    ran = profile_program(file, name, options.arguments, options.target, calls=True)
    return list(ran.launches)


def _cycles(launch: Launch) -> int:
    return launch.cycles.kernel if launch.cycles is not None else 0
