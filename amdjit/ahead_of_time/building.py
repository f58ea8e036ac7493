"""Build a kernel: from its types to the files that a program without Python needs."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from amdjit import api
from amdjit.ahead_of_time import refusals
from amdjit.ahead_of_time.built_targets import BuiltTarget, built_target
from amdjit.ahead_of_time.c_names import c_identifier
from amdjit.ahead_of_time.example import example_text
from amdjit.ahead_of_time.header import embedded_source, header_text
from amdjit.ahead_of_time.interface import Interface, interface_of
from amdjit.ahead_of_time.metadata import metadata_text
from amdjit.ahead_of_time.source_paths import with_relative_paths
from amdjit.code_object.bundles import write_bundle
from amdjit.compiled_kernel import CompiledKernel
from amdjit.diagnostics import LaunchError
from amdjit.diagnostics.errors import BackendError, InternalError
from amdjit.launching.compiled_bundle import CompiledBundle, bundled_targets
from amdjit.launching.kernel_options import checked_options
from amdjit.options import default_target, read_environment

__all__ = ["Build", "build"]

_EXAMPLE = "main.c"


@dataclass(frozen=True)
class Build:
    """The files of a kernel for programs without Python, by their names.

    name: the beginning of the files' names and of those in C. targets: what there is code for.
    """

    name: str
    interface: Interface
    targets: tuple[BuiltTarget, ...]
    files: Mapping[str, bytes]

    def write(self, folder: str | os.PathLike[str]) -> tuple[Path, ...]:
        """Write the files to a folder, which is made if it is not there; return what was written.

        An example that is there is kept: it may have been changed. BackendError if a file cannot be
        written.
        """
        place, written = Path(folder), []
        try:
            place.mkdir(parents=True, exist_ok=True)
            for name, content in self.files.items():
                file = place / name
                if name == _EXAMPLE and file.exists() and file.read_bytes() != content:
                    continue
                file.write_bytes(content)
                written.append(file)
        except OSError as error:
            raise BackendError(
                f"{error.filename or place} cannot be written: {error.strerror}; name another "
                "folder"
            ) from error
        return tuple(written)


def build(
    kernel: api.Kernel,
    *arguments: Any,
    target: str | Sequence[str] | None = None,
    name: str | None = None,
    embed: bool = False,
    debug_info: bool = False,
    **options: Any,
) -> Build:
    """Compile a kernel for the types of its arguments, and return its files.

    arguments: as `Kernel.compile` takes them. target: a processor or target id, or several, whose
    code stands in one bundle. name: what files and C names begin with, else the kernel's name.
    embed: also make a C file that holds the code. debug_info: keep source lines, with files named
    from the folder of the kernel's file on; else the code has none. options: compile options.

    The same kernel, types, targets and options give the same bytes on every machine with the same
    amdjit and LLVM. LaunchError for a kernel that needs Python at its launch, OptionError for
    options, and the errors of a compilation.
    """
    refusals.check_options(options)
    # What the kernel's decorator says of debug information holds for launches from Python.
    chosen = {**options, "debug_info": debug_info, "debug_variables": False}
    members = _compiled(kernel, arguments, target, chosen)
    for member in members:
        refusals.check(member)
    interface = _common_interface(members, kernel.parameter_names)
    prefix = c_identifier(kernel.__name__) if name is None else _checked_name(name)
    targets = tuple(built_target(member, _code(member, kernel)) for member in members)
    return _build(prefix, interface, targets, embed, options, members[0].options.print_buffer)


def _compiled(
    kernel: api.Kernel,
    arguments: tuple[Any, ...],
    target: str | Sequence[str] | None,
    options: dict[str, Any],
) -> tuple[CompiledKernel, ...]:
    given = [target] if isinstance(target, str) else target
    if given is None:
        given = [default_target(read_environment(os.environ)).id]
    names = [each.id for each in bundled_targets(tuple(given))]
    compiled = kernel.compile(*arguments, target=names, **options)
    assert isinstance(compiled, CompiledBundle)
    return compiled.members


def _code(compiled: CompiledKernel, kernel: api.Kernel) -> bytes:
    if not compiled.options.debug_info:
        return compiled.code_object
    file = Path(kernel.function.__code__.co_filename)
    return with_relative_paths(compiled, file.resolve().parent)


def _checked_name(name: str) -> str:
    if not name.isidentifier() or c_identifier(name) != name:
        raise LaunchError(f"name={name!r}: give a name that C can have, such as scale_f32")
    return name


def _common_interface(members: Sequence[CompiledKernel], names: Sequence[str]) -> Interface:
    """Return the interface that the code for every target has."""
    found = [interface_of(member, names) for member in members]
    for interface, member in zip(found, members, strict=True):
        _check_offsets(interface, member)
        if interface != found[0]:
            first = members[0]
            raise LaunchError(
                f"{member.name}: the code for {member.target} and that for {first.target} take "
                "different arguments, because the kernel uses its parameters differently: build "
                "them into two folders, or give Python's numbers types, such as i32"
            )
    return found[0]


def _check_offsets(interface: Interface, compiled: CompiledKernel) -> None:
    """Compare the kernarg layout with what LLVM wrote into the code object."""
    metadata = compiled.linked.kernels[compiled.name].metadata
    explicit = [each for each in metadata.arguments if not each.is_hidden]
    written = [each.offset for each in explicit]
    if written != [value.offset for value in interface.values]:
        raise InternalError(f"{compiled.name}: the code object has its arguments at {written}")


def _build(
    name: str,
    interface: Interface,
    targets: tuple[BuiltTarget, ...],
    embed: bool,
    options: dict[str, Any],
    print_buffer: int,
) -> Build:
    is_bundle = len(targets) > 1
    binary = f"{name}.hipfb" if is_bundle else f"{name}.hsaco"
    data = targets[0].code_object
    if is_bundle:
        data = write_bundle([(each.target, each.code_object) for each in targets])
    header = header_text(name, interface, targets, embed, print_buffer)
    texts = {
        f"{name}.h": header,
        **({f"{name}_code_object.c": embedded_source(name, data)} if embed else {}),
        _EXAMPLE: example_text(name, binary, interface, targets, embed),
    }
    files = [binary, *texts, f"{name}.json"]
    texts[f"{name}.json"] = metadata_text(name, interface, targets, checked_options(options), files)
    encoded = {file: text.encode() for file, text in texts.items()}
    return Build(name, interface, targets, {binary: data, **encoded})
