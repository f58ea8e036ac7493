"""The kernels' metadata: the msgpack map in the NT_AMDGPU_METADATA note.

Keys are those of the LLVM AMDGPU guide, "Code Object V3 Metadata" with the additions of V4 to V6.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgpack

from amdjit.code_object.bytes_reader import MalformedCodeObject
from amdjit.code_object.elf import ElfFile
from amdjit.late_methods import dataclass

__all__ = ["KernelArgument", "KernelMetadata", "Metadata", "read_metadata"]

_NOTE_OWNER = "AMDGPU"
# NT_AMDGPU_METADATA (LLVM AMDGPU guide, "Note Records").
_NOTE_TYPE_METADATA = 32

# msgpack allocates what the header of an array claims: nested false claims must not add up to much
# memory.
_LONGEST_ARRAY = 16384
_LARGEST_NUMBER = 1 << 32


@dataclass(frozen=True, slots=True)
class KernelArgument:
    """One argument in the kernarg segment, explicit or hidden.

    offset, size: bytes. value_kind: "by_value", "global_buffer", "hidden_block_count_x", ...
    address_space: "global", "local", ... for pointers, else None.
    """

    name: str
    offset: int
    size: int
    value_kind: str
    address_space: str | None

    @property
    def is_hidden(self) -> bool:
        """Whether the device fills in the argument, and not the caller."""
        return self.value_kind.startswith("hidden_")


@dataclass(frozen=True, slots=True)
class KernelMetadata:
    """The compiler's facts about one kernel. Sizes are in bytes, spills in registers."""

    name: str
    symbol: str
    kernarg_size: int
    kernarg_align: int
    group_segment_bytes: int
    """Static LDS."""
    private_segment_bytes: int
    """Scratch of one work-item."""
    sgpr_count: int
    vgpr_count: int
    sgpr_spills: int
    vgpr_spills: int
    wave_size: int
    max_flat_workgroup_size: int
    required_workgroup_size: tuple[int, int, int] | None
    """x, y, z if the kernel fixes them."""
    uses_dynamic_stack: bool
    arguments: tuple[KernelArgument, ...]

    @property
    def explicit_arguments(self) -> tuple[KernelArgument, ...]:
        """The arguments that the caller passes, in the kernel's order."""
        return tuple(argument for argument in self.arguments if not argument.is_hidden)


@dataclass(frozen=True, slots=True)
class Metadata:
    """The compiler's facts about a code object. target: the platform and target id, such as
    "amdgcn-amd-amdhsa--gfx90a:xnack+"; None in those of version 3. kernels: in the note's order.
    printf_formats: of printf into a buffer, as the compiler writes them."""

    target: str | None
    kernels: tuple[KernelMetadata, ...]
    printf_formats: tuple[str, ...] = ()


def read_metadata(elf: ElfFile) -> Metadata:
    """Return the metadata of a code object; MalformedCodeObject without any."""
    notes = [
        note
        for note in elf.notes()
        if (note.owner, note.type) == (_NOTE_OWNER, _NOTE_TYPE_METADATA)
    ]
    if not notes:
        raise MalformedCodeObject("no AMDGPU metadata note")
    root = _mapping(_unpack(notes[0].payload), "metadata")
    kernels = _sequence(root.get("amdhsa.kernels", ()), "amdhsa.kernels")
    return Metadata(
        _text(root, "amdhsa.target") if "amdhsa.target" in root else None,
        tuple(_read_kernel(_mapping(kernel, "kernel")) for kernel in kernels),
        tuple(str(text) for text in _sequence(root.get("amdhsa.printf", ()), "amdhsa.printf")),
    )


def _unpack(payload: bytes) -> object:
    limit = min(len(payload), _LONGEST_ARRAY)
    try:
        return msgpack.unpackb(payload, max_array_len=limit, max_map_len=limit, max_ext_len=0)
    except (ValueError, TypeError, OverflowError, RecursionError, msgpack.UnpackException) as error:
        raise MalformedCodeObject(f"metadata is not sound msgpack: {error}") from error


def _read_kernel(kernel: Mapping[object, object]) -> KernelMetadata:
    name = _text(kernel, ".name")
    arguments = _sequence(kernel.get(".args", ()), ".args")
    return KernelMetadata(
        name=name,
        symbol=_text(kernel, ".symbol"),
        kernarg_size=_number(kernel, ".kernarg_segment_size"),
        kernarg_align=_number(kernel, ".kernarg_segment_align"),
        group_segment_bytes=_number(kernel, ".group_segment_fixed_size"),
        private_segment_bytes=_number(kernel, ".private_segment_fixed_size"),
        sgpr_count=_number(kernel, ".sgpr_count"),
        vgpr_count=_number(kernel, ".vgpr_count"),
        sgpr_spills=_number(kernel, ".sgpr_spill_count", 0),
        vgpr_spills=_number(kernel, ".vgpr_spill_count", 0),
        wave_size=_wave_size(kernel),
        max_flat_workgroup_size=_number(kernel, ".max_flat_workgroup_size"),
        required_workgroup_size=_workgroup_size(kernel.get(".reqd_workgroup_size")),
        uses_dynamic_stack=bool(kernel.get(".uses_dynamic_stack", False)),
        arguments=tuple(_read_argument(_mapping(argument, "argument")) for argument in arguments),
    )


def _read_argument(argument: Mapping[object, object]) -> KernelArgument:
    space = argument.get(".address_space")
    return KernelArgument(
        name=_text(argument, ".name", ""),
        offset=_number(argument, ".offset"),
        size=_number(argument, ".size"),
        value_kind=_text(argument, ".value_kind"),
        address_space=space if isinstance(space, str) else None,
    )


def _wave_size(kernel: Mapping[object, object]) -> int:
    size = _number(kernel, ".wavefront_size")
    if size not in (32, 64):
        raise MalformedCodeObject(f"metadata: .wavefront_size is {size}")
    return size


def _workgroup_size(value: object) -> tuple[int, int, int] | None:
    if value is None:
        return None
    sizes = _sequence(value, ".reqd_workgroup_size")
    if len(sizes) != 3:
        raise MalformedCodeObject(f"metadata: .reqd_workgroup_size has {len(sizes)} entries")
    x, y, z = (_checked_number(size, ".reqd_workgroup_size") for size in sizes)
    return x, y, z


def _mapping(value: object, what: str) -> Mapping[object, object]:
    if not isinstance(value, dict):
        raise MalformedCodeObject(f"metadata: {what} is not a map")
    return value


def _sequence(value: object, what: str) -> Sequence[object]:
    if not isinstance(value, (list, tuple)):
        raise MalformedCodeObject(f"metadata: {what} is not an array")
    return value


def _text(mapping: Mapping[object, object], key: str, default: str | None = None) -> str:
    value = mapping.get(key, default)
    if not isinstance(value, str):
        raise MalformedCodeObject(f"metadata: {key} is missing or not a string")
    return value


def _number(mapping: Mapping[object, object], key: str, default: int | None = None) -> int:
    return _checked_number(mapping.get(key, default), key)


def _checked_number(value: object, key: str) -> int:
    if not isinstance(value, int) or not 0 <= value < _LARGEST_NUMBER:
        raise MalformedCodeObject(f"metadata: {key} is missing or not a 32-bit size: {value!r:.40}")
    return value
