"""`amdjit cache`: what the folder of compiled code holds, and how to empty it."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from amdjit.command_line.commands import Commands
from amdjit.command_line.screen_choice import show
from amdjit.disk_cache import DiskCache
from amdjit.late import late

if TYPE_CHECKING:
    from amdjit.doctor import cache_findings, examination, machine
else:
    cache_findings = late("amdjit.doctor.cache_findings")
    examination = late("amdjit.doctor.examination")
    machine = late("amdjit.doctor.machine")

__all__ = ["add"]


def add(commands: Commands) -> None:
    """Add the command."""
    cache = commands.add_parser(
        "cache", help="show or clear the folder where compiled code is kept"
    )
    cache.add_argument(
        "action",
        nargs="?",
        choices=("info", "clear"),
        default="info",
        help="info: what it holds (default); clear: remove all entries, and no other files",
    )
    cache.set_defaults(run=_cache)


def _cache(options: argparse.Namespace) -> int:
    here = machine.Machine.here()
    folder = here.environment().cache_dir
    if options.action == "clear" and folder is not None:
        kept = DiskCache(folder, version="")
        before, after = kept.contents(), kept.clear()
        show(f"{here.shown(str(folder))}: removed {before.entries - after.entries} of {before}")
        return int(after.entries > 0)
    findings = list(cache_findings.cache(here))
    for finding in findings:
        show("\n".join(filter(None, (finding.found, finding.remedy))))
    return int(examination.exit_code(findings))
