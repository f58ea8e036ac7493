"""Reading any bytes ends soon, with a code object or with MalformedCodeObject."""

from __future__ import annotations

import struct
from collections.abc import Callable

import msgpack
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from amdjit.code_object import CodeObject, MalformedCodeObject, read_resources
from amdjit.code_object.debug_info import DebugInfo, read_debug_info
from amdjit.code_object.elf import ElfFile
from amdjit.code_object.metadata import read_metadata
from amdjit.options import named_target

TARGET = named_target("gfx1201")


def read_all(data: bytes) -> None:
    """Read everything there is; only MalformedCodeObject may leave."""
    try:
        code_object = CodeObject.read(data)
    except MalformedCodeObject:
        return
    try:
        info = read_debug_info(code_object.elf)
    except MalformedCodeObject:
        info = DebugInfo()
    for kernel in code_object.kernels.values():
        info.inline_stack(kernel.entry_address)
        info.variables_at(kernel.entry_address)
        read_resources(code_object, kernel, TARGET, 0)
        assert kernel.descriptor.user_sgprs is not None
        code_object.line_of(kernel.entry_address)
        assert len(code_object.code(kernel)) == kernel.code_size


def interesting(data: bytes) -> list[tuple[int, int]]:
    """Return the ranges that steer the reader: headers, section table, notes, descriptors, line
    table."""
    elf = CodeObject.read(data).elf
    ranges = [(0, 64 + 56 * 8), (len(data) - 64 * len(elf.sections), len(data))]
    names = (".note", ".rodata", ".symtab", ".dynsym")
    ranges += [
        (s.offset, s.offset + s.size)
        for s in elf.sections
        if s.size and (s.name in names or s.name.startswith(".debug"))
    ]
    return ranges


def mutations(data: bytes) -> st.SearchStrategy[bytes]:
    place = st.one_of([st.integers(start, end - 1) for start, end in interesting(data)])
    value = st.one_of(
        st.binary(min_size=1, max_size=8),
        st.sampled_from(
            [b"\xff" * n for n in (1, 2, 4, 8)] + [b"\0" * n for n in (1, 4, 8)] + [b"\0\0\0\x7f"]
        ),
    )

    def apply(changes: list[tuple[int, bytes]], end: int | None) -> bytes:
        changed = bytearray(data)
        for position, new in changes:
            changed[position : position + len(new)] = new
        return bytes(changed[:end])

    cut = st.none() | st.integers(0, len(data))
    return st.builds(apply, st.lists(st.tuples(place, value), min_size=1, max_size=6), cut)


