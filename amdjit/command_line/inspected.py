"""What `inspect` and `explore` look at: a kernel of a Python file, or one of a code object."""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from inspect import getsource
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from amdjit.api import Kernel
from amdjit.command_line.kernel_files import load_kernel, split_name
from amdjit.command_line.signatures import parse_signature
from amdjit.compiled_kernel import CompiledKernel
from amdjit.diagnostics import LaunchError
from amdjit.late import late
from amdjit.launching.compiled_bundle import CompiledBundle

if TYPE_CHECKING:
    from amdjit.code_object import bundles
    from amdjit.inspection import facts, reading
    from amdjit.inspection.inspection import Inspection
    from amdjit.testing import measured
else:
    bundles = late("amdjit.code_object.bundles")
    facts = late("amdjit.inspection.facts")
    reading = late("amdjit.inspection.reading")
    measured = late("amdjit.testing.measured")

__all__ = [
    "Inspected",
    "add_target",
    "code_of",
    "compile_bundle",
    "compile_kernel",
    "find",
    "is_object",
    "with_example",
]

_OBJECTS = (".hsaco", ".co", ".o", ".hipfb")


@dataclass(frozen=True)
class Inspected:
    """A kernel: its name, its code object, its inspection, and its compilation if amdjit has
    compiled it."""

    name: str
    data: bytes
    inspection: Inspection
    compiled: CompiledKernel | None = None


def add_target(command: argparse.ArgumentParser) -> None:
    """Add what says which kernel to look at."""
    command.add_argument(
        "kernel",
        metavar="TARGET",
        help="FILE.py:KERNEL, or a code object or bundle: a file that ends in .hsaco, .co, .o or "
        ".hipfb",
    )
    command.add_argument(
        "--signature", default="", help='the arguments\' types, such as "f32,f32[:],f32[:, ::1]"'
    )
    command.add_argument(
        "--target",
        default=None,
        help="the processor, or target id such as gfx90a:xnack- (default: AMDJIT_TARGET, else "
        "gfx1201); of a bundle, whose code to show",
    )
    command.add_argument(
        "--variables",
        action="store_true",
        help="compile with debug_variables=True: values in registers have names; takes longer",
    )
    command.add_argument(
        "--kernel", dest="name", default=None, help="the kernel, of a code object with several"
    )


def is_object(target: str) -> bool:
    """Whether a command's target is a code object."""
    return target.endswith(_OBJECTS)


def find(options: argparse.Namespace) -> Inspected:
    """Return what the command is to look at; AmdjitError says what is wrong with it."""
    if is_object(options.kernel):
        return _read(options)
    if options.name is not None:
        raise LaunchError("--kernel is for code objects; write FILE.py:KERNEL")
    compiled = compile_kernel(options.kernel, options.signature, options.target, options.variables)
    return Inspected(compiled.name, compiled.code_object, compiled.inspect(), compiled)


def code_of(options: argparse.Namespace) -> tuple[bytes, str | None]:
    """Return the code object that a command is to look at, and the kernel's name, None for all of
    a code object's; AmdjitError says what is wrong with it."""
    if is_object(options.kernel):
        return _object(options), options.name
    if options.name is not None:
        raise LaunchError("--kernel is for code objects; write FILE.py:KERNEL")
    compiled = compile_kernel(options.kernel, options.signature, options.target, options.variables)
    return compiled.code_object, compiled.name


def compile_kernel(
    target: str,
    signature: str,
    processor: str | None,
    variables: bool = False,
    options: Mapping[str, Any] = MappingProxyType({}),
) -> CompiledKernel:
    """Compile `FILE.py:KERNEL`; LaunchError with an example of a signature if it lacks one.

    variables: whether to describe Python's variables in the code object, whatever the kernel's own
    option says. options: other compile options.
    """
    compiled = _compile(target, signature, processor, variables, options)
    assert isinstance(compiled, CompiledKernel)
    return compiled


def compile_bundle(
    target: str, signature: str, processors: list[str], variables: bool = False
) -> CompiledBundle:
    """Compile `FILE.py:KERNEL` for several targets, as `compile_kernel` does for one."""
    if is_object(target):
        raise LaunchError(f"{target} is compiled already: name one target")
    compiled = _compile(target, signature, processors, variables)
    assert isinstance(compiled, CompiledBundle)
    return compiled


def _compile(
    target: str,
    signature: str,
    processors: Any,
    variables: bool,
    options: Mapping[str, Any] = MappingProxyType({}),
) -> CompiledKernel | CompiledBundle:
    file, name = split_name(target)
    kernel = load_kernel(file, name)
    types = parse_signature(signature, kernel.function.__globals__)
    with_variables: dict[str, Any] = {"debug_variables": True} if variables else {}
    with with_example(kernel, target, types):
        compiled: CompiledKernel | CompiledBundle = kernel.compile(
            *types, target=processors, **with_variables, **options
        )
        return compiled


@contextmanager
def with_example(kernel: Kernel, target: str, types: Sequence[object]) -> Iterator[None]:
    """Let an error that types were not given show how `--signature` gives them."""
    try:
        yield
    except LaunchError as error:
        if types or not kernel.parameter_names or "takes" not in str(error):
            raise
        example = ",".join(_likely_type(kernel, parameter) for parameter in kernel.parameter_names)
        raise LaunchError(
            f'{error}; say their types, for example: {target} --signature "{example}"'
        ) from None


def _likely_type(kernel: Kernel, parameter: str) -> str:
    """Return a type that a parameter may have, by how the source uses its name."""
    source = getsource(kernel.function)
    if re.search(rf"\b{parameter}\[[^\]]*,", source):
        return "f32[:, ::1]"
    return "f32[:]" if re.search(rf"\b{parameter}(\[|\.)", source) else "f32"


def _object(options: argparse.Namespace) -> bytes:
    for given, option in (
        (options.signature, "--signature"),
        (options.variables, "--variables"),
    ):
        if given:
            raise LaunchError(f"{option} is for FILE.py:KERNEL; a code object is compiled already")
    return _linked(Path(options.kernel), options.target)


def _read(options: argparse.Namespace) -> Inspected:
    data = _object(options)
    inspection = reading.inspect_object(data, options.name)
    made = time.localtime(Path(options.kernel).stat().st_mtime)
    labels = {"file": options.kernel, "time": time.strftime("%Y-%m-%d %H:%M:%S", made)}
    companion = facts.Companion(sources=measured.sources_of(inspection), labels=labels)
    return Inspected(inspection.kernel, data, replace(inspection, companion=companion))


def _linked(file: Path, target: str | None) -> bytes:
    """Return a code object's bytes, that for a target of a bundle; an object file is linked
    first."""
    try:
        data = file.read_bytes()
    except OSError as error:
        raise LaunchError(f"{file} cannot be read: {error.strerror}") from error
    if bundles.is_bundle(data):
        try:
            return bundles.unbundled(data, target)
        except ValueError as error:
            raise LaunchError(f"{file}: {error}; write --target") from None
    if target is not None:
        raise LaunchError(
            "--target is for FILE.py:KERNEL and bundles; a code object is compiled already"
        )
    return measured.linked(data)
