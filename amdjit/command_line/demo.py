"""`amdjit demo`: the WMMA examples, each compared with NumPy."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from amdjit.command_line.commands import Commands
from amdjit.devices import current_device, use
from amdjit.late import late

if TYPE_CHECKING:
    from amdjit import demo
else:
    # Its kernels read the environment when they are made: `amdjit doctor` says what is wrong there.
    demo = late("amdjit.demo")

__all__ = ["add"]


def add(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser("demo", help="run the WMMA examples, each compared with NumPy")
    parser.add_argument(
        "--device", default=None, help="such as emulator:gfx1201 (default: see `amdjit devices`)"
    )
    parser.set_defaults(run=_demo)


def _demo(options: argparse.Namespace) -> int:
    if options.device is None:
        return 1 if demo.run_demo(current_device()) else 0
    with use(options.device) as device:
        return 1 if demo.run_demo(device) else 0
