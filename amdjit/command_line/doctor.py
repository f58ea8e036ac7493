"""`amdjit doctor`: what is on this machine, what to do about it, and whether kernels run right."""

from __future__ import annotations

import argparse
import shutil
from typing import TYPE_CHECKING

from amdjit.command_line.commands import Commands
from amdjit.command_line.screen_choice import show
from amdjit.late import late

if TYPE_CHECKING:
    from amdjit.doctor import examination, machine, report
else:
    examination = late("amdjit.doctor.examination")
    machine = late("amdjit.doctor.machine")
    report = late("amdjit.doctor.report")

__all__ = ["add"]

_WIDEST = 100


def add(commands: Commands) -> None:
    """Add the command."""
    doctor = commands.add_parser(
        "doctor",
        help="say what is on this machine and what to do about it, and try kernels",
        description="Examine Python, LLVM, the driver, HIP and the cache, then run a kernel of "
        "each kind on every GPU and on the emulator. The exit code is 1 if something that should "
        "work does not.",
    )
    doctor.add_argument("--json", action="store_true", help="print JSON instead of text")
    doctor.add_argument("--all", action="store_true", help="run kernels on every emulator")
    doctor.add_argument(
        "--seconds",
        type=_seconds,
        default=120.0,
        help="what a device may take before it counts as hung (default: 120)",
    )
    doctor.set_defaults(run=_doctor)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds above 0")
    return seconds


def _doctor(options: argparse.Namespace) -> int:
    asked = examination.Examination(machine.Machine.here(), options.seconds, options.all)
    width = min(shutil.get_terminal_size().columns, _WIDEST)
    findings = []
    for finding in asked.findings():
        findings.append(finding)
        if not options.json:
            show(report.finding_text(finding, width))
    show(report.report_json(findings) if options.json else f"\n{report.verdict(findings)}")
    return examination.exit_code(findings)
