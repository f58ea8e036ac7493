"""`amdjit explore`: the page of a kernel, and of what a program's launches of it did."""

from __future__ import annotations

import argparse
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING

from amdjit.command_line.commands import Commands
from amdjit.command_line.inspected import add_target, find, is_object
from amdjit.command_line.kernel_files import split_name, write_file
from amdjit.command_line.program_run import KernelLaunches, profile_program
from amdjit.diagnostics import LaunchError
from amdjit.late import late

if TYPE_CHECKING:
    from amdjit.command_line import watching
    from amdjit.explorer import page
    from amdjit.profiling import trace_events
else:
    trace_events = late("amdjit.profiling.trace_events")
    watching = late("amdjit.command_line.watching")
    page = late("amdjit.explorer.page")

__all__ = ["add"]


def add(commands: Commands) -> None:
    """Add the command."""
    explore = commands.add_parser(
        "explore",
        help="write a page on a kernel for the browser; with --run, on its launches too",
        epilog="What follows `--` is the program's: amdjit explore --run FILE.py:KERNEL -- 1024",
    )
    add_target(explore)
    explore.add_argument(
        "--run",
        dest="runs",
        action="store_true",
        help="run FILE.py as a program on the emulator, and show what its launches of KERNEL did",
    )
    explore.add_argument(
        "--trace",
        type=Path,
        metavar="FILE.json",
        help="with --run, also write the waves over time for Perfetto and chrome://tracing",
    )
    explore.add_argument(
        "--watch",
        action="store_true",
        help="serve the page on this machine, and write and show it anew whenever a file is saved",
    )
    explore.add_argument(
        "--port", type=int, default=0, help="the port of --watch (default: any free one)"
    )
    explore.add_argument("--open", action="store_true", help="open the page in the browser")
    explore.add_argument(
        "--output", "-o", type=Path, default=None, help="the page's file (default: KERNEL.html)"
    )
    explore.set_defaults(run=_explore)


def _explore(options: argparse.Namespace) -> int:
    if options.trace is not None and not options.runs:
        raise LaunchError("--trace shows waves of launches: it needs --run")
    if options.port and not options.watch:
        raise LaunchError("--port is for --watch")
    if options.watch:
        return _watch(options)
    output = _launches_page(options) if options.runs else _kernel_page(options)
    if options.open:
        webbrowser.open(output.resolve().as_uri())
    return 0


def _watch(options: argparse.Namespace) -> int:
    if is_object(options.kernel):
        file, output = Path(options.kernel), options.output or Path(f"{options.kernel}.html")
    else:
        file, name = split_name(options.kernel)
        output = options.output or Path(f"{name}.html")
    command = ["explore", options.kernel, "--output", str(output)]
    for option, value in (
        ("--signature", options.signature),
        ("--target", options.target),
        ("--kernel", options.name),
    ):
        command += [option, value] if value else []
    command += ["--trace", str(options.trace)] if options.trace else []
    command += ["--variables"] * options.variables + ["--run"] * options.runs
    if options.arguments:
        command += ["--", *options.arguments]
    return watching.watch(command, output, file, options.port, options.open)


def _kernel_page(options: argparse.Namespace) -> Path:
    found = find(options)
    output: Path = options.output or Path(f"{found.name}.html")
    write_file(output, lambda file: page.write_inspection_page(found.inspection, file))
    return output


def _launches_page(options: argparse.Namespace) -> Path:
    if is_object(options.kernel):
        raise LaunchError("a code object is no program: --run is for FILE.py:KERNEL")
    if options.signature or options.name:
        raise LaunchError("--run shows the kernel with the types that the program launches it with")
    file, name = split_name(options.kernel)
    done = profile_program(file, name, options.arguments, options.target)
    output: Path = options.output or Path(f"{name}.html")
    write_file(output, lambda path: page.write_profile_page(done, path))
    if options.trace is not None:
        _write_trace(done, options.trace)
    return output


def _write_trace(done: KernelLaunches, output: Path) -> None:
    try:
        text = trace_events.trace_text(done.launches)
    except ValueError:
        reasons = {launch.no_cycles for launch in done.launches}
        raise LaunchError(f"no trace: {'; '.join(filter(None, reasons))}") from None
    write_file(output, lambda path: path.write_text(text, encoding="utf-8"))
