"""Reading any debug information ends soon, with what it says or with MalformedCodeObject."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amdjit.code_object.bytes_reader import MalformedCodeObject
from amdjit.code_object.debug_info import DebugInfo, read_debug_info
from amdjit.code_object.elf import ElfFile, Section, read_elf
from tests.code_object import c_objects

FLAGS = [("-O2", "-gdwarf-3"), ("-O2", "-g")]


def read_all(elf: ElfFile) -> None:
    """Read everything; only MalformedCodeObject may leave."""
    try:
        info = read_debug_info(elf)
    except MalformedCodeObject:
        return
    for address in range(0x1600, 0x1900, 16):
        assert isinstance(info.inline_stack(address), tuple)
        assert isinstance(info.variables_at(address), tuple)


def debug_places(data: bytes) -> list[int]:
    """Return the offsets of all bytes of debug sections."""
    return [
        place
        for section in read_elf(data).sections
        if section.name.startswith(".debug")
        for place in range(section.offset, section.offset + section.size)
    ]


@pytest.mark.sample(1)
@pytest.mark.parametrize("flags", FLAGS, ids=" ".join)
@settings(max_examples=300, deadline=None)
@given(choice=st.data())
def test_mutated_debug_sections_are_read_or_refused(
    flags: tuple[str, ...], choice: st.DataObject
) -> None:
    data = bytearray(c_objects.compiled(flags))
    places = debug_places(bytes(data))
    for _ in range(choice.draw(st.integers(1, 5))):
        place = choice.draw(st.sampled_from(places))
        new = choice.draw(st.binary(min_size=1, max_size=8) | st.sampled_from([b"\xff" * 8, b"\0"]))
        data[place : place + len(new)] = new
    read_all(read_elf(bytes(data[: len(c_objects.compiled(flags))])))


@pytest.mark.sample(1)
@pytest.mark.parametrize("flags", FLAGS, ids=" ".join)
def test_every_byte_of_debug_sections_set_to_255(flags: tuple[str, ...]) -> None:
    data = c_objects.compiled(flags)
    for place in debug_places(data)[::3]:
        read_all(read_elf(data[:place] + b"\xff" + data[place + 1 :]))


def elf_of(**sections: bytes) -> ElfFile:
    content, placed = b"", []
    for name, data in sections.items():
        placed.append(Section(f".debug_{name}", 1, 0, 0, len(content), len(data), 0, 0))
        content += data
    return ElfFile(content, 3, 224, 0x4E, 64, 3, tuple(placed), (), ())


def unit_of(body: bytes, version: int = 4) -> bytes:
    rest = version.to_bytes(2, "little") + bytes(4) + b"\x08" + body
    return len(rest).to_bytes(4, "little") + rest


# Abbreviation 1: a compile unit with children; 2: a lexical block of given addresses with children;
# 3: a variable with a location list and no more; 4: a type that refers to a type.
ABBREVIATIONS = (
    b"\x01\x11\x01\x00\x00"
    b"\x02\x0b\x01\x11\x01\x12\x0b\x00\x00"
    b"\x03\x34\x00\x02\x17\x03\x08\x49\x13\x00\x00"
    b"\x04\x26\x00\x49\x13\x00\x00"
    b"\x00"
)


def block(address: int, size: int) -> bytes:
    return b"\x02" + address.to_bytes(8, "little") + bytes([size])


def test_a_deeply_nested_tree_is_refused() -> None:
    body = b"\x01" + block(0x1600, 8) * 100_000
    with pytest.raises(MalformedCodeObject, match="deep"):
        read_debug_info(elf_of(info=unit_of(body), abbrev=ABBREVIATIONS))


def test_many_variables_that_share_a_long_list_are_refused_soon() -> None:
    piece = (0x10).to_bytes(8, "little") + (0x20).to_bytes(8, "little") + b"\x01\x00\x9f"
    variable = b"\x03" + bytes(4) + b"x\0" + bytes(4)
    body = b"\x01" + block(0x1600, 8) + variable * 5_000
    elf = elf_of(info=unit_of(body), abbrev=ABBREVIATIONS, loc=piece * 5_000 + bytes(16))
    start = time.process_time()
    with pytest.raises(MalformedCodeObject, match="pieces"):
        read_debug_info(elf)
    assert time.process_time() - start < 20


def test_types_in_a_circle_have_no_name() -> None:
    # The type at offset 12 of the unit refers to itself.
    body = b"\x01\x04\x0c\0\0\0" + block(0x1600, 8) + b"\x03" + bytes(4) + b"x\0\x0c\0\0\0"
    place = (0x1600).to_bytes(8, "little") + (0x1608).to_bytes(8, "little") + b"\x01\x00\x50"
    info = read_debug_info(elf_of(info=unit_of(body), abbrev=ABBREVIATIONS, loc=place + bytes(16)))
    (variable,) = info.variables_at(0x1600)
    assert variable.type.strip("const ") == ""


@pytest.mark.parametrize(
    ("info", "words"),
    [
        (b"\xff\xff\xff\xff" + b"\xff" * 8, "bounds"),
        (b"\x00\x00", "ends at"),
        (unit_of(b"\x01", version=9), "version 9"),
        (unit_of(b"\x07"), "no abbreviation 7"),
        (unit_of(b"\x01\x02"), "leaves its unit"),
        (unit_of(b"\xff" * 12), "LEB128"),
        (unit_of(b"\x01" + block(0x1600, 8) + b"\x03" + bytes(4) + b"x"), "does not end"),
    ],
)
def test_a_broken_unit_is_refused(info: bytes, words: str) -> None:
    with pytest.raises(MalformedCodeObject, match=words):
        read_debug_info(elf_of(info=info, abbrev=ABBREVIATIONS))


def test_an_unknown_form_is_refused() -> None:
    abbreviations = b"\x01\x11\x00\x02\x7e\x00\x00\x00"
    with pytest.raises(MalformedCodeObject, match="form 0x7e"):
        read_debug_info(elf_of(info=unit_of(b"\x01\x00"), abbrev=abbreviations))


def test_an_empty_file_has_no_debug_information() -> None:
    assert read_debug_info(elf_of()) == DebugInfo()


def test_an_abbreviation_of_many_attributes_is_refused() -> None:
    """Attributes without bytes of their own would make small entries that take long to read."""
    many = b"".join(bytes([n & 0x7F or 1, 0x19]) for n in range(1000))
    abbreviations = b"\x01\x11\x00" + many + b"\x00\x00\x00"
    with pytest.raises(MalformedCodeObject, match="1000 attributes"):
        read_debug_info(elf_of(info=unit_of(b"\x01"), abbrev=abbreviations))


def test_numbers_of_more_than_70_bits_are_refused() -> None:
    for length in (10, 40):
        with pytest.raises(MalformedCodeObject, match="more than 10 bytes"):
            read_debug_info(elf_of(info=unit_of(b"\x81" * length + b"\x01" * 9), abbrev=b"\x00"))


def test_origins_in_a_circle_have_no_name() -> None:
    # 5: a variable with an origin and a constant value.
    abbreviations = ABBREVIATIONS[:-1] + b"\x05\x34\x00\x31\x13\x1c\x0b\x00\x00\x00"
    start = 11 + 1 + len(block(0, 0))  # of the variable, from the unit's header on
    body = b"\x01" + block(0x1600, 8) + b"\x05" + start.to_bytes(4, "little") + b"\x2a"
    (variable,) = read_debug_info(elf_of(info=unit_of(body), abbrev=abbreviations)).variables_at(
        0x1600
    )
    assert (variable.name, variable.registers) == ("", "42")


def test_forms_may_stand_before_their_values() -> None:
    # 5: a variable with a name and a constant value of a form that the entry says (7.5.3).
    abbreviations = ABBREVIATIONS[:-1] + b"\x05\x34\x00\x03\x08\x1c\x16\x00\x00\x00"
    for form, value, text in (
        (b"\x0b", b"\x07", "7"),
        (b"\x0d", b"\x7e", "-2"),
        (b"\x0f", b"\x80\x01", "128"),
        (b"\x0a", b"\x02\x01\x01", "257"),
    ):
        body = b"\x01" + block(0x1600, 8) + b"\x05" + b"x\0" + form + value
        info = read_debug_info(elf_of(info=unit_of(body), abbrev=abbreviations))
        assert [(v.name, v.registers) for v in info.variables_at(0x1600)] == [("x", text)]
    with pytest.raises(MalformedCodeObject, match="form 0x16"):
        read_debug_info(
            elf_of(
                info=unit_of(b"\x01" + block(0x1600, 8) + b"\x05x\0\x16\x16"), abbrev=abbreviations
            )
        )


def test_a_base_in_an_old_list_moves_what_follows() -> None:
    words = [(0x10, 0x20), ((1 << 64) - 1, 0x2000), (0x10, 0x20)]
    expression = b"\x01\x00\x50"
    pieces = b"".join(
        start.to_bytes(8, "little")
        + end.to_bytes(8, "little")
        + (expression if start < end else b"")
        for start, end in words
    )
    variable = b"\x03" + bytes(4) + b"x\0" + bytes(4)
    info = read_debug_info(
        elf_of(
            info=unit_of(b"\x01" + block(0x1600, 8) + variable),
            abbrev=ABBREVIATIONS,
            loc=pieces + bytes(16),
        )
    )
    assert [bool(info.variables_at(a)) for a in (0x10, 0x20, 0x2010, 0x2020)] == [
        True, False, True, False,
    ]  # fmt: skip
