"""A threaded program: a record for each instruction, run by `aj_threaded32` or `aj_threaded64`."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

from amdjit.emulator.host import record
from amdjit.emulator.host.declaration import Declaration, declare
from amdjit.emulator.host.function import NativeFunction, i32, i64
from amdjit.emulator.layout import DWORD_BYTES, FIELD_BYTES, Context, Launch
from amdjit.emulator.tiers.operation_library import interpreter_symbol
from amdjit.emulator.tiers.operations import (
    FRAME_BYTES,
    LEAVE,
    PATIENCE_OFFSET,
    UPPER_CONTEXT_OFFSET,
    Distance,
    Entry,
    Parameter,
    RegisterAt,
    TableEntry,
    record_bytes,
)
from amdjit.emulator.tiers.pauses import PATIENCE
from amdjit.emulator.tiers.upper_half import write_upper_context
from amdjit.isa.register_numbers import HALF_LANES
from amdjit.late_methods import dataclass


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
    items: Sequence[Item], resumes: Sequence[str]
) -> tuple[bytes, dict[str, tuple[int, ...]]]:
    """Put records one after the other, after a table of the places of `resumes`; also return the
    calls' places. The id of a place is its number in the table, the last one if it has several."""
    entries = {label: number for number, label in enumerate(resumes)}
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
    parameter: Parameter, here: int, places: Mapping[str, int], entries: Mapping[str, int]
) -> int:
    """Return the dword of a parameter in the record at `here`."""
    if isinstance(parameter, RegisterAt):
        return parameter.offset
    if isinstance(parameter, Distance):
        return places[parameter.label] - here
    if isinstance(parameter, TableEntry):
        return parameter.pc if parameter.label is None else places[parameter.label] - here
    return entries[parameter.label] if isinstance(parameter, Entry) else parameter.value


# The wave function of the quick tier: it calls the operations of the program's records one after
# the other.


WHERE = declare("aj_where", "i64", table="ptr", count="i64", pc="i64")


def where_text(attributes: str) -> str:
    """Return `aj_where`: the distance of a pc in a table of an operation (`Parameters.table`), 0 if
    it is not there."""
    f = NativeFunction.of(WHERE)
    table, count, pc = f.parameters
    low, high = f.variable(i64(0)), f.variable(count)
    with f.loop() as search:
        search.leave_unless(f.compare("ult", low.get(), high.get()))
        middle = f.shift("lshr", f.add(low.get(), high.get()), 1)
        entry = f.offset(table, f.shift("shl", middle, 3))
        found = f.resize(f.load("i32", entry, DWORD_BYTES), 64)
        with f.if_(f.compare("eq", found, pc)):
            distance = f.load("i32", f.offset(entry, DWORD_BYTES), DWORD_BYTES)
            f.give(f.resize(distance, 64, signed=True))
        is_below = f.compare("ult", found, pc)
        low.set(f.select(is_below, f.add(middle, i64(1)), low.get()))
        high.set(f.select(is_below, high.get(), middle))
    f.give(i64(0))
    return f.text(attributes)


def _interpreter(wave_size: int) -> Declaration:
    return declare(interpreter_symbol(wave_size), "i32", state="ptr", context="ptr", resume="i32")


def threaded_text(wave_size: int, attributes: str) -> str:
    """Return `aj_threaded32`, a wave function (`full.py`)."""
    f = NativeFunction.of(_interpreter(wave_size))
    state, context, resume = f.parameters
    frame = f.allocate(f"[{FRAME_BYTES} x i8]")
    f.store(i32(PATIENCE), f.offset(frame, PATIENCE_OFFSET), DWORD_BYTES)
    if wave_size > HALF_LANES:
        write_upper_context(f.thread, record.Record(f, f.offset(frame, UPPER_CONTEXT_OFFSET)))
    program = f.thread.follow(Context.LAUNCH).get(Launch.PROGRAM)
    entry = f.offset(program, f.shift("shl", f.resize(resume, 64), 3))
    first = f.offset(program, f.load("i64", entry, FIELD_BYTES))
    with f.loop(record=first) as each:
        operation = f.load("ptr", each.record, FIELD_BYTES)
        result = f.call_pointer(operation, "i64", [context, state, frame, each.record])
        stays = f.compare("slt", result, i64(LEAVE))
        each.again_if(stays, record=f.offset(each.record, result))
    f.give(f.resize(result, 32))
    return f.text(attributes)
