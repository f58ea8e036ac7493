"""What can be measured: kernels with their code, a launch or both, of values and of files."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

from amdjit.api import Kernel
from amdjit.code_object import CodeObject
from amdjit.code_object.bundles import fat_binaries, is_bundle, read_bundle
from amdjit.code_object.elf import ELF_TYPE_RELOCATABLE, MACHINE_AMDGPU, read_elf
from amdjit.compiled_kernel import CompiledKernel
from amdjit.diagnostics import AmdjitError, LaunchError
from amdjit.inspection.facts import Companion
from amdjit.inspection.inspection import SCHEMA as INSPECTION
from amdjit.inspection.inspection import Inspection
from amdjit.inspection.reading import inspect_kernel
from amdjit.late import late
from amdjit.options import read_environment
from amdjit.profiling.launch_facts import SCHEMA as PROFILE
from amdjit.profiling.launch_facts import LaunchFacts, read_profile
from amdjit.profiling.launch_profile import LaunchProfile
from amdjit.profiling.profile import profile

# Only object files need the linker.
if TYPE_CHECKING:
    from amdjit import backend
else:
    backend = late("amdjit.backend")

__all__ = [
    "Measurable",
    "Measured",
    "linked",
    "measured",
    "measured_at",
    "of_compiled",
    "of_launches",
    "sources_of",
    "title_of",
]


@dataclass(frozen=True)
class Measured:
    """A kernel, and what is known of it.

    target: its processor, or target id. details: what tells it from other kernels of its name:
    arguments, options, the launch. file: where it was read from, "" if from no file.
    """

    kernel: str
    target: str
    details: tuple[str, ...] = ()
    inspection: Inspection | None = field(default=None, repr=False)
    launch: LaunchFacts | None = field(default=None, repr=False)
    file: str = ""

    @property
    def title(self) -> str:
        """Its name and what tells it from others."""
        return title_of(self.kernel, self.target, self.details)

    @staticmethod
    def of_code(inspection: Inspection, *details: str) -> Measured:
        """Return a kernel of which the code is known."""
        return Measured(inspection.kernel, inspection.target, details, inspection)


def title_of(kernel: str, target: str, details: Sequence[str]) -> str:
    """Return a kernel's name with the details that distinguish it, its arguments first."""
    arguments = "".join(one for one in details if one.startswith("("))
    others = (one for one in details if not one.startswith("("))
    return f"{kernel}{arguments} {'; '.join((f'for {target}', *others))}"


Measurable = (
    Kernel | CompiledKernel | Inspection | bytes | os.PathLike[str] | LaunchProfile | profile
)


def measured(subject: Measurable, target: str | None = None) -> list[Measured]:
    """Return the kernels of a value: all specialisations of a kernel, all kernels of a code object,
    all launches of a profile.

    target: the processor whose code to take; None for all. AmdjitError if there is none, TypeError
    for a value that has no kernels.
    """
    if isinstance(subject, os.PathLike):
        return measured_at(Path(subject), target)
    found = [one for one in _of_value(subject) if target is None or _is_for(one.target, target)]
    if not found:
        raise AmdjitError(f"{subject!r} has no kernels{f' for {target}' if target else ''}")
    return found


def _of_value(subject: object) -> Iterable[Measured]:
    if isinstance(subject, Inspection):
        return [Measured.of_code(subject)]
    if isinstance(subject, CompiledKernel):
        return [of_compiled(subject)]
    if isinstance(subject, Kernel):
        return map(of_compiled, subject.specialisations)
    if isinstance(subject, LaunchProfile):
        return of_launches([subject])
    if isinstance(subject, profile):
        return of_launches(subject.launches, subject.stopped)
    if isinstance(subject, bytes):
        return _of_bytes(subject)
    raise TypeError(
        f"a kernel, an inspection, a code object or a profile can be measured, not {subject!r}"
    )


def of_compiled(compiled: CompiledKernel, *options: str) -> Measured:
    """Return a kernel of amdjit, which its arguments and options tell from others."""
    arguments = compiled.signature.removeprefix(compiled.name)
    return Measured.of_code(compiled.inspect(), arguments, *options)


