"""`amdjit hazards`: what is missing between a kernel's instructions, and what is spare."""

from __future__ import annotations

import argparse

from amdjit.code_object import CodeObject
from amdjit.command_line.commands import Commands, answered
from amdjit.command_line.inspected import add_target, code_of
from amdjit.command_line.screen_choice import show
from amdjit.diagnostics import LaunchError
from amdjit.inspection.hazards import Hazards, hazards, kernel_hazards

__all__ = ["add"]

_MISSING, _NOT_KNOWN = 1, 2


def add(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "hazards",
        help="prove that no wait or wait state is missing on any path of a kernel, or name it",
        description="Exit status: 0 if nothing is missing, 1 if something is, 2 for mistakes and "
        "if something is not known.",
    )
    add_target(parser)
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    parser.set_defaults(run=answered(_hazards))


def _hazards(options: argparse.Namespace) -> int:
    found = _found(*code_of(options))
    show(found.to_json() if options.json else str(found))
    if found.missing:
        return _MISSING
    return 0 if found.proved else _NOT_KNOWN


def _found(data: bytes, name: str | None) -> Hazards:
    if name is None:
        return hazards(data)
    kernels = CodeObject.read(data).kernels
    if name not in kernels:
        listed = ", ".join(sorted(kernels)) or "none"
        raise LaunchError(f"the code object has no kernel {name}; it has {listed}")
    return kernel_hazards(data, name)