@pytest.mark.sample(1)
@settings(
    max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(choice=st.data())
@pytest.mark.parametrize("name", ["saxpy", "everything"])
def test_mutated_code_objects_are_read_or_refused(
    build: Callable[..., bytes], name: str, choice: st.DataObject
) -> None:
    read_all(choice.draw(mutations(build(name))))


@settings(deadline=None, max_examples=200)
@given(st.binary(max_size=300), st.booleans())
def test_random_bytes_are_read_or_refused(data: bytes, magic: bool) -> None:
    read_all(b"\x7fELF\x02\x01\x01\x40\x03" + data if magic else data)


def test_every_truncated_code_object_is_read_or_refused(build: Callable[..., bytes]) -> None:
    data = build("saxpy")
    for end in range(0, len(data), 13):
        read_all(data[:end])


def test_every_single_byte_of_the_headers_set_to_255(build: Callable[..., bytes]) -> None:
    data = build("saxpy")
    for start, end in interesting(data):
        for position in range(start, end, 3):
            read_all(data[:position] + b"\xff" + data[position + 1 :])


def _with(data: bytes, offset: int, layout: str, *values: int) -> bytes:
    changed = bytearray(data)
    struct.pack_into(layout, changed, offset, *values)
    return bytes(changed)


@pytest.mark.parametrize(
    ("offset", "layout", "value", "words"),
    [
        (0, "<I", 0, "not an ELF"),
        (4, "<B", 1, "64-bit"),
        (7, "<B", 0, "OS ABI"),
        (16, "<H", 1, "not linked"),
        (18, "<H", 62, "machine 62"),
        (48, "<B", 0x20, "unknown processor"),
        (32, "<Q", 1 << 63, "program headers"),
        (40, "<Q", 1 << 63, "section headers"),
        (56, "<H", 0xFFFF, "program headers"),
        (60, "<H", 0xFFFF, "section headers"),
        (62, "<H", 0xFFFF, "section headers"),
    ],
)
def test_a_wrong_header_field_is_named(
    build: Callable[..., bytes], offset: int, layout: str, value: int, words: str
) -> None:
    with pytest.raises(MalformedCodeObject, match=words):
        CodeObject.read(_with(build("saxpy"), offset, layout, value))


def test_a_segment_that_claims_much_memory_is_refused(build: Callable[..., bytes]) -> None:
    data = build("saxpy")
    for index in range(8):
        header = 64 + 56 * index
        if struct.unpack_from("<I", data, header) == (1,):
            with pytest.raises(MalformedCodeObject, match="in memory"):
                CodeObject.read(_with(data, header + 40, "<Q", 1 << 60))


def _elf_with_metadata(payload: bytes) -> ElfFile:
    note = (
        struct.pack("<III", 7, len(payload), 32)
        + b"AMDGPU\0\0"
        + payload
        + b"\0" * (-len(payload) % 4)
    )
    return ElfFile(note, 3, 224, 0x4E, 64, 3, (), (), ((0, len(note)),))


KERNEL = {
    ".name": "k",
    ".symbol": "k.kd",
    ".kernarg_segment_size": 8,
    ".kernarg_segment_align": 8,
    ".group_segment_fixed_size": 0,
    ".private_segment_fixed_size": 0,
    ".sgpr_count": 1,
    ".vgpr_count": 1,
    ".wavefront_size": 32,
    ".max_flat_workgroup_size": 64,
}


def test_minimal_metadata_is_read() -> None:
    content = msgpack.packb({"amdhsa.kernels": [KERNEL]})
    (kernel,) = read_metadata(_elf_with_metadata(content)).kernels
    assert (kernel.name, kernel.arguments, kernel.required_workgroup_size, kernel.sgpr_spills) == (
        "k",
        (),
        None,
        0,
    )


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({".name": 3}, ".name"),
        ({".symbol": None}, ".symbol"),
        ({".kernarg_segment_size": -1}, ".kernarg_segment_size"),
        ({".vgpr_count": 1 << 40}, ".vgpr_count"),
        ({".vgpr_count": "many"}, ".vgpr_count"),
        ({".wavefront_size": 48}, ".wavefront_size"),
        ({".reqd_workgroup_size": [1, 2]}, ".reqd_workgroup_size"),
        ({".reqd_workgroup_size": 8}, ".reqd_workgroup_size"),
        ({".args": 4}, ".args"),
        ({".args": [4]}, "argument"),
        ({".args": [{".offset": 0, ".size": 4}]}, ".value_kind"),
    ],
)
def test_metadata_of_the_wrong_kind_is_named(changes: dict[str, object], words: str) -> None:
    with pytest.raises(MalformedCodeObject, match=words):
        read_metadata(_elf_with_metadata(msgpack.packb({"amdhsa.kernels": [KERNEL | changes]})))


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"\xdd\xff\xff\xff\xff",  # an array of 2**32 - 1 values
        b"\xdd\x00\x00\x40\x00" * 5000,  # arrays in arrays, each claiming 16384 values
        b"\x91" * 100_000,  # nested too deeply
        b"\xc7\xff\x01" + b"x" * 255,  # an extension type
        b"\x81\x90\x01",  # a map with an array as key
        b"\xa4abc",
        msgpack.packb([1, 2]),
        msgpack.packb({"amdhsa.kernels": {"a": 1}}),
    ],
)
def test_hostile_msgpack_is_refused(payload: bytes) -> None:
    with pytest.raises(MalformedCodeObject):
        read_metadata(_elf_with_metadata(payload))
