"""`%load_ext amdjit`: the cell magics `%%amdjit_explore` and `%%amdjit_asm` of notebooks.

A cell runs as it would without its first line; then the page, or the machine code, of the kernels
that it has defined or launched is what it shows.
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any, NoReturn, Protocol

from amdjit.api import Kernel
from amdjit.command_line.inspected import with_example
from amdjit.command_line.signatures import parse_signature
from amdjit.compiled_kernel import CompiledKernel
from amdjit.debugging.programs import on_emulator
from amdjit.diagnostics import LaunchError
from amdjit.explorer.page import inspection_page, profile_page
from amdjit.inspection.notebook import framed, preformatted, title
from amdjit.profiling.profile import profile

__all__ = ["Shown", "load_ipython_extension"]


class Shell(Protocol):
    """The parts of IPython's shell that the magics use."""

    @property
    def user_ns(self) -> Mapping[str, Any]:
        """The notebook's global names."""

    def run_cell(self, raw_cell: str) -> Any:
        """Run a cell, and show its errors; the result's `success` says whether it has none."""

    def register_magic_function(self, func: Callable[[str, str], Any], kind: str, name: str) -> Any:
        """Add a magic."""


@dataclass(frozen=True)
class Shown:
    """What a cell shows: HTML in a notebook, text in a terminal."""

    html: str = field(repr=False)
    text: str

    def _repr_html_(self) -> str:
        return self.html

    def __repr__(self) -> str:
        return self.text


def load_ipython_extension(shell: Shell) -> None:
    """Add the magics to a shell; `%load_ext amdjit` calls this."""

    def explore(line: str, cell: str) -> Shown | None:
        return _explore(shell, line, cell)

    def asm(line: str, cell: str) -> Shown | None:
        return _asm(shell, line, cell)

    shell.register_magic_function(explore, "cell", "amdjit_explore")
    shell.register_magic_function(asm, "cell", "amdjit_asm")


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise LaunchError(f"{self.prog}: {message}; {self.format_usage().strip()}")


def _options(name: str, line: str, **more: int) -> argparse.Namespace:
    parser = _Parser(prog=f"%%{name}", add_help=False)
    parser.add_argument("kernel", nargs="?", help="of the cell's kernels")
    parser.add_argument("--signature", default="", help="the arguments' types: f32[:],f32")
    parser.add_argument("--target", help="the processor, such as gfx1201")
    for option, usual in more.items():
        parser.add_argument(f"--{option}", type=int, default=usual)
    return parser.parse_args(shlex.split(line))


def _explore(shell: Shell, line: str, cell: str) -> Shown | None:
    """Show the page of the cell's launches; if it has none, of the kernel that it defines."""
    options = _options("amdjit_explore", line, height=800)
    before = dict(shell.user_ns)
    with on_emulator(options.target), profile() as done:
        if not shell.run_cell(cell).success:
            return None
    chosen = [each for each in done.launches if options.kernel in (None, each.kernel)]
    if chosen and not options.signature:
        page, what = profile_page(_Launches(chosen)), f"{len(chosen)} launches"
    else:
        [compiled, *others] = _compiled("amdjit_explore", shell, before, options)
        if others:
            names = ", ".join(each.name for each in (compiled, *others))
            raise LaunchError(f"%%amdjit_explore shows one kernel: name one of {names}")
        page, what = inspection_page(compiled.inspect()), compiled.signature
    frame = (
        f'<iframe srcdoc="{escape(page)}" title="amdjit" '
        f'style="width: 100%; height: {options.height}px; border: 0"></iframe>'
    )
    return Shown(frame, f"<the page of {what}, which notebooks show>")


@dataclass(frozen=True)
class _Launches:
    launches: Sequence[Any]


def _asm(shell: Shell, line: str, cell: str) -> Shown | None:
    """Show the machine code of the kernels that the cell defines."""
    options = _options("amdjit_asm", line)
    before = dict(shell.user_ns)
    if not shell.run_cell(cell).success:
        return None
    found = _compiled("amdjit_asm", shell, before, options)
    parts = [part for each in found for part in (title(each.signature), preformatted(each.asm))]
    return Shown(framed(*parts), "\n".join(f"; {each.signature}\n{each.asm}" for each in found))


def _compiled(
    magic: str, shell: Shell, before: Mapping[str, Any], options: argparse.Namespace
) -> list[CompiledKernel]:
    """Return the cell's kernels: those that it has launched for their types, or all of them for the
    types of `--signature` or of their annotations."""
    names = {
        name: value
        for name, value in shell.user_ns.items()
        if isinstance(value, Kernel) and before.get(name) is not value
    }
    if options.kernel is not None:
        named = shell.user_ns.get(options.kernel)
        if not isinstance(named, Kernel):
            raise LaunchError(f"%%{magic}: there is no kernel {options.kernel!r}")
        names = {options.kernel: named}
    if not names:
        raise LaunchError(f"%%{magic}: the cell defines no kernel")
    return [each for kernel in names.values() for each in _versions(magic, kernel, options)]


def _versions(magic: str, kernel: Kernel, options: argparse.Namespace) -> Sequence[CompiledKernel]:
    if kernel.specialisations and not options.signature:
        return kernel.specialisations
    types = parse_signature(options.signature, kernel.function.__globals__)
    with with_example(kernel, f"%%{magic}", types):
        compiled = kernel.compile(*types, target=options.target)
    assert isinstance(compiled, CompiledKernel)
    return [compiled]
