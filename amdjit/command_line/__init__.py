"""The `amdjit` command, one module a subcommand: `add` declares its arguments and what it runs."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import amdjit
from amdjit.command_line.signatures import parse_signature
from amdjit.diagnostics import AmdjitError
from amdjit.late import late

if TYPE_CHECKING:
    from amdjit.command_line import (
        advise,
        bench,
        build,
        cache,
        debug,
        demo,
        devices,
        diff,
        doctor,
        explore,
        gate,
        hazards,
        inspect,
        layout,
        learn,
        probe,
        replay,
        run,
        tune,
    )
else:
    advise = late("amdjit.command_line.advise")
    bench = late("amdjit.command_line.bench")
    build = late("amdjit.command_line.build")
    cache = late("amdjit.command_line.cache")
    debug = late("amdjit.command_line.debug")
    demo = late("amdjit.command_line.demo")
    devices = late("amdjit.command_line.devices")
    diff = late("amdjit.command_line.diff")
    doctor = late("amdjit.command_line.doctor")
    explore = late("amdjit.command_line.explore")
    gate = late("amdjit.command_line.gate")
    hazards = late("amdjit.command_line.hazards")
    inspect = late("amdjit.command_line.inspect")
    layout = late("amdjit.command_line.layout")
    learn = late("amdjit.command_line.learn")
    probe = late("amdjit.command_line.probe")
    replay = late("amdjit.command_line.replay")
    run = late("amdjit.command_line.run")
    tune = late("amdjit.command_line.tune")

__all__ = ["main", "parse_signature"]

_COMMANDS = {
    "doctor": doctor,
    "demo": demo,
    "learn": learn,
    "devices": devices,
    "run": run,
    "replay": replay,
    "debug": debug,
    "inspect": inspect,
    "hazards": hazards,
    "explore": explore,
    "advise": advise,
    "gate": gate,
    "diff": diff,
    "build": build,
    "layout": layout,
    "bench": bench,
    "probe": probe,
    "tune": tune,
    "cache": cache,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return the exit code. Errors of amdjit are printed to stderr."""
    own, program = _split(sys.argv[1:] if arguments is None else arguments)
    parser = _parser(own)
    options = parser.parse_args(own, argparse.Namespace(arguments=program, runs=False))
    if program and not options.runs:
        parser.error(
            "what follows -- is for the program of `amdjit run` and of the commands with --run"
        )
    try:
        code = int(options.run(options))
        sys.stdout.flush()
        return code
    except AmdjitError as error:
        print(error, file=sys.stderr)
        return 1
    except BrokenPipeError:
        # The reader of the pipe has closed it; Python would complain when it closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _split(arguments: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """Return the command's own arguments, and those after `--`, for a program that it runs."""
    if "--" not in arguments:
        return arguments, ()
    place = list(arguments).index("--")
    return arguments[:place], arguments[place + 1 :]


def _parser(arguments: Sequence[str]) -> argparse.ArgumentParser:
    """Return a parser of the command that these arguments begin with, or of all commands, which
    take longer to load."""
    parser = argparse.ArgumentParser(
        prog="amdjit", description="Compile Python functions to AMDGPU kernels."
    )
    parser.add_argument("--version", action="version", version=f"amdjit {amdjit.__version__}")
    commands = parser.add_subparsers(required=True, metavar="command")
    asked = arguments[0] if arguments else ""
    for name in [asked] if asked in _COMMANDS else _COMMANDS:
        _COMMANDS[name].add(commands)
    return parser
