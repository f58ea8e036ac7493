"""LLVM's stages as the compiler calls them: in a child process, if one can be started.

A mistake in LLVM (a failed assertion, `report_fatal_error`, endless recursion) ends the process
that it runs in. In a child, it becomes a BackendError with a file that reproduces it.
"""

from __future__ import annotations

import hashlib
import platform
import re
import tempfile
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite

from amdjit.backend.process import CompilerDied, NoProcess, compiler_process
from amdjit.backend.worker import compile_in_process
from amdjit.diagnostics.errors import BackendError
from amdjit.diagnostics.performance import PerformanceWarning
from amdjit.lowering.intrinsics import DECLARED_OUTSIDE
from amdjit.options import COMPILE_TIME_LIMIT, CompileOptions, Environment
from amdjit.target import Target

__all__ = ["emit_assembly", "emit_object_or_assembly", "optimise"]

_KERNEL = re.compile(r"^define [^@\n]*amdgpu_kernel void @(\"?)([^\"(]+)\1\([^\n]*", re.MULTILINE)
# How many characters of LLVM's last output the error quotes. All of it is in the dump.
_MOST_SAID = 2000


def optimise(
    llvm_text: str,
    target: Target,
    options: CompileOptions,
    libraries: tuple[bytes, ...] = (),
    environment: Environment | None = None,
) -> str:
    """Return the IR after the passes that clang runs at the options' level.

    libraries: bitcode or IR; the functions that are called become part of the module. BackendError
    in LLVM's words.
    """
    if f"!{DECLARED_OUTSIDE} = " in llvm_text:
        _run("check_declared_intrinsics", llvm_text, target, options, environment)
    text: str = _run("optimise", llvm_text, target, options, environment, libraries)
    return text


def emit_assembly(
    llvm_text: str, target: Target, options: CompileOptions, environment: Environment | None = None
) -> str:
    """Return LLVM's assembly text of optimised IR, with comments; BackendError in LLVM's words."""
    text: str = _run("emit_assembly", llvm_text, target, options, environment)
    return text


def emit_object_or_assembly(
    llvm_text: str, target: Target, options: CompileOptions, environment: Environment | None = None
) -> bytes | str:
    """Return the unlinked object of optimised IR, or assembly text if it has inline assembly."""
    emitted: bytes | str = _run("emit_object_or_assembly", llvm_text, target, options, environment)
    return emitted


def _run(
    stage: str,
    llvm_text: str,
    target: Target,
    options: CompileOptions,
    environment: Environment | None,
    *more: Any,
) -> Any:
    chosen = environment or Environment()
    request = (stage, llvm_text, target.id, options.wave_size, options.opt_level, *more)
    if chosen.compile_guard:
        try:
            limit = chosen.compile_time_limit or COMPILE_TIME_LIMIT
            result, said = compiler_process().run_and_listen(limit, *request)
        except NoProcess as error:
            _warn_once(str(error))
        except CompilerDied as died:
            raise _refusal(
                died, stage, llvm_text=llvm_text, target=target, options=options, environment=chosen
            ) from None
        else:
            if options.warnings and chosen.warnings:
                _pass_on(said)
            return result
    return compile_in_process(*request)


_WARNING = re.compile(r"warning: (?:(?P<file>.+?):(?P<line>\d+):\d+: )?(?P<text>.+)")


def _pass_on(said: str) -> None:
    """Issue what LLVM said of the program as Python's warnings, at the lines that it names."""
    for found in _WARNING.finditer(said):
        line = int(found["line"] or 0)
        if line:
            text = f"LLVM: {found['text']}"
            warnings.warn_explicit(text, PerformanceWarning, found["file"], line)
        else:
            warnings.warn(f"LLVM: {found['text']}", PerformanceWarning, stacklevel=2)


@cache
def _warn_once(reason: str) -> None:
    warnings.warn(
        "LLVM runs in this process, which its failures would end: no process can be started for "
        f"it ({reason})",
        RuntimeWarning,
        stacklevel=2,
    )


def _refusal(
    died: CompilerDied,
    stage: str,
    llvm_text: str,
    target: Target,
    options: CompileOptions,
    environment: Environment,
) -> BackendError:
    said = died.said.strip()[-_MOST_SAID:]
    how = f"LLVM {died.how} while it compiled {_kernel(llvm_text)}"
    settings = f"{target}, opt_level={options.opt_level}, wave_size={options.wave_size}"
    versions = (
        f"llvmlite {llvmlite.__version__}, Python {platform.python_version()}, "
        f"{platform.platform()}"
    )
    header = [how, f"stage: {stage}", settings, versions, *died.said.splitlines()]
    dump = _dump("".join(f"; {line}\n" for line in header) + llvm_text, environment)
    parts = [f"{how}. The kernel was not compiled; this process goes on.", said, dump]
    return BackendError("\n".join(filter(None, parts)))


def _kernel(llvm_text: str) -> str:
    """Return the kernel's name, with its file and line from the debug information."""
    found = _KERNEL.search(llvm_text)
    if found is None:
        return "a module without a kernel"
    name = f"`{found[2]}`"
    place = re.search(r"!dbg !(\d+)", found[0])
    program = place and _node(llvm_text, place[1])
    line, file = (
        re.search(pattern, program or "") for pattern in (r"\bline: (\d+)", r"\bfile: !(\d+)")
    )
    path = (
        re.search(r"filename: \"((?:[^\"\\\\]|\\\\.)*)\"", _node(llvm_text, file[1]))
        if file
        else None
    )
    return f"{name} ({path[1]}:{line[1]})" if line and path else name


def _node(llvm_text: str, number: str) -> str:
    found = re.search(rf"^!{number} = (.*)$", llvm_text, re.MULTILINE)
    return found[1] if found else ""


def _dump(text: str, environment: Environment) -> str:
    """Write a file that reproduces the failure, and return a sentence that names it."""
    name = f"amdjit-llvm-failure-{hashlib.sha256(text.encode()).hexdigest()[:16]}.ll"
    for folder in (environment.cache_dir, Path(tempfile.gettempdir())):
        try:
            if folder is not None:
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                (folder / name).write_text(text, encoding="utf-8")
                return f"Please report it with this file: {folder / name}"
        except OSError:
            continue
    return (
        "The IR could not be written to a file, neither in the cache's folder nor in that of "
        "temporary files."
    )