def of_launches(
    launches: Sequence[LaunchProfile | LaunchFacts],
    stopped: Sequence[str] = (),
) -> list[Measured]:
    """Return the kernels that were launched, once for each launch.

    stopped: a sentence for each launch that a fault stopped: AmdjitError if there are any, because
    what is counted is not all that was launched.
    """
    if stopped:
        raise AmdjitError("\n".join(stopped))
    several = Counter(launch.kernel for launch in launches)
    counted: Counter[str] = Counter()
    found = []
    for launch in launches:
        counted[launch.kernel] += 1
        number = f" {counted[launch.kernel]} of {several[launch.kernel]}"
        grid, block = (" x ".join(map(str, _short(size))) for size in (launch.grid, launch.block))
        detail = f"launch{number * (several[launch.kernel] > 1)}: grid {grid}, block {block}"
        found.append(_of_launch(launch, detail))
    return found


def _of_launch(launch: LaunchProfile | LaunchFacts, detail: str) -> Measured:
    if isinstance(launch, LaunchFacts):
        return Measured(launch.kernel, launch.target, (detail,), launch=launch)
    inspection = _with_sources(launch.inspection)
    inspection = _as_launched(inspection, prod(launch.block), launch.dynamic_lds)
    return Measured(launch.kernel, inspection.target, (detail,), inspection, launch.facts)


def _short(size: tuple[int, ...]) -> tuple[int, ...]:
    """Return a size without the axes that it does not use."""
    return size if size[2] > 1 else size[:2] if size[1] > 1 else size[:1]


def _as_launched(inspection: Inspection, block: int, dynamic_lds: int) -> Inspection:
    """Return an inspection with the LDS and the occupancy of a launch."""
    return replace(
        inspection,
        lds_bytes=inspection.lds_bytes + dynamic_lds,
        occupancy=inspection.occupancy_at(block, dynamic_lds),
    )


# Files.

_OWN_JSON = re.compile(rb'\s*\{\s*"schema":\s*"amdjit\.')


def measured_at(path: Path, target: str | None = None) -> list[Measured]:
    """Return the kernels of a file or folder, in the order of names.

    A file is a code object, an offload bundle, an object or program of the host with bundles in it,
    or the JSON of an inspection or profile. In a folder, files of other kinds are passed over;
    beside a code object of Triton its metadata are read. target: the processor, or target id, whose
    code to take; None for all. AmdjitError if there are no kernels, or if a file is damaged.
    """
    files = sorted(each for each in path.rglob("*") if each.is_file()) if path.is_dir() else [path]
    found = [one for each in files for one in _of_file(each, target, path)]
    if not found:
        kinds = "code objects, bundles, host files with bundles, and JSON of amdjit"
        of_target = f" for {target}" if target else ""
        raise AmdjitError(f"{path}: no kernels{of_target} are there; {kinds} are looked for")
    return found


def _of_file(file: Path, target: str | None, asked: Path) -> Iterator[Measured]:
    try:
        data = file.read_bytes()
    except OSError as error:
        raise LaunchError(f"{file} cannot be read: {error.strerror}") from error
    try:
        if _OWN_JSON.match(data):
            found = _of_json(data.decode(errors="replace"))
        elif is_bundle(data) or data.startswith(b"\x7fELF"):
            found = list(_of_bytes(data, target, _triton_metadata(file)))
        elif file == asked:
            raise AmdjitError("this is no code object, no bundle and no JSON of amdjit")
        else:
            return
    except AmdjitError as error:
        raise AmdjitError(f"{file}: {error}") from error
    wanted = (one for one in found if target is None or _is_for(one.target, target))
    yield from (replace(one, file=str(file)) for one in wanted)


