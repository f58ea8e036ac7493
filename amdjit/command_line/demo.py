"""`amdjit demo`: the WMMA examples, each compared with NumPy."""

from __future__ import annotations

import argparse

from amdjit.command_line.commands import Commands
from amdjit.demo import run_demo
from amdjit.devices import current_device, use

__all__ = ["add"]


def add(commands: Commands) -> None:
    """Add the command."""
    demo = commands.add_parser("demo", help="run the WMMA examples, each compared with NumPy")
    demo.add_argument(
        "--device", default=None, help="such as emulator:gfx1201 (default: see `amdjit devices`)"
    )
    demo.set_defaults(run=_demo)


def _demo(options: argparse.Namespace) -> int:
    if options.device is None:
        return 1 if run_demo(current_device()) else 0
    with use(options.device) as device:
        return 1 if run_demo(device) else 0
