"""Builds a kernel: from its types to the files that a program without Python needs."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from amdjit import api, backend
from amdjit.ahead_of_time.built_targets import BuiltTarget, built_target
from amdjit.ahead_of_time.c_checks import relied_on
from amdjit.ahead_of_time.c_names import c_identifier
from amdjit.ahead_of_time.example import example_text
from amdjit.ahead_of_time.header import embedded_source, header_text
from amdjit.ahead_of_time.interface import (
    CompiledIn,
    Group,
    Interface,
    MachineValue,
    Parameter,
    interface_of,
)
from amdjit.code_object.bundles import write_bundle
from amdjit.compiled_kernel import CompiledKernel
from amdjit.diagnostics import LaunchError
from amdjit.diagnostics.errors import BackendError, InternalError
from amdjit.frontend import OutsideArray
from amdjit.language.launch_numbers import LaunchUse
from amdjit.launching.compiled_bundle import CompiledBundle, bundled_targets
from amdjit.launching.kernel_options import checked_options
from amdjit.options import OptionError, default_target, read_environment
from amdjit.types import Array

__all__ = ["FORMAT", "Build", "build"]

_EXAMPLE = "main.c"


@dataclass(frozen=True)
class Build:
    """The files of a kernel for programs without Python, by their names."""

    name: str
    """The beginning of the names of the files and of the names in C."""
    interface: Interface
    targets: tuple[BuiltTarget, ...]
    """The targets that there is code for."""
    files: Mapping[str, bytes]

    def write(self, folder: str | os.PathLike[str]) -> tuple[Path, ...]:
        """Write the files to a folder, which is made if it does not exist; return the paths that
        were written.

        An existing example is not overwritten, because it may have been changed. BackendError if a
        file cannot be written.
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
    code is put into one bundle. name: what files and C names begin with, by default the kernel's
    name. embed: also make a C file that holds the code. debug_info: include source lines, with
    paths relative to the folder of the kernel's file; by default the code has none. options:
    compile options.

    The same kernel, types, targets and options give the same bytes on every machine with the same
    amdjit and LLVM. LaunchError for a kernel that needs Python at its launch, OptionError for wrong
    options, and the errors of a compilation.
    """
    check_options(options)
    # What the kernel's decorator says about debug information is meant for launches from Python.
    chosen = {**options, "debug_info": debug_info, "debug_variables": False}
    members = _compiled(kernel, arguments, target, chosen)
    for member in members:
        check(member)
    interface = _common_interface(members, kernel.parameter_names)
    prefix = c_identifier(kernel.__name__) if name is None else _checked_name(name)
    targets = tuple(built_target(member, _code(member, kernel)) for member in members)
    return _build(
        prefix,
        interface,
        targets=targets,
        embed=embed,
        options=options,
        print_buffer=members[0].options.print_buffer,
    )


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
    """Return the interface that the code for all targets shares."""
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


# Kernels that a program without Python cannot launch are refused, with what to write instead.


def check_options(options: dict[str, object]) -> None:
    """Raise OptionError for options about things that a build decides in another way."""
    if options.get("debug_variables"):
        raise OptionError(
            "debug_variables=True: what is built describes no variables; leave the option out, "
            "and look at them with `amdjit inspect --variables`"
        )


def check(compiled: CompiledKernel) -> None:
    """Raise LaunchError for a kernel that needs Python at its launch, with the place and a
    remedy."""
    for use in compiled.launch_uses:
        if isinstance(use, OutsideArray):
            raise LaunchError(
                f"{compiled.name}: it uses the array {use.name}, which is none of its parameters, "
                "and which the launch finds in Python: pass it as an argument"
            )
        if isinstance(use, LaunchUse) and use.number.compute is not None:
            names = " and ".join(sorted(use.number.parameters))
            raise LaunchError(
                f"{compiled.name}: `{use.number.text}` in line {use.span.line} is computed by "
                f"Python at each launch, from {names} without a type: give {names} a type in the "
                "signature, such as i32 instead of int, or f32 instead of float"
            )


# Source lines in code objects without the paths of the machine that compiled them.
#
# before: !DIFile(filename: "kernels.py", directory: "/home/me/project")
# after:  !DIFile(filename: "kernels.py", directory: "")
#
# Paths are relative to the folder of the kernel's own file if the file is in it, otherwise to the
# folder of the package that it belongs to.

_FILE = re.compile(r'!DIFile\(filename: "([^"]*)", directory: "([^"]*)"\)')
_ESCAPE = re.compile(r"\\([0-9A-Fa-f]{2})")


def with_relative_paths(compiled: CompiledKernel, folder: Path) -> bytes:
    """Return the code object of a kernel in which the paths of source files are relative to a
    folder.

    BackendError as of a compilation.
    """

    def renamed(found: re.Match[str]) -> str:
        path = _relative(PurePath(_text(found[2]), _text(found[1])), folder)
        directory = path.parent.as_posix()
        shown = "" if directory == "." else directory
        return f'!DIFile(filename: "{_quoted(path.name)}", directory: "{_quoted(shown)}")'

    environment = read_environment(os.environ)
    llvm = _FILE.sub(renamed, compiled.optimized_llvm)
    relocatable = backend.emit_object(llvm, compiled.target, compiled.options, environment)
    return backend.link(relocatable, backend.find_linker(environment))


def _relative(file: PurePath, folder: Path) -> PurePath:
    if not file.is_absolute():
        return file
    if file.is_relative_to(folder):
        return file.relative_to(folder)
    package = Path(file).parent
    while (package / "__init__.py").is_file():
        package = package.parent
    return file.relative_to(package)


def _text(quoted: str) -> str:
    """Return the text of an LLVM string, in which an escape is a backslash with two hexadecimal
    digits."""
    data = _ESCAPE.sub(lambda found: chr(int(found[1], 16)), quoted)
    return data.encode("latin-1", "surrogateescape").decode(errors="surrogateescape")


def _quoted(text: str) -> str:
    data = text.encode(errors="surrogateescape")
    return "".join(
        chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else f"\\{byte:02x}" for byte in data
    )


# The JSON that describes a build for other programs; `metadata_schema.json` is its schema.

FORMAT = 1
"""The version of the JSON. It changes when programs that read the JSON have to change."""


def metadata_text(
    name: str,
    interface: Interface,
    targets: Sequence[BuiltTarget],
    options: Mapping[str, Any],
    files: Sequence[str],
) -> str:
    """Return the JSON of a build. options: the options that were given, by name."""
    content = {
        "format": FORMAT,
        "name": name,
        "symbol": interface.kernel,
        "signature": interface.signature,
        "options": {key: _plain(options[key]) for key in sorted(options)},
        "files": list(files),
        "parameters": [_parameter(each) for each in interface.parameters],
        "kernarg": {
            "bytes": interface.kernarg_bytes,
            "values": [_value(value) for value in interface.values],
        },
        "targets": [_target(target) for target in targets],
    }
    return json.dumps(content, indent=2) + "\n"


def _plain(value: Any) -> Any:
    """Return an option as a JSON value."""
    if isinstance(value, (set, frozenset, list, tuple)):
        return sorted(value) if isinstance(value, (set, frozenset)) else list(value)
    return value if value is None or isinstance(value, (bool, int, float)) else str(value)


def _parameter(parameter: Parameter) -> dict[str, Any]:
    if isinstance(parameter, CompiledIn):
        return {"name": parameter.name, "kind": "compiled in", "value": parameter.text}
    common = {
        "name": parameter.name,
        "type": str(parameter.type),
        "member": ".".join(parameter.path),
    }
    if isinstance(parameter, Group):
        return {**common, "kind": "tuple", "parts": [_parameter(each) for each in parameter.parts]}
    if not isinstance(parameter.type, Array):
        return {**common, "kind": "value", "used": parameter.used}
    return {
        **common,
        "kind": "array",
        "axes": parameter.type.ndim,
        "has_strides": parameter.type.layout.has_strides,
        "written": parameter.written,
        "relies_on": relied_on(parameter),
    }


def _value(value: MachineValue) -> dict[str, Any]:
    is_address = value.part in ("data", "record")
    return {
        "name": value.member,
        "offset": value.offset,
        "bytes": value.nbytes,
        "type": "address" if is_address else str(value.type),
        "of": value.leaf.name or None,
        "part": value.part,
        "axis": value.axis if value.part in ("extent", "stride") else None,
    }


def _target(target: BuiltTarget) -> dict[str, Any]:
    return {
        "id": target.id,
        "bytes": len(target.code_object),
        "sha256": target.digest,
        "required_block": list(target.required_block) if target.required_block else None,
        **dict(target.numbers),
    }
