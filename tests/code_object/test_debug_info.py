"""Inlined calls and variables are those of llvm-symbolizer, pyelftools and llvm-dwarfdump."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from elftools.dwarf.descriptions import describe_DWARF_expr, set_global_machine_arch
from elftools.dwarf.locationlists import BaseAddressEntry, LocationParser
from elftools.elf.elffile import ELFFile

from amdjit.code_object import CodeObject
from amdjit.code_object.debug_info import DebugInfo, read_debug_info
from amdjit.code_object.elf import read_elf
from tests.code_object import c_objects, oracles


@pytest.fixture(params=c_objects.BUILDS, ids=" ".join)
def linked(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / "linked.co"
    path.write_bytes(c_objects.compiled(request.param))
    return path


def debug_info(path: Path) -> DebugInfo:
    return read_debug_info(read_elf(path.read_bytes()))


def code_addresses(path: Path) -> list[int]:
    symbols = CodeObject.read(path.read_bytes()).symbols
    return [
        address
        for symbol in symbols
        if symbol.is_function
        for address in range(symbol.address, symbol.address + symbol.size, 4)
    ]


def frames_of_symbolizer(path: Path, addresses: list[int]) -> list[list[tuple[str, str, int]]]:
    """Return the frames of each address, the innermost first: function, file and line."""
    text = oracles.run(
        "llvm-symbolizer", "--inlines", f"--obj={path}", *(hex(address) for address in addresses)
    )
    stacks = []
    for block in text.strip("\n").split("\n\n"):
        lines = block.split("\n")
        places = [re.fullmatch(r"(.*):(\d+):\d+", line) for line in lines[1::2]]
        stacks.append(
            [
                (function, place[1], int(place[2]))
                for function, place in zip(lines[::2], places, strict=True)
                if place is not None
            ]
        )
    return stacks


def test_inline_stacks_are_those_of_symbolizer_at_every_address(linked: Path) -> None:
    info, addresses = debug_info(linked), code_addresses(linked)
    deepest = 0
    for address, frames in zip(addresses, frames_of_symbolizer(linked, addresses), strict=True):
        expected = [(callee[0], caller[1], caller[2]) for callee, caller in pairwise(frames)]
        found = info.inline_stack(address)
        assert [(function, Path(file).name, line) for function, file, line in found] == [
            (function, Path(file).name, line) for function, file, line in expected
        ], hex(address)
        deepest = max(deepest, len(found))
        scope = info.scope_at(address)
        assert scope is not None
        assert scope.function == frames[0][0]
    assert deepest == 2


def locations_of_pyelftools(path: Path) -> Iterator[tuple[str, int, int, str]]:
    """Yield name, addresses and expression of each piece of a variable in a function."""
    elf = ELFFile(io.BytesIO(path.read_bytes()))
    dwarf = elf.get_dwarf_info()
    set_global_machine_arch("x64")
    parser = LocationParser(dwarf.location_lists())
    for unit in dwarf.iter_CUs():
        base = unit.get_top_DIE().attributes["DW_AT_low_pc"].value
        for die in unit.iter_DIEs():
            location = die.attributes.get("DW_AT_location")
            if location is None or die.tag not in ("DW_TAG_variable", "DW_TAG_formal_parameter"):
                continue
            parsed = parser.parse_from_attribute(location, unit["version"], die)
            if not isinstance(parsed, list):
                for start, end in ranges_of_pyelftools(die.get_parent(), dwarf, base):
                    yield name_of(die), start, end, describe(parsed.loc_expr, unit)
                continue
            for entry in parsed:
                assert not isinstance(entry, BaseAddressEntry)
                first = 0 if entry.is_absolute else base
                text = describe(entry.loc_expr, unit)
                yield name_of(die), first + entry.begin_offset, first + entry.end_offset, text


def ranges_of_pyelftools(scope: Any, dwarf: Any, base: int) -> Iterator[tuple[int, int]]:
    attributes = scope.attributes
    if "DW_AT_ranges" in attributes:
        lists = dwarf.range_lists()
        for entry in lists.get_range_list_at_offset(attributes["DW_AT_ranges"].value, scope.cu):
            first = 0 if entry.is_absolute else base
            yield first + entry.begin_offset, first + entry.end_offset
    elif "DW_AT_low_pc" in attributes:
        low, high = attributes["DW_AT_low_pc"].value, attributes["DW_AT_high_pc"]
        yield low, high.value if high.form == "DW_FORM_addr" else low + high.value
    else:
        yield from ranges_of_pyelftools(scope.get_parent(), dwarf, base)


def name_of(die: Any) -> str:
    while "DW_AT_name" not in die.attributes:
        die = die.get_DIE_from_attribute("DW_AT_abstract_origin")
    return str(die.attributes["DW_AT_name"].value.decode())


PRIVATE = "; DW_OP_lit1; DW_OP_swap; DW_OP_xderef"


def describe(expression: list[int], unit: Any) -> str:
    """Return an expression in amdjit's words, made from those of pyelftools."""
    words = describe_DWARF_expr(expression, unit.structs).strip("()").replace(PRIVATE, "")
    value = words.endswith("; DW_OP_stack_value")
    words = words.removesuffix("; DW_OP_stack_value")
    if match := re.fullmatch(r"DW_OP_fbreg: (\d+)", words):
        return f"scratch[fp + {match[1]}]" if int(match[1]) else "scratch[fp]"
    if match := re.fullmatch(r"DW_OP_(?:lit|const[us]: )(-?\d+)", words):
        return match[1]
    if not value and (match := re.fullmatch(r"DW_OP_b?regx: (\d+)(?: 0)?", words)):
        return register_name(int(match[1]))
    return ", ".join(map(piece_name, words.split("; ")[::2])) if "piece" in words else "?" + words


