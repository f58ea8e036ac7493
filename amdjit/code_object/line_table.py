"""Machine addresses to source lines: a reader of `.debug_line`, DWARF versions 3 to 5.

Section numbers in comments are those of the DWARF 5 standard. The program is run to its end once;
every read is bounded by its unit, so that no table, however broken, can make it read elsewhere or
run on.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import field

from amdjit.code_object.bytes_reader import BytesReader, MalformedCodeObject, string_at
from amdjit.code_object.elf import ElfFile
from amdjit.late_methods import dataclass

__all__ = ["LineRow", "LineTable", "read_file_names", "read_line_table"]

# A limit far beyond real line tables: a few bytes of a damaged program can emit endless rows.
_MOST_ROWS = 1 << 22
_ADDRESS_MASK = (1 << 64) - 1
_LINE_MASK = (1 << 32) - 1

# 7.22, table 7.27: content types of directory and file entries.
_CONTENT_PATH = 1
_CONTENT_DIRECTORY = 2

# 7.5.6, table 7.6: the forms that entries of the line table may have, with their sizes where fixed.
_FORM_STRING, _FORM_UDATA, _FORM_BLOCK = 0x08, 0x0F, 0x09
_FORM_STRP, _FORM_LINE_STRP = 0x0E, 0x1F
_FIXED_FORMS = {0x0B: 1, 0x05: 2, 0x06: 4, 0x07: 8, 0x1E: 16}

# The sizes of the standard opcodes' operands that LLVM and GCC emit, by opcode (6.2.5.2).
_COPY, _ADVANCE_PC, _ADVANCE_LINE, _SET_FILE = 1, 2, 3, 4
_CONST_ADD_PC, _FIXED_ADVANCE_PC = 8, 9
_END_SEQUENCE, _SET_ADDRESS, _SET_DISCRIMINATOR = 1, 2, 4


@dataclass(frozen=True, slots=True)
class LineRow:
    """From `address` to the next row's address, the code comes from `file`:`line`; line 0 means no
    line. discriminator: tells pieces of a line apart."""

    address: int
    file: str
    line: int
    ends_sequence: bool = False
    discriminator: int = 0


@dataclass(frozen=True, slots=True)
class LineTable:
    """All rows of a code object, by address."""

    rows: tuple[LineRow, ...]
    _addresses: tuple[int, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_addresses", tuple(row.address for row in self.rows))

    def line_of(self, pc: int) -> tuple[str, int] | None:
        """Return the file and line of the instruction at `pc`, or None if the compiler gave none.

        Code that belongs to no line (line 0) takes the line before it in the same sequence.
        """
        index = self._index(pc)
        while index >= 0 and not self.rows[index].ends_sequence:
            row = self.rows[index]
            if row.line:
                return row.file, row.line
            index -= 1
        return None

    def row_of(self, pc: int) -> LineRow | None:
        """Return the row of the instruction at `pc` itself, None if there is none."""
        index = self._index(pc)
        return None if index < 0 or self.rows[index].ends_sequence else self.rows[index]

    def _index(self, pc: int) -> int:
        return bisect_right(self._addresses, pc) - 1


@dataclass(frozen=True, slots=True)
class _Unit:
    """The header of one line-number program."""

    files: tuple[str, ...]
    first_file: int
    instruction_length: int
    line_base: int
    line_range: int
    opcode_base: int
    operand_counts: bytes


@dataclass(slots=True)
class _Registers:
    """The state machine of 6.2.2, as far as rows need it."""

    address: int = 0
    file: int = 1
    line: int = 1
    discriminator: int = 0


@dataclass(frozen=True, slots=True)
class _Strings:
    """The string sections that entries may point into."""

    line_strings: bytes
    strings: bytes


def read_line_table(elf: ElfFile) -> LineTable:
    """Return the file's line table, empty without debug information; MalformedCodeObject if
    broken."""
    data = _section(elf, ".debug_line")
    strings = _strings(elf)
    reader = BytesReader(data, 0, len(data), ".debug_line")
    rows: list[LineRow] = []
    while not reader.exhausted:
        length, offset_size = _initial_length(reader)
        unit = BytesReader(data, reader.position, reader.position + length, ".debug_line unit")
        reader.take(length)
        _read_unit(unit, offset_size, strings, rows)
    return LineTable(_by_address(rows))


def _by_address(rows: list[LineRow]) -> tuple[LineRow, ...]:
    """Order whole sequences by address. Inside one the rows keep their order, also at equal
    addresses."""
    sequences: list[list[LineRow]] = [[]]
    for row in rows:
        sequences[-1].append(row)
        if row.ends_sequence:
            sequences.append([])
    ordered = sorted(
        filter(None, sequences), key=lambda sequence: (sequence[0].address, sequence[-1].address)
    )
    return tuple(row for sequence in ordered for row in sequence)


def _section(elf: ElfFile, name: str) -> bytes:
    section = elf.section(name)
    return elf.section_data(section) if section is not None else b""


def _strings(elf: ElfFile) -> _Strings:
    return _Strings(_section(elf, ".debug_line_str"), _section(elf, ".debug_str"))


def _initial_length(reader: BytesReader) -> tuple[int, int]:
    length = reader.unsigned(4)
    if length == 0xFFFFFFFF:
        return reader.unsigned(8), 8
    return length, 4


def read_file_names(elf: ElfFile, offset: int) -> tuple[tuple[str, ...], int]:
    """Return the files of the unit at an offset of `.debug_line`, and the number of the first;
    MalformedCodeObject if the unit is broken."""
    data = _section(elf, ".debug_line")
    reader = BytesReader(data, min(offset, len(data)), len(data), ".debug_line")
    length, offset_size = _initial_length(reader)
    unit, _ = _read_start(
        BytesReader(data, reader.position, reader.position + length, ".debug_line unit"),
        offset_size,
        _strings(elf),
    )
    return unit.files, unit.first_file


def _read_unit(
    reader: BytesReader, offset_size: int, strings: _Strings, rows: list[LineRow]
) -> None:
    unit, program = _read_start(reader, offset_size, strings)
    _run(BytesReader(reader.data, program, reader.end, ".debug_line program"), unit, rows)


def _read_start(reader: BytesReader, offset_size: int, strings: _Strings) -> tuple[_Unit, int]:
    """Return the header of a unit and where its program starts."""
    version = reader.unsigned(2)
    if not 3 <= version <= 5:
        raise MalformedCodeObject(f".debug_line: version {version}")
    if version == 5:
        reader.take(2)  # address size and segment selector size
    header_length = reader.unsigned(offset_size)
    program = reader.position + header_length
    return _read_header(reader, version, offset_size, strings), program


def _read_header(reader: BytesReader, version: int, offset_size: int, strings: _Strings) -> _Unit:
    instruction_length = reader.unsigned(1)
    if version >= 4:
        reader.take(1)  # maximum operations per instruction: 1 except for VLIW
    reader.take(1)  # default_is_stmt
    line_base, line_range, opcode_base = reader.signed(1), reader.unsigned(1), reader.unsigned(1)
    if line_range == 0 or opcode_base == 0:
        raise MalformedCodeObject(
            f".debug_line: line range {line_range}, opcode base {opcode_base}"
        )
    operand_counts = reader.take(opcode_base - 1)
    if version == 5:
        files = _read_files(reader, offset_size, strings)
        return _Unit(
            files,
            0,
            instruction_length=instruction_length,
            line_base=line_base,
            line_range=line_range,
            opcode_base=opcode_base,
            operand_counts=operand_counts,
        )
    files = _read_old_files(reader)
    return _Unit(
        files,
        1,
        instruction_length=instruction_length,
        line_base=line_base,
        line_range=line_range,
        opcode_base=opcode_base,
        operand_counts=operand_counts,
    )


def _read_files(reader: BytesReader, offset_size: int, strings: _Strings) -> tuple[str, ...]:
    """Read the tables of 6.2.4 (version 5): directory 0 is the compilation's."""
    directories = [path for path, _ in _read_entries(reader, offset_size, strings)]
    return tuple(
        _join(directories, index, path)
        for path, index in _read_entries(reader, offset_size, strings)
    )


