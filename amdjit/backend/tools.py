"""LLVM's programs that llvmlite does not contain: lld, and an assembler for inline assembly."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Sequence
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING

from amdjit.diagnostics.errors import BackendError
from amdjit.late import late
from amdjit.late_methods import dataclass
from amdjit.options import Environment
from amdjit.target import TRIPLE, Target

if TYPE_CHECKING:
    import shutil
    import tempfile

    from amdjit import child_process
else:
    shutil, tempfile = late("shutil"), late("tempfile")
    child_process = late("amdjit.child_process")

__all__ = [
    "Assembler",
    "Linker",
    "OwnLinker",
    "assemble",
    "find_assembler",
    "find_linker",
    "find_lld",
    "run_tool",
]


# Linking and assembling take less than a second: after this time, the program hangs.
_TIME_LIMIT = 120.0
_EXECUTABLE_SUFFIX = ".exe" if os.name == "nt" else ""
_LINKER_NAMES = ("ld.lld", "ld.lld-22")
# The extra holds the package ziglang, which contains lld and clang's assembler.
_INSTALL = '`pip install "amdjit[lld]"`'
_DEFAULT_ROCM = Path("/opt/rocm")


@dataclass(frozen=True, slots=True)
class Linker:
    """An ELF linker that knows AMDGPU. `command` is the program and its first arguments."""

    command: tuple[str, ...]

    def __str__(self) -> str:
        return " ".join(self.command)


@dataclass(frozen=True, slots=True)
class OwnLinker:
    """The linker in `amdjit.backend.linking`. Objects that it does not support go to the lld that
    `find_lld` finds."""

    environment: Environment = field(default_factory=Environment)

    def __str__(self) -> str:
        return "amdjit"


@dataclass(frozen=True, slots=True)
class Assembler:
    """clang's integrated assembler. `command` is the program and the arguments up to `-triple`."""

    command: tuple[str, ...]

    def __str__(self) -> str:
        return " ".join(self.command)


def find_linker(environment: Environment, choice: str | None = None) -> Linker | OwnLinker:
    """Return the linker to use: amdjit's own, unless `choice` or AMDJIT_LINKER names another.

    Each is a program, or `zig` for the one in the ziglang package. BackendError if what is named is
    not there.
    """
    chosen = choice or environment.linker
    return _chosen_linker(chosen, environment) if chosen else OwnLinker(environment)


def find_lld(environment: Environment) -> Linker:
    """Return an lld: ROCm's, the ziglang package's, or that on PATH; BackendError with the remedy
    if there is none."""
    for directory in _rocm_directories(environment):
        program = directory / f"ld.lld{_EXECUTABLE_SUFFIX}"
        if program.is_file():
            return Linker((str(program),))
    zig = _zig()
    if zig is not None:
        return Linker((zig, "ld.lld"))
    for name in _LINKER_NAMES:
        found = shutil.which(name, path=environment.search_path)
        if found:
            return Linker((found,))
    raise BackendError(
        f"no lld: {_INSTALL}, or install ROCm or lld, or set AMDJIT_LINKER to the path of an ld.lld"
    )


def find_assembler(environment: Environment) -> Assembler:
    """Return clang's assembler; BackendError with the remedy if none is found.

    The ziglang package's is preferred, because it is of the same LLVM release as llvmlite, which
    writes the text. Then follow ROCm's and the one on PATH.
    """
    zig = _zig()
    if zig is not None:
        return Assembler((zig, "clang", "-cc1as"))
    for directory in _rocm_directories(environment):
        program = directory / f"clang{_EXECUTABLE_SUFFIX}"
        if program.is_file():
            return Assembler((str(program), "-cc1as"))
    for name in ("clang-22", "clang"):
        found = shutil.which(name, path=environment.search_path)
        if found:
            return Assembler((found, "-cc1as"))
    raise BackendError(
        "the kernel holds inline assembly and there is no assembler for AMDGPU: "
        f"{_INSTALL}, or install ROCm or clang"
    )


def run_tool(command: Sequence[str], purpose: str, content: bytes, suffix: str) -> bytes:
    """Run `command -o OUTPUT INPUT` on `content` and return the bytes of the output file.

    purpose: what the program is run for, such as "linking". suffix: the input file's. BackendError
    with the purpose and what the program printed.
    """
    try:
        with tempfile.TemporaryDirectory(prefix="amdjit-") as directory:
            return _output_of(
                command,
                purpose,
                content,
                Path(directory, f"input{suffix}"),
                Path(directory, "output"),
            )
    except OSError as error:
        if error.filename == command[0]:
            raise BackendError(f"{purpose} failed: {error}") from error
        raise BackendError(
            f"{purpose} failed, since it needs a temporary file: {error}; "
            "make room, or set TMPDIR to a directory that has room and can be written"
        ) from error


def _output_of(
    command: Sequence[str], purpose: str, content: bytes, source: Path, result: Path
) -> bytes:
    source.write_bytes(content)
    full = [*command, "-o", str(result), str(source)]
    code, output = child_process.run(full, _TIME_LIMIT)
    if code is None:
        raise BackendError(
            f"{purpose} failed: Command '{full}' timed out after {_TIME_LIMIT} seconds"
        )
    if code == 0 and result.is_file():
        return result.read_bytes()
    output = output.replace(str(source), f"<kernel>{source.suffix}").strip()
    raise BackendError(f"{purpose} failed ({command[0]}, exit code {code}):\n{output}")


def _chosen_linker(chosen: str, environment: Environment) -> Linker:
    if chosen == "zig":
        zig = _zig()
        if zig is None:
            raise BackendError(
                "the linker `zig` was asked for, but the Python package ziglang is not installed: "
                f"{_INSTALL}"
            )
        return Linker((zig, "ld.lld"))
    found = shutil.which(chosen, path=environment.search_path)
    if found is None:
        raise BackendError(
            f"the linker {chosen!r} that was asked for is not there or cannot be run"
        )
    # The zig program holds lld as a subcommand.
    is_zig = Path(found).stem.lower() == "zig"
    return Linker((found, "ld.lld") if is_zig else (found,))


def _rocm_directories(environment: Environment) -> tuple[Path, ...]:
    roots = (
        [_DEFAULT_ROCM] if environment.rocm_path is None else [environment.rocm_path, _DEFAULT_ROCM]
    )
    return tuple(root / "llvm" / "bin" for root in roots)


def _zig() -> str | None:
    """Return the zig program inside the ziglang package, without importing the package."""
    specification = importlib.util.find_spec("ziglang")
    for location in (specification.submodule_search_locations or ()) if specification else ():
        program = Path(location, f"zig{_EXECUTABLE_SUFFIX}")
        if program.is_file():
            return str(program)
    return None


# Assembly text to objects, for kernels with inline assembly.


def assemble(text: str, target: Target, wave_size: int, assembler: Assembler) -> bytes:
    """Return the object of LLVM's assembly text; BackendError with the assembler's words."""
    options = [
        "-triple",
        TRIPLE,
        "-target-cpu",
        target.name,
        "-filetype",
        "obj",
        "-mrelocation-model",
        "pic",
    ]
    if wave_size == 64:
        options += ["-target-feature", "+wavefrontsize64"]
    for name, is_on in target.settings:
        options += ["-target-feature", f"{'-+'[is_on]}{name}"]
    return run_tool([*assembler.command, *options], "assembling", text.encode(), ".s")