def register_name(number: int) -> str:
    """As the LLVM AMDGPU guide numbers them: scalar ones, and those of waves of 32 and 64 lanes."""
    if number < 1000:
        return f"s{number - 32}"
    return f"v{number - (2560 if number >= 2560 else 1536)}"


def piece_name(words: str) -> str:
    match = re.fullmatch(r"DW_OP_regx: (\d+)", words)
    return register_name(int(match[1])) if match else "?"


def test_variables_and_their_places_are_those_of_pyelftools(linked: Path) -> None:
    info = debug_info(linked)
    expected = list(locations_of_pyelftools(linked))
    assert not [piece for piece in expected if "?" in piece[3]]
    for address in code_addresses(linked):
        ours = [(v.name, expanded(v.registers)) for v in info.variables_at(address)]
        assert ours == [
            (name, place) for name, start, end, place in expected if start <= address < end
        ], hex(address)


def expanded(registers: str) -> str:
    """Return `s[4:5]` as `s4, s5`."""
    return re.sub(
        r"([vs])\[(\d+):(\d+)\]",
        lambda m: ", ".join(f"{m[1]}{n}" for n in range(int(m[2]), int(m[3]) + 1)),
        registers,
    )


def test_types_have_the_names_of_dwarfdump(linked: Path) -> None:
    text = oracles.run("llvm-dwarfdump", "--debug-info", str(linked))
    pairs = re.findall(
        r'DW_AT_name\t\("(\w+)"\)(?:\n.*decl.*)*\n.*DW_AT_type\t\(0x\w+ "(.*)"\)', text
    )
    info = debug_info(linked)
    found = {
        (v.name, v.type) for address in code_addresses(linked) for v in info.variables_at(address)
    }
    assert found <= set(pairs)


def test_the_producer_is_the_compiler(linked: Path) -> None:
    assert "clang version 22" in debug_info(linked).producer


def test_objects_without_debug_information_have_nothing(build: Callable[..., bytes]) -> None:
    info = read_debug_info(read_elf(build("everything")))
    assert info == DebugInfo()
    assert info.producer == ""
    assert info.inline_stack(0x1600) == ()
    assert info.variables_at(0x1600) == ()
    assert info.scope_at(0x1600) is None