def _of_json(text: str) -> list[Measured]:
    try:
        schema = json.loads(text)["schema"]
    except ValueError as error:
        raise AmdjitError(f"this is not JSON: {error}") from None
    if schema == PROFILE:
        return of_launches(*read_profile(text))
    if schema == INSPECTION:
        return [Measured.of_code(Inspection.from_json(text))]
    raise AmdjitError(f"it holds {schema}; inspections ({INSPECTION}) and profiles ({PROFILE}) do")


def _of_bytes(
    data: bytes, target: str | None = None, metadata: Mapping[str, Any] | None = None
) -> Iterator[Measured]:
    """Yield the kernels of a code object, of a bundle, or of the bundles in a host's file, for one
    target or for all. metadata: Triton's."""
    for whole in _code_objects(data, target):
        for _, kernel in sorted(whole.kernels.items()):
            yield _with_metadata(_with_sources(inspect_kernel(whole, kernel)), metadata or {})


def _code_objects(data: bytes, target: str | None) -> Iterator[CodeObject]:
    bundles: Iterable[bytes] = (data,) if is_bundle(data) else ()
    if not bundles and read_elf(data).machine != MACHINE_AMDGPU:
        bundles = fat_binaries(data)
    elif not bundles:
        yield CodeObject.read(linked(data))
    for bundle in bundles:
        content = read_bundle(bundle)
        if content.unknown and target is None:
            unknown = ", ".join(content.unknown)
            raise AmdjitError(
                f"there is code for {unknown}, which amdjit does not know: choose a target"
            )
        for member in content.members:
            if target is None or _is_for(member.target.id, target):
                yield member.code_object


def _is_for(found: str, target: str) -> bool:
    return target in (found, found.partition(":")[0])


def linked(data: bytes) -> bytes:
    """Return the code object that object files become; other bytes as they are."""
    if read_elf(data).type != ELF_TYPE_RELOCATABLE:
        return data
    return backend.link(data, backend.find_linker(read_environment(os.environ)))


def _with_sources(inspection: Inspection) -> Inspection:
    if inspection.companion.sources:
        return inspection
    return replace(inspection, companion=Companion(sources=sources_of(inspection)))


def sources_of(inspection: Inspection) -> Mapping[str, str]:
    """Return the text of the source files that are still where the debug information says."""
    found = {}
    for file in {file for file, _ in inspection.lines}:
        try:
            found[file] = Path(file).read_text(errors="replace")
        except OSError:
            continue
    return found


# Triton's cache: a folder for each kernel, with what the launch will give it in KERNEL.json, and
# the parameters' types in KERNEL.ttir.

_OPTIONS = ("num_warps", "num_stages", "waves_per_eu", "matrix_instr_nonkdim", "kpack")
_PARAMETER = re.compile(r"%([^\s:]+): (!?[^\s,{)]+)")


def _triton_metadata(file: Path) -> Mapping[str, Any]:
    """Return the metadata beside a code object of Triton's, and its parameters as "parameters";
    nothing for others."""
    try:
        found = json.loads(file.with_suffix(".json").read_bytes())
    except (OSError, ValueError):
        return {}
    if not isinstance(found, dict) or "triton_version" not in found:
        return {}
    try:
        head = file.with_suffix(".ttir").read_text().partition("tt.func public @")[2]
    except (OSError, ValueError):
        return found
    parameters = _PARAMETER.findall(head.partition("attributes")[0].partition("\n")[0])
    texts = [f"{name}: {kind.removeprefix('!tt.')}" for name, kind in parameters]
    return found | {"parameters": f"({', '.join(texts)})"}


def _with_metadata(inspection: Inspection, metadata: Mapping[str, Any]) -> Measured:
    """Return a kernel with what Triton's metadata add: its launches get `shared` bytes of LDS."""
    if metadata.get("name") != inspection.kernel:
        return Measured.of_code(inspection)
    shared = int(metadata.get("shared", 0))
    inspection = _as_launched(inspection, inspection.workgroup_size, shared)
    parameters = [metadata["parameters"]] if metadata.get("parameters") else []
    options = [f"{name}={metadata[name]}" for name in _OPTIONS if metadata.get(name)]
    return Measured.of_code(inspection, *parameters, *options)