def _read_entries(
    reader: BytesReader, offset_size: int, strings: _Strings
) -> list[tuple[str, int]]:
    formats = [(reader.uleb(), reader.uleb()) for _ in range(reader.unsigned(1))]
    count = reader.uleb()
    if count and not formats:
        raise MalformedCodeObject(f".debug_line: {count} entries without a format")
    entries: list[tuple[str, int]] = []
    for _ in range(count):
        path, directory = "", 0
        for content, form in formats:
            value = _read_form(reader, form, offset_size, strings)
            if content == _CONTENT_PATH and isinstance(value, str):
                path = value
            elif content == _CONTENT_DIRECTORY and isinstance(value, int):
                directory = value
        entries.append((path, directory))
    return entries


def _read_form(reader: BytesReader, form: int, offset_size: int, strings: _Strings) -> str | int:
    if form == _FORM_STRING:
        return reader.string()
    if form == _FORM_LINE_STRP:
        return string_at(strings.line_strings, reader.unsigned(offset_size), ".debug_line_str")
    if form == _FORM_STRP:
        return string_at(strings.strings, reader.unsigned(offset_size), ".debug_str")
    if form == _FORM_UDATA:
        return reader.uleb()
    if form == _FORM_BLOCK:
        return int.from_bytes(reader.take(reader.uleb()), "little")
    if form in _FIXED_FORMS:
        return reader.unsigned(_FIXED_FORMS[form])
    raise MalformedCodeObject(f".debug_line: form {form:#x} in an entry")


