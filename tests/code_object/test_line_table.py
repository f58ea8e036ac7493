"""Machine addresses map to the lines that llvm-dwarfdump and pyelftools find."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest

from amdjit.code_object import CodeObject, LineRow, LineTable, MalformedCodeObject
from amdjit.code_object.elf import ElfFile, Section
from amdjit.code_object.line_table import read_line_table
from tests.code_object import oracles


@pytest.mark.parametrize("dwarf", [3, 4, 5])
def test_rows_are_those_of_dwarfdump(
    build: Callable[..., bytes], tmp_path: Path, dwarf: int
) -> None:
    path = tmp_path / "linked.co"
    path.write_bytes(build("saxpy", dwarf=dwarf))
    rows = CodeObject.read(path.read_bytes()).line_table.rows
    assert [(row.address, row.line, row.ends_sequence) for row in rows] == oracles.line_rows(path)
    assert len(rows) > 5


@pytest.mark.parametrize("dwarf", [4, 5])
def test_files_are_those_of_pyelftools(build: Callable[..., bytes], dwarf: int) -> None:
    elffile = pytest.importorskip("elftools.elf.elffile")
    data = build("saxpy", dwarf=dwarf)
    dwarf_info = elffile.ELFFile(io.BytesIO(data)).get_dwarf_info()
    unit = next(iter(dwarf_info.iter_CUs()))
    program = dwarf_info.line_program_for_CU(unit)
    names = {entry.name.decode() for entry in program["file_entry"]}
    states = [entry.state for entry in program.get_entries() if entry.state is not None]
    rows = CodeObject.read(data).line_table.rows
    assert [(row.address, row.line) for row in rows] == [
        (state.address, state.line) for state in states
    ]
    assert {row.file.rsplit("/", 1)[-1] for row in rows} == {
        name.rsplit("/", 1)[-1] for name in names
    }


def test_every_pc_of_the_kernel_has_a_line_and_no_other_pc_has(build: Callable[..., bytes]) -> None:
    code_object = CodeObject.read(build("saxpy"))
    kernel = code_object.kernels["saxpy"]
    end = kernel.entry_address + kernel.code_size
    found = [code_object.line_of(pc) for pc in range(kernel.entry_address, end, 4)]
    assert {line for line in found if line} == {
        ("/kernels/saxpy.py", line) for line in (4, 5, 6, 7)
    }
    assert None not in found
    assert code_object.line_of(kernel.entry_address - 4) is None
    assert code_object.line_of(end) is None


def test_a_code_object_without_debug_information_has_no_lines(build: Callable[..., bytes]) -> None:
    code_object = CodeObject.read(build("everything"))
    assert code_object.line_table.rows == ()
    assert code_object.line_of(code_object.kernels["reverse"].entry_address) is None


def test_code_of_no_line_takes_the_line_before_it_in_its_sequence() -> None:
    table = LineTable(
        (
            LineRow(0x100, "a.py", 7),
            LineRow(0x108, "a.py", 0),
            LineRow(0x110, "a.py", 7, ends_sequence=True),
            LineRow(0x110, "b.py", 0),
            LineRow(0x118, "b.py", 2),
        )
    )
    assert table.line_of(0x10C) == ("a.py", 7)
    assert table.line_of(0x114) is None
    assert table.line_of(0x118) == ("b.py", 2)


def _elf_with_lines(content: bytes) -> ElfFile:
    section = Section(".debug_line", 1, 0, 0, 0, len(content), 0, 0)
    return ElfFile(content, 3, 224, 0x4E, 64, 3, (section,), (), ())


def _version_3(program: bytes, files: bytes, line_range: int = 14) -> ElfFile:
    """Return a unit with standard opcodes 1 to 9 as DWARF 2 had them."""
    fields = bytes([4, 1, 0xFB, line_range, 10]) + bytes([0, 1, 1, 1, 1, 0, 0, 0, 1]) + files
    body = (3).to_bytes(2, "little") + len(fields).to_bytes(4, "little") + fields + program
    return _elf_with_lines(len(body).to_bytes(4, "little") + body)


def test_opcodes_that_llvm_does_not_use_here_do_what_the_standard_says() -> None:
    files = b"dir\0\0" + b"one.py\0\x00\x00\x00" + b"two.py\0\x01\x00\x00" + b"\0"
    set_address = b"\x00\x09\x02" + (0x1000).to_bytes(8, "little")
    program = (
        set_address
        + b"\x03\x09"  # advance line by 9: 10
        + b"\x01"  # copy
        + b"\x08"  # const_add_pc: (255 - 10) / 14 = 17 instructions of 4 bytes
        + b"\x04\x02"  # file 2
        + b"\x03\x7f"  # line -1: 9
        + b"\x01"
        + b"\x09\x20\x00"  # fixed advance by 0x20
        + b"\x05\x03"  # column: ignored
        + b"\x00\x02\x04\x07"  # discriminator 7, of the next row
        + b"\x02\x02"  # advance pc by 2 instructions
        + bytes([10 + 5 + 14 + 3])  # special: 1 instruction, line 9 - 5 + 8 = 12
        + b"\x00\x01\x01"  # end of sequence
    )
    rows = read_line_table(_version_3(program, files)).rows
    assert [(row.address, row.file, row.line) for row in rows] == [
        (0x1000, "one.py", 10),
        (0x1000 + 68, "dir/two.py", 9),
        (0x1000 + 68 + 0x20 + 8 + 4, "dir/two.py", 12),
        (0x1000 + 68 + 0x20 + 8 + 4, "dir/two.py", 12),
    ]
    assert rows[-1].ends_sequence
    assert [row.discriminator for row in rows] == [0, 0, 7, 0]


@pytest.mark.parametrize(
    ("elf", "words"),
    [
        (_version_3(b"\x01", b"\0\0", line_range=0), "line range 0"),
        (_version_3(b"\x02" + b"\xff" * 12, b"\0\0"), "LEB128"),
        (_version_3(b"\x00\x09\x02\x00", b"\0\0"), "ends at"),
        (_elf_with_lines(b"\xff\xff\xff\xff" + b"\xff" * 8), "bounds"),
        (_elf_with_lines((2).to_bytes(4, "little") + b"\x09\x00"), "version 9"),
        (_elf_with_lines(b"\x00\x00"), "ends at"),
    ],
)
def test_a_broken_table_is_refused(elf: ElfFile, words: str) -> None:
    with pytest.raises(MalformedCodeObject, match=words):
        read_line_table(elf)


def test_a_directory_of_windows_and_an_absolute_file_keep_their_form() -> None:
    files = b"C:\\code\0\0" + b"k.py\0\x01\x00\x00" + b"D:\\x\\abs.py\0\x01\x00\x00" + b"\0"
    rows = read_line_table(_version_3(b"\x01\x04\x02\x01", files)).rows
    assert [row.file for row in rows] == ["C:\\code\\k.py", "D:\\x\\abs.py"]
