"""The ELF reader and the metadata agree with llvm-readelf on everything they report."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from amdjit.code_object import CodeObject, MalformedCodeObject
from tests.code_object import oracles

BUILDS = [("saxpy", 32), ("saxpy", 64), ("everything", 32), ("everything", 64)]


@pytest.fixture(params=BUILDS, ids=lambda build: f"{build[0]}-wave{build[1]}")
def linked(
    request: pytest.FixtureRequest, build: Callable[..., bytes], tmp_path: Path
) -> tuple[CodeObject, Path]:
    name, wave_size = request.param
    path = tmp_path / "linked.co"
    path.write_bytes(build(name, wave_size))
    return CodeObject.read(path.read_bytes()), path


def test_sections_segments_and_symbols_are_those_of_readelf(
    linked: tuple[CodeObject, Path],
) -> None:
    code_object, path = linked
    expected = oracles.readelf(path)
    sections = [entry["Section"] for entry in expected["Sections"]]
    assert [
        (s.name, s.type, s.address, s.offset, s.size, s.flags) for s in code_object.elf.sections
    ] == [
        (
            s["Name"]["Name"],
            s["Type"]["Value"],
            s["Address"],
            s["Offset"],
            s["Size"],
            s["Flags"]["Value"],
        )
        for s in sections
    ]
    headers = [entry["ProgramHeader"] for entry in expected["ProgramHeaders"]]
    assert [
        (s.address, len(s.data), s.memory_size, s.readable, s.writable, s.executable)
        for s in code_object.segments
    ] == [
        (
            h["VirtualAddress"],
            h["FileSize"],
            h["MemSize"],
            *(bool(h["Flags"]["Value"] & bit) for bit in (4, 2, 1)),
        )
        for h in headers
        if h["Type"]["Name"] == "PT_LOAD"
    ]
    symbols = [entry["Symbol"] for entry in expected["Symbols"]]
    assert [(s.name, s.address, s.size) for s in code_object.symbols] == [
        (s["Name"]["Name"], s["Value"], s["Size"]) for s in symbols
    ]
    flags = expected["ElfHeader"]["Flags"]["Flags"][0]["Name"]
    assert flags == f"EF_AMDGPU_MACH_AMDGCN_{code_object.target_name.upper()}"
    assert code_object.undefined_symbols == ()


def test_relocations_are_those_of_readelf(linked: tuple[CodeObject, Path]) -> None:
    code_object, path = linked
    tables = oracles.readelf(path).get("Relocations", [])
    expected = [entry["Relocation"] for table in tables for entry in table["Relocs"]]
    assert [(r.address, r.type, r.addend) for r in code_object.relocations] == [
        (r["Offset"], r["Type"]["Value"], r["Addend"]) for r in expected
    ]


@pytest.mark.sample(24)
@pytest.mark.parametrize(
    ("key", "field"),
    [
        (".kernarg_segment_size", "kernarg_size"),
        (".kernarg_segment_align", "kernarg_align"),
        (".group_segment_fixed_size", "group_segment_bytes"),
        (".private_segment_fixed_size", "private_segment_bytes"),
        (".sgpr_count", "sgpr_count"),
        (".vgpr_count", "vgpr_count"),
        (".sgpr_spill_count", "sgpr_spills"),
        (".vgpr_spill_count", "vgpr_spills"),
        (".wavefront_size", "wave_size"),
        (".max_flat_workgroup_size", "max_flat_workgroup_size"),
        (".symbol", "symbol"),
        (".uses_dynamic_stack", "uses_dynamic_stack"),
    ],
)
def test_kernel_metadata_is_that_of_readelf(
    linked: tuple[CodeObject, Path], key: str, field: str
) -> None:
    code_object, path = linked
    values = (getattr(kernel.metadata, field) for kernel in code_object.kernels.values())
    assert sorted(
        str(value).lower() if isinstance(value, bool) else str(value) for value in values
    ) == (oracles.note_values(path, key))


def test_argument_metadata_is_that_of_readelf(linked: tuple[CodeObject, Path]) -> None:
    code_object, path = linked
    arguments = [
        argument
        for kernel in code_object.kernels.values()
        for argument in kernel.metadata.arguments
    ]
    assert sorted(str(a.offset) for a in arguments) == oracles.note_values(path, ".offset")
    assert sorted(str(a.size) for a in arguments) == oracles.note_values(path, ".size")
    assert sorted(a.value_kind for a in arguments) == oracles.note_values(path, ".value_kind")
    spaces = sorted(a.address_space for a in arguments if a.address_space)
    assert spaces == oracles.note_values(path, ".address_space")


def test_arguments_have_the_names_and_places_of_the_source(build: Callable[..., bytes]) -> None:
    kernel = CodeObject.read(build("saxpy")).kernels["saxpy"]
    assert [
        (a.name, a.offset, a.size, a.value_kind) for a in kernel.metadata.explicit_arguments
    ] == [
        ("a", 0, 4, "by_value"),
        ("x", 8, 8, "global_buffer"),
        ("y", 16, 8, "global_buffer"),
        ("n", 24, 4, "by_value"),
    ]


def test_hidden_arguments_are_told_from_explicit_ones(build: Callable[..., bytes]) -> None:
    metadata = CodeObject.read(build("everything")).kernels["reverse"].metadata
    assert [a.name for a in metadata.explicit_arguments] == ["data", "k", "dynamic", "flag"]
    assert "hidden_block_count_x" in {a.value_kind for a in metadata.arguments if a.is_hidden}
    assert metadata.required_workgroup_size == (16, 2, 2)


def test_code_and_text_are_the_bytes_of_the_text_section(build: Callable[..., bytes]) -> None:
    code_object = CodeObject.read(build("everything"))
    section = code_object.elf.section(".text")
    assert section is not None
    whole = code_object.elf.section_data(section)
    for kernel in code_object.kernels.values():
        start = kernel.entry_address - section.address
        assert kernel.code_size > 0
        assert code_object.code(kernel) == whole[start : start + kernel.code_size]
        assert code_object.text(kernel.entry_address, 4) == whole[start : start + 4]
    with pytest.raises(MalformedCodeObject, match="no segment"):
        code_object.text(section.address + section.size - 2, 4096)


def test_equal_bytes_make_equal_code_objects(build: Callable[..., bytes]) -> None:
    assert CodeObject.read(build("saxpy")) == CodeObject.read(build("saxpy"))
    assert CodeObject.read(build("saxpy")) != CodeObject.read(build("everything"))