def _read_old_files(reader: BytesReader) -> tuple[str, ...]:
    """Read the tables of DWARF 3 and 4: NUL-ended lists; directory 0 is the compilation's and not
    named here."""
    directories = [""]
    while name := reader.string():
        directories.append(name)
    files: list[str] = []
    while name := reader.string():
        directory = reader.uleb()
        reader.uleb()  # modification time
        reader.uleb()  # length
        files.append(_join(directories, directory, name))
    return tuple(files)


def _join(directories: list[str], index: int, path: str) -> str:
    absolute = path.startswith(("/", "\\")) or path[1:3] in (":\\", ":/")
    if absolute or not 0 <= index < len(directories) or not directories[index]:
        return path
    directory = directories[index]
    separator = "\\" if "\\" in directory and "/" not in directory else "/"
    return directory.rstrip(separator) + separator + path


def _run(reader: BytesReader, unit: _Unit, rows: list[LineRow]) -> None:
    """Run the line-number program of 6.2.5 and append its rows."""
    registers = _Registers()
    while not reader.exhausted:
        opcode = reader.unsigned(1)
        if opcode >= unit.opcode_base:
            _run_special(opcode - unit.opcode_base, unit, registers, rows)
        elif opcode == 0:
            registers = _run_extended(reader, unit, registers, rows)
        else:
            _run_standard(opcode, reader, unit, registers, rows)
        if len(rows) > _MOST_ROWS:
            raise MalformedCodeObject(f".debug_line: more than {_MOST_ROWS} rows")


def _emit(
    unit: _Unit, registers: _Registers, rows: list[LineRow], ends_sequence: bool = False
) -> None:
    index = registers.file - unit.first_file
    name = unit.files[index] if 0 <= index < len(unit.files) else ""
    found = registers.discriminator
    rows.append(LineRow(registers.address, name, registers.line, ends_sequence, found))
    registers.discriminator = 0


def _advance(unit: _Unit, registers: _Registers, operations: int) -> None:
    registers.address = registers.address + operations * unit.instruction_length & _ADDRESS_MASK


def _run_special(adjusted: int, unit: _Unit, registers: _Registers, rows: list[LineRow]) -> None:
    _advance(unit, registers, adjusted // unit.line_range)
    registers.line = registers.line + unit.line_base + adjusted % unit.line_range & _LINE_MASK
    _emit(unit, registers, rows)


def _run_extended(
    reader: BytesReader, unit: _Unit, registers: _Registers, rows: list[LineRow]
) -> _Registers:
    operands = reader.take(reader.uleb())
    if operands[:1] == bytes([_END_SEQUENCE]):
        _emit(unit, registers, rows, ends_sequence=True)
        return _Registers()
    if operands[:1] == bytes([_SET_ADDRESS]):
        registers.address = int.from_bytes(operands[1:9], "little")
    if operands[:1] == bytes([_SET_DISCRIMINATOR]):
        registers.discriminator = BytesReader(operands, 1, len(operands), ".debug_line").uleb()
    return registers


def _run_standard(
    opcode: int, reader: BytesReader, unit: _Unit, registers: _Registers, rows: list[LineRow]
) -> None:
    if opcode == _COPY:
        _emit(unit, registers, rows)
    elif opcode == _ADVANCE_PC:
        _advance(unit, registers, reader.uleb())
    elif opcode == _ADVANCE_LINE:
        registers.line = registers.line + reader.sleb() & _LINE_MASK
    elif opcode == _SET_FILE:
        registers.file = reader.uleb()
    elif opcode == _CONST_ADD_PC:
        _advance(unit, registers, (255 - unit.opcode_base) // unit.line_range)
    elif opcode == _FIXED_ADVANCE_PC:
        registers.address = registers.address + reader.unsigned(2) & _ADDRESS_MASK
    else:
        # Columns, flags and opcodes from later standards: the header says how many operands to
        # skip.
        for _ in range(unit.operand_counts[opcode - 1]):
            reader.uleb()
