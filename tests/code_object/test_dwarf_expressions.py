"""Locations are put into the words of an assembler, and broken expressions are refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amdjit.code_object.bytes_reader import MalformedCodeObject
from amdjit.code_object.dwarf_variables import (
    Location,
    Register,
    read_location,
    register,
    register_text,
)


def uleb(value: int) -> bytes:
    low = bytes([value & 0x7F | (0x80 if value > 0x7F else 0)])
    return low + uleb(value >> 7) if value > 0x7F else low


def regx(number: int) -> bytes:
    return b"\x90" + uleb(number)


PIECE = b"\x93\x04"
V4, V5, V6, S2, S3 = regx(1540), regx(1541), regx(1542), regx(34), regx(35)


@pytest.mark.parametrize(
    ("expression", "text", "registers"),
    [
        (V4, "v4", "v4"),
        (regx(2564), "v4", "v4"),  # in waves of 64 lanes
        (regx(1088), "s64", "s64"),
        (b"\x50", "register 0", ""),
        (S2 + PIECE + S3 + PIECE, "s[2:3]", "s2 s3"),
        (V4 + PIECE + V5 + PIECE + V6 + PIECE, "v[4:6]", "v4 v5 v6"),
        (V4 + PIECE + V6 + PIECE, "v4, v6", "v4 v6"),
        (V5 + PIECE + V4 + PIECE, "v5, v4", "v4 v5"),
        (V4 + PIECE + PIECE + S2 + PIECE, "v4, ?, s2", "v4 s2"),
        (V4 + PIECE + b"\x33\x9f" + PIECE, "v4, 3", "v4"),
        (PIECE, "", ""),
        (b"", "", ""),
        (b"\x33\x9f", "3", ""),
        (b"\x11\x7f\x9f", "-1", ""),
        (b"\x9e\x04\x00\x01\x00\x00", "256", ""),
        (b"\x91\x08", "scratch[fp + 8]", ""),
        (b"\x92\x40\x78", "scratch[s32 - 8]", "s32"),
        (b"\x92\x84\x0c\x00\x31\x16\x18", "v4", "v4"),  # clang's variable of private memory
        (b"\x92\x84\x0c\x00\x9f", "v4", "v4"),
        (b"\x92\x84\x0c\x04\x9f", "v4 + 4", "v4"),
        (b"\x92\x84\x0c\x00\x92\x22\x00\x22\x32\x24\x9f", "(v4 + s2) << 2", "v4 s2"),
        (b"\x92\x84\x0c\x00\x23\x10\x20\x9f", "~(v4 + 16)", "v4"),
        (b"\x92\x84\x0c\x00\xa8\x20\xa8\x28\x9f", "v4", "v4"),  # conversions
        (b"\x22\x9f", "", ""),  # nothing to add
        (b"\xa3\x01\x50\x9f", "", ""),  # the value at entry, which is no register of here
        (b"\xff\x01\x02", "", ""),  # an operation that no standard has
    ],
)
def test_a_location_is_put_into_words(expression: bytes, text: str, registers: str) -> None:
    found = read_location(expression)
    assert found.text == text
    assert {f"{r.bank}{r.number}" for r in found.registers if len(r.bank) == 1} == set(
        registers.split()
    )


@pytest.mark.parametrize(
    "expression", [b"\x90", b"\x92\x80", b"\x0e\x00", b"\x9e\x09\x00", b"\x31" * 300]
)
def test_a_broken_expression_is_refused(expression: bytes) -> None:
    with pytest.raises(MalformedCodeObject):
        read_location(expression)


@given(st.binary(max_size=40))
def test_any_bytes_are_read_or_refused(expression: bytes) -> None:
    try:
        found = read_location(expression)
    except MalformedCodeObject:
        return
    assert isinstance(found, Location)


def test_neighbours_are_written_as_a_range_and_numbers_tell_the_bank() -> None:
    assert register_text([Register("v", 1), Register("v", 2), Register("s", 3)]) == "v[1:2], s3"
    assert register_text([Register("exec"), Register("exec")]) == "exec, exec"
    everyone = [register(number) for number in range(4096)]
    for bank, count in (("v", 512), ("a", 512), ("s", 106)):
        assert sum(r.bank == bank for r in everyone) == count
    # LLVM AMDGPU guide: SGPR0 to 63 follow 32, SGPR64 to 105 follow 1088.
    assert [register(n) for n in (32, 95, 1088, 1129)] == [
        Register("s", n) for n in (0, 63, 64, 105)
    ]
