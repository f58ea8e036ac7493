"""A threaded program: a record for each instruction, run by `aj_threaded32` or `aj_threaded64`."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from amdjit.emulator.layout import FIELD_BYTES
from amdjit.emulator.tiers.operations import (
    Distance,
    LoopEntry,
    Operation,
    Parameter,
    RegisterAt,
    TableEntry,
    record_bytes,
)


@dataclass(frozen=True, slots=True)
class ThreadedProgram:
    """A translated kernel."""

    code: bytes
    """The offset of each resume id's record, 64 bits each, then the records; operations' addresses
    are 0."""
    calls: dict[str, tuple[int, ...]]
    """For each operation's symbol, where in the code its address must be put."""
    operations: tuple[Operation, ...]
    """The operations that it needs."""
    site_pcs: tuple[int, ...]
    resume_pcs: tuple[int, ...]
    longest: int | None
    may_yield: bool
    calls_host: bool
    instructions: int
    """How many instructions the kernel has."""
    blocks: int
    """How many blocks the kernel has."""


@dataclass(frozen=True, slots=True)
class Record:
    """An operation's symbol, and its parameters in this place."""

    symbol: str
    parameters: tuple[Parameter, ...]

    @property
    def size(self) -> int:
        """The record's bytes."""
        return record_bytes(len(self.parameters))


# A str is a label.
Item = Record | str


def lay_out(
    items: Sequence[Item], resumes: Sequence[str], entries: Mapping[int, int]
) -> tuple[bytes, dict[str, tuple[int, ...]]]:
    """Put records one after the other, after a table of the places of `resumes`; also return the
    calls' places.

    entries: the ids of loops by their pc.
    """
    places, end = _places(items, len(resumes) * FIELD_BYTES)
    parts = [struct.pack(f"<{len(resumes)}Q", *(places[label] for label in resumes))]
    calls: dict[str, list[int]] = {}
    here = len(resumes) * FIELD_BYTES
    for item in items:
        if isinstance(item, str):
            continue
        values = [_value(parameter, here, places, entries) for parameter in item.parameters]
        calls.setdefault(item.symbol, []).append(here)
        parts.append(struct.pack(f"<Q{len(values)}i", 0, *values).ljust(item.size, b"\0"))
        here += item.size
    assert here == end
    return b"".join(parts), {symbol: tuple(found) for symbol, found in calls.items()}


def _places(items: Sequence[Item], first: int) -> tuple[dict[str, int], int]:
    """Return where the labels are, and where the program ends."""
    places = {}
    here = first
    for item in items:
        if isinstance(item, str):
            places[item] = here
        else:
            here += item.size
    return places, here


def _value(
    parameter: Parameter, here: int, places: Mapping[str, int], entries: Mapping[int, int]
) -> int:
    """Return the dword of a parameter in the record at `here`."""
    if isinstance(parameter, RegisterAt):
        return parameter.offset
    if isinstance(parameter, Distance):
        return places[parameter.label] - here
    if isinstance(parameter, TableEntry):
        return parameter.pc if parameter.label is None else places[parameter.label] - here
    return entries[parameter.pc] if isinstance(parameter, LoopEntry) else parameter.value
