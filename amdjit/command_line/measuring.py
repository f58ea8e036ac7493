"""What `gate` and `diff` measure: kernels of Python files, of launches, of objects and folders."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

from amdjit.command_line.build import parse_options
from amdjit.command_line.inspected import compile_kernel
from amdjit.command_line.kernel_files import split_name
from amdjit.command_line.program_run import profile_program
from amdjit.diagnostics import LaunchError
from amdjit.testing.measured import Measured, measured_at, of_compiled, of_launches

__all__ = ["TARGETS", "Source", "add_source"]

TARGETS = (
    "FILE.py:KERNEL; a code object, bundle, or file of the host with bundles in it; a folder with "
    "such files, as Triton's cache; the JSON of an inspection or of a profile"
)


@dataclass(frozen=True)
class Source:
    """What is measured, as the command line says it.

    name: the TARGET. signatures, options: of FILE.py:KERNEL. target: the processor. runs: whether
    to run FILE.py as a program, with these arguments.
    """

    name: str
    signatures: Sequence[str] = ()
    target: str | None = None
    options: Sequence[str] = ()
    runs: bool = False
    arguments: Sequence[str] = ()

    def measure(self) -> list[Measured]:
        """Return the kernels; AmdjitError says what is wrong with the command."""
        is_file = Path(self.name).exists() or ":" not in self.name
        if is_file and not self.name.endswith(".py"):
            return self._of_files()
        with _own_modules(split_name(self.name)[0]):
            return self._of_launches() if self.runs else self._compiled()

    def _of_files(self) -> list[Measured]:
        for given, option in (
            (self.signatures, "--signature"),
            (self.options, "--option"),
            (self.runs, "--run"),
        ):
            if given:
                raise LaunchError(f"{option} is for FILE.py:KERNEL, not for {self.name}")
        return measured_at(Path(self.name), self.target)

    def _compiled(self) -> list[Measured]:
        options = parse_options(self.options)
        return [
            of_compiled(
                compile_kernel(self.name, signature, self.target, options=options), *self.options
            )
            for signature in self.signatures or ("",)
        ]

    def _of_launches(self) -> list[Measured]:
        if self.signatures or self.options:
            raise LaunchError(
                "--run measures the kernel with the types and options with which the program "
                "launches it"
            )
        file, name = split_name(self.name)
        with redirect_stdout(sys.stderr):  # standard output is the command's
            done = profile_program(file, name, self.arguments, self.target)
        return of_launches(done.launches, done.stopped)


@contextmanager
def _own_modules(file: Path) -> Iterator[None]:
    """Let a file import its neighbours anew: those of another version may be known by their
    names."""
    known, path = dict(sys.modules), sys.path[:]
    try:
        yield
    finally:
        folder = str(file.parent.resolve())
        for name in sys.modules.keys() - known.keys():
            place = getattr(sys.modules[name], "__file__", None)
            if place and str(Path(place).resolve()).startswith(folder):
                del sys.modules[name]
        sys.path[:] = path


def add_source(command: argparse.ArgumentParser, run: str) -> None:
    """Add what says how FILE.py:KERNEL is compiled, and which kernels are meant. run: what `--run`
    does."""
    command.add_argument(
        "--kernel", dest="name", default="*", help="only these kernels: a name, or a pattern"
    )
    command.add_argument("--run", dest="runs", action="store_true", help=run)
    command.add_argument(
        "--signature",
        action="append",
        default=[],
        help='the arguments\' types, such as "f32,f32[:]"; given again, further ones',
    )
    command.add_argument(
        "--target",
        default=None,
        help="the processor, or target id, to compile for (default: AMDJIT_TARGET, else gfx1201); "
        "of objects, whose code to take (default: all)",
    )
    command.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a compile option, such as unroll=4; may be given again",
    )
