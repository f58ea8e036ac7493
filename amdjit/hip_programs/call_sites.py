"""Lines of the program that called HIP, by the return addresses on its stack."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from amdjit.code_object.bytes_reader import MalformedCodeObject
from amdjit.code_object.debug_info import DebugInfo, read_debug_info
from amdjit.code_object.elf import read_elf
from amdjit.code_object.line_table import LineTable, read_line_table

__all__ = ["CallSites", "is_header"]

_MAPS = Path("/proc/self/maps")


class _Mapping(NamedTuple):
    """A part of a file in memory."""

    start: int
    end: int
    offset: int
    path: str


class _File(NamedTuple):
    """What debug information a file has. places: offset, size and address of its sections."""

    lines: LineTable
    scopes: DebugInfo
    places: tuple[tuple[int, int, int], ...]

    def line_of(self, in_file: int) -> tuple[str, int] | None:
        """Return the line of the code at an offset in the file: that of the call of HIP's header,
        where that is inlined."""
        for offset, size, address in self.places:
            if not offset <= in_file < offset + size:
                continue
            line = self.lines.line_of(in_file - offset + address)
            calls = self.scopes.inline_stack(in_file - offset + address)
            lines = [line, *((file, number) for _, file, number in calls)]
            return next((each for each in lines if each and not is_header(each[0])), None)
        return None


class CallSites:
    """Reads the debug information of the process's files when it is first needed."""

    def __init__(self) -> None:
        self._mappings: list[_Mapping] = []
        self._files: dict[str, _File | None] = {}
        self._lines: dict[int, tuple[str, int] | None] = {}

    def line_of(self, frames: Sequence[int]) -> tuple[str, int] | None:
        """Return the file and line of the innermost call that is not in HIP's headers, None if no
        file has lines."""
        for address in frames:
            if address not in self._lines:
                self._lines[address] = self._line(address - 1)  # of the call, not of what follows
            line = self._lines[address]
            if line is not None:
                return line
        return None

    def _line(self, address: int) -> tuple[str, int] | None:
        mapping = self._mapping(address)
        if mapping is None or not mapping.path.startswith("/"):
            return None
        if mapping.path not in self._files:
            self._files[mapping.path] = _read(mapping.path)
        file = self._files[mapping.path]
        return None if file is None else file.line_of(address - mapping.start + mapping.offset)

    def _mapping(self, address: int) -> _Mapping | None:
        for is_fresh in (False, True):
            if is_fresh:
                self._mappings = sorted(_mappings())
            index = bisect_right(self._mappings, address, key=lambda each: each.start) - 1
            if index >= 0 and address < self._mappings[index].end:
                return self._mappings[index]
        return None


def _mappings() -> list[_Mapping]:
    found = []
    for text in _MAPS.read_text().splitlines():
        fields = text.split(maxsplit=5)
        if len(fields) == 6:
            start, end = (int(each, 16) for each in fields[0].split("-"))
            found.append(_Mapping(start, end, int(fields[2], 16), fields[5]))
    return found


def is_header(file: str) -> bool:
    """Whether a file is a header of HIP."""
    return "include/hip/" in file


def _read(path: str) -> _File | None:
    """Return a file's debug information, None if it has none."""
    try:
        elf = read_elf(Path(path).read_bytes())
        lines, scopes = read_line_table(elf), read_debug_info(elf)
    except (OSError, MalformedCodeObject):
        return None
    places = [(each.offset, each.size, each.address) for each in elf.sections if each.address]
    return _File(lines, scopes, tuple(places)) if lines.rows else None
