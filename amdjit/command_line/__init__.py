"""The `amdjit` command, one module a subcommand: `add` declares its arguments and what it runs."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

import amdjit
from amdjit.command_line import (
    bench,
    build,
    cache,
    demo,
    devices,
    doctor,
    explore,
    inspect,
    layout,
    probe,
    run,
    tune,
)
from amdjit.command_line.signatures import parse_signature
from amdjit.diagnostics import AmdjitError

__all__ = ["main", "parse_signature"]

_COMMANDS = (
    doctor,
    demo,
    devices,
    run,
    inspect,
    explore,
    build,
    layout,
    bench,
    probe,
    tune,
    cache,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return the exit code. Errors of amdjit are printed to stderr."""
    own, program = _split(sys.argv[1:] if arguments is None else arguments)
    parser = _parser()
    options = parser.parse_args(own, argparse.Namespace(arguments=program, runs=False))
    if program and not options.runs:
        parser.error(
            "what follows -- is for the program of `amdjit run` and `amdjit explore --run`"
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


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="amdjit", description="Compile Python functions to AMDGPU kernels."
    )
    parser.add_argument("--version", action="version", version=f"amdjit {amdjit.__version__}")
    commands = parser.add_subparsers(required=True, metavar="command")
    for command in _COMMANDS:
        command.add(commands)
    return parser
