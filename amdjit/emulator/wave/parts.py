"""Bytes and halves of registers: what SDWA selects of its sources, and what becomes of the rest of
its result (Vega ISA document, "SDWA")."""

from __future__ import annotations

from amdjit.emulator.host.builder import Builder, Value
from amdjit.isa.instruction import Sdwa

_WHOLE = 6
_SIGN, _PRESERVE = 1, 2


def extent_of(selection: int) -> tuple[int, int]:
    """Return the first bit that a selection names, and how many there are."""
    if selection == _WHOLE:
        return 0, 32
    return (selection * 8, 8) if selection < 4 else ((selection - 4) * 16, 16)


def selected_part(b: Builder, whole: Value, selection: int, is_signed: bool) -> Value:
    """Return a part of dwords, extended by zeros or by its sign."""
    first, size = extent_of(selection)
    if size == 32:
        return whole
    shifted = b.shift("lshr", whole, first) if first else whole
    return b.resize(b.resize(shifted, size), 32, is_signed)


def merged_part(b: Builder, value: Value, sdwa: Sdwa, old: Value) -> Value:
    """Return the dwords of a destination: a result, a dword or a half of one, in its place. old:
    what the destination holds."""
    assert sdwa.destination is not None
    first, size = extent_of(sdwa.destination)
    if size == 32:
        return value
    if sdwa.unused == _SIGN:
        extended = b.resize(b.resize(value, size), 32, True)
        return b.shift("shl", extended, first) if first else extended
    ones = (1 << size) - 1
    part = b.and_(value, b.const(value, ones))
    placed = b.shift("shl", part, first) if first else part
    if sdwa.unused != _PRESERVE:
        return placed
    return b.or_(placed, b.and_(old, b.const(old, ~(ones << first))))
