"""`amdjit debug`: the launch of a program, or a recorded one, under the debugger."""

from __future__ import annotations

import argparse
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from amdjit.command_line.commands import Commands
from amdjit.diagnostics import BackendError, LaunchError
from amdjit.late import late

if TYPE_CHECKING:
    from amdjit.debugging import adapter, debugger, extension, opening, programs, terminal
    from amdjit.runtime import recording
    from amdjit.runtime.recording import RecordedLaunch
else:
    adapter = late("amdjit.debugging.adapter")
    debugger = late("amdjit.debugging.debugger")
    extension = late("amdjit.debugging.extension")
    opening = late("amdjit.debugging.opening")
    programs = late("amdjit.debugging.programs")
    terminal = late("amdjit.debugging.terminal")
    recording = late("amdjit.runtime.recording")

__all__ = ["add"]

_RECORDED = ".amdjit"


def add(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "debug",
        help="step through a launch, forwards and backwards",
        description="FILE.py is run as a program, and stops before the first launch of one of its "
        "kernels. A file that amdjit.record wrote is debugged as it was recorded. At the prompt, "
        "`help` lists the commands.",
        epilog="What follows `--` is the program's: amdjit debug FILE.py:KERNEL -- 1024",
    )
    parser.add_argument("target", nargs="?", help="FILE.py, FILE.py:KERNEL, or a recorded launch")
    parser.add_argument(
        "--launch", type=int, default=1, help="which launch of the kernel (default: 1, the first)"
    )
    parser.add_argument(
        "--opt-level",
        choices=["0", "1", "2", "3", "own"],
        default="0",
        help="how the kernel is compiled: at 0, the default, most variables can be read; own keeps "
        "the kernel's level",
    )
    parser.add_argument(
        "--schedule",
        default="in-order",
        help="in-order, backwards, or a seed for an order that interrupts waves anywhere",
    )
    parser.add_argument("--device", help="the processor to emulate, such as gfx1201")
    parser.add_argument(
        "-c", "--command", action="append", default=[], help="a command to carry out first"
    )
    parser.add_argument(
        "--adapter",
        action="store_true",
        help="speak the Debug Adapter Protocol on the standard streams, for editors",
    )
    parser.add_argument(
        "--extension",
        type=Path,
        metavar="FOLDER",
        help="write an extension of VS Code to FOLDER, which is ~/.vscode/extensions as a rule",
    )
    parser.set_defaults(run=_debug, runs=True)


def _debug(options: argparse.Namespace) -> int:
    if options.adapter:
        adapter.serve()
        return 0
    if options.extension is not None:
        return _write_extension(options.extension)
    if options.target is None:
        raise LaunchError("say what to debug: amdjit debug FILE.py, or a recorded launch")
    if options.launch < 1:
        raise LaunchError(f"--launch {options.launch}: launches are counted from 1 on")
    schedule = _schedule(options.schedule)
    if options.target.endswith(_RECORDED):
        launch = _recorded(Path(options.target))
        with debugger.Debugger(launch, schedule=schedule) as opened:
            terminal.Terminal(opened).run(options.command)
        return 0
    file, _, kernel = options.target.partition(".py:")
    path = Path(f"{file}.py" if kernel else file)
    turn = _Turn(options, schedule)
    with opening.debug_launches(turn.look, kernel):
        programs.run_program(path, options.arguments, options.device)
    if turn.seen < options.launch:
        raise LaunchError(
            f"{path} launched {kernel or 'kernels'} {turn.seen} times: there is no launch "
            f"{options.launch}"
        )
    return 0


def _recorded(path: Path) -> RecordedLaunch:
    try:
        return recording.RecordedLaunch.read(path)
    except OSError as error:
        raise LaunchError(f"{path} cannot be read: {error.strerror}") from error


def _write_extension(folder: Path) -> int:
    try:
        written = extension.write_extension(folder.expanduser(), version("amdjit"))
    except OSError as error:
        raise BackendError(f"{folder} cannot be written: {error.strerror}") from error
    print(f"{written}: start VS Code again, and choose amdjit in a launch configuration")
    return 0


def _schedule(text: str) -> str | int:
    return int(text) if text.lstrip("-").isdigit() else text


class _Turn:
    """Counts launches until the one that is wanted."""

    def __init__(self, options: argparse.Namespace, schedule: str | int) -> None:
        self._options, self._schedule = options, schedule
        self.seen = 0

    def look(self, launch: opening.Opener) -> None:
        """Open the prompt if this is the launch."""
        self.seen += 1
        if self.seen != self._options.launch:
            return
        chosen = self._options.opt_level
        level = None if chosen == "own" else int(chosen)
        with launch(level, self._schedule) as opened:
            terminal.Terminal(opened).run(self._options.command)
