"""`amdjit replay`: a recorded launch on the emulator, under checks or counted."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from amdjit.command_line.commands import Commands
from amdjit.command_line.kernel_files import write_file
from amdjit.diagnostics import LaunchError
from amdjit.late import late
from amdjit.options import SANITIZER_CHECKS, checked_sanitize

if TYPE_CHECKING:
    from amdjit import replaying
else:
    replaying = late("amdjit.replaying")

__all__ = ["add"]

_REPORTED = 3


def add(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "replay",
        help="repeat a recorded launch on the emulator, under all checks",
        description="The file is one that amdjit.record or AMDJIT_RECORD=folder wrote. The exit "
        f"status is {_REPORTED} if the checks report anything, or the launch fails.",
    )
    parser.add_argument("file", type=Path)
    known = ",".join(SANITIZER_CHECKS)
    parser.add_argument(
        "--check", default=known, help=f"checks to make (default: {known}); none if it is empty"
    )
    parser.add_argument(
        "--profile", type=Path, help="count instead, and write this page for a browser"
    )
    parser.set_defaults(run=_replay)


def _replay(options: argparse.Namespace) -> int:
    checks = checked_sanitize(tuple(filter(None, options.check.split(","))), "--check")
    try:
        found = replaying.replay(options.file, check=checks, count=options.profile is not None)
    except OSError as error:
        raise LaunchError(f"{options.file} cannot be read: {error.strerror}") from error
    print(found)
    if found.profile is not None and found.fault is None:
        write_file(options.profile, found.profile.to_html)
    return _REPORTED if found.reports or found.fault is not None else 0
