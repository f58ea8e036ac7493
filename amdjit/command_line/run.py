"""`amdjit run`: a program that uses HIP, Triton or numba.cuda, unmodified, on an emulator."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from amdjit.child_process import ending, run_in_place
from amdjit.command_line.commands import Commands
from amdjit.diagnostics import LaunchError
from amdjit.hip_programs import hip_library
from amdjit.options import SANITIZER_CHECKS, checked_sanitize, default_target, read_environment

__all__ = ["add"]

# The first folder of Python's path there.
_PYTHON_START = Path(__file__).with_name("python_start")
_REPORTED = 3
_SIGNALLED = 128


def add(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "run",
        help="run a program that uses HIP, Triton or numba.cuda on an emulated device",
        epilog="amdjit run --check memory,race -- ./program --size 1024",
    )
    parser.add_argument(
        "program", nargs="*", help="it and its arguments; after -- if some begin with a hyphen"
    )
    parser.add_argument("--device", help="such as emulator:gfx1201 (default: AMDJIT_DEVICE)")
    parser.add_argument(
        "--check",
        default="",
        help=f"check all launches: some of {', '.join(SANITIZER_CHECKS)}",
    )
    parser.add_argument(
        "--profile",
        type=Path,
        help="count what launches do, and write a page for a browser; JSON if it ends in .json",
    )
    parser.add_argument(
        "--record", type=Path, metavar="FOLDER", help="write each launch, for `amdjit replay`"
    )
    parser.add_argument("--report", type=Path, help="write what was found to this JSON file")
    parser.add_argument(
        "--fail-on-report",
        action="store_true",
        help=f"exit with status {_REPORTED} if the checks, or a fault, reported anything",
    )
    parser.set_defaults(run=_run, runs=True)


def _run(options: argparse.Namespace) -> int:
    command = [*options.program, *options.arguments]
    if not command:
        raise LaunchError("say what to run: amdjit run -- PROGRAM ARGUMENTS")
    with tempfile.TemporaryDirectory() as folder:
        reports = Path(folder, "reports")
        code = _start(command, _environment(options, reports))
        found = _read(reports)
    if options.report is not None:
        content = {"program": command, "exit_code": code, "reports": found}
        options.report.write_text(json.dumps(content, indent=2) + "\n")
    if code < 0:
        print(f"amdjit: {command[0]} {ending(code)}", file=sys.stderr)
    if found:
        plural = "s" * (len(found) != 1)
        print(f"amdjit: {len(found)} report{plural}", file=sys.stderr)
    if found and options.fail_on_report:
        return _REPORTED
    return code if code >= 0 else _SIGNALLED - code


def _start(command: Sequence[str], environment: Mapping[str, str]) -> int:
    if command[0].endswith(".py"):
        command = [sys.executable, *command]
    program = shutil.which(command[0])
    if program is None:
        raise LaunchError(f"there is no program {command[0]}")
    try:
        return run_in_place([program, *command[1:]], environment)
    except OSError as error:
        raise LaunchError(f"{program} does not start: {error.strerror}") from None


def _environment(options: argparse.Namespace, reports: Path) -> dict[str, str]:
    checks = tuple(filter(None, options.check.split(",")))
    variables = dict(os.environ)
    folders = [str(hip_library().parent), variables.get("LD_LIBRARY_PATH", "")]
    variables["LD_LIBRARY_PATH"] = os.pathsep.join(filter(None, folders))
    variables["AMDJIT_SANITIZE_JSON"] = str(reports)
    if checks:
        variables["AMDJIT_SANITIZE"] = ",".join(checked_sanitize(checks, "--check"))
    if options.profile is not None:
        if variables.get("AMDJIT_SANITIZE"):
            raise LaunchError("a run cannot be checked and profiled at the same time: run it twice")
        variables["AMDJIT_PROFILE"] = str(options.profile.absolute())
    if options.record is not None:
        variables["AMDJIT_RECORD"] = str(options.record.absolute())
    settings = read_environment(variables)
    device = options.device or settings.device or f"emulator:{default_target(settings)}"
    start = [str(_PYTHON_START), variables.get("PYTHONPATH", "")]
    return variables | {
        "AMDJIT_DEVICE": device,
        "PYTHONPATH": os.pathsep.join(filter(None, start)),
    }


def _read(reports: Path) -> list[dict[str, Any]]:
    """Return the reports, which the program's process has written one a line."""
    if not reports.exists():
        return []
    return [json.loads(line) for line in reports.read_text(encoding="utf-8").splitlines()]
