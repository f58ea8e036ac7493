"""Moving a wave's registers between their stack slots and its state, which holds them while the
wave does not run."""

from __future__ import annotations

from collections.abc import Iterable

from amdjit.emulator.host.builder import Builder, Value, constant
from amdjit.emulator.layout import SCALAR_BYTES, VGPR_BYTES, WAVE_WAITS
from amdjit.emulator.wave.frame import STATE
from amdjit.emulator.wave.registers import V32
from amdjit.isa.register_numbers import SCC_SLOT

# "s" or "v", and the number.
Name = tuple[str, int]
_SCC = ("s", SCC_SLOT)


def slot_of(b: Builder, register: Name) -> Value:
    """Return the address of a register's slot on the stack."""
    return Value("ptr", f"%{register[0]}{register[1]}.slot")


def place_of(b: Builder, register: Name) -> Value:
    """Return the address of a register in the state."""
    file, index = register
    return b.offset(STATE, index * 4 if file == "s" else SCALAR_BYTES + index * VGPR_BYTES)


def save(b: Builder, registers: Iterable[Name]) -> None:
    """Store registers to the state."""
    for register in registers:
        b.store(_value(b, register), place_of(b, register), _alignment(register))


def save_and_compare(b: Builder, registers: Iterable[Name], result: int) -> Value:
    """Store registers to the state; return `result`, with `WAVE_WAITS` if the state held the same
    values before."""
    changed = constant("i32", 0)
    for register in registers:
        value, place, alignment = _value(b, register), place_of(b, register), _alignment(register)
        old = b.load(value.type, place, alignment)
        change = (
            b.xor(value, old) if register[0] == "s" else b.mask_bits(b.compare("ne", value, old))
        )
        changed = b.or_(changed, change)
        b.store(value, place, alignment)
    same = b.compare("eq", changed, constant("i32", 0))
    return b.select(same, constant("i32", result | WAVE_WAITS), constant("i32", result))


def restore(b: Builder, registers: Iterable[Name]) -> None:
    """Load registers from the state."""
    for register in registers:
        value = b.load(
            "i32" if register[0] == "s" else V32, place_of(b, register), _alignment(register)
        )
        if register == _SCC:
            value = b.resize(value, 1)
        b.store(value, slot_of(b, register), _alignment(register))


def _value(b: Builder, register: Name) -> Value:
    if register == _SCC:
        return b.resize(b.load("i1", slot_of(b, register), 4), 32)
    return b.load("i32" if register[0] == "s" else V32, slot_of(b, register), _alignment(register))


def _alignment(register: Name) -> int:
    return 4 if register[0] == "s" else 64
