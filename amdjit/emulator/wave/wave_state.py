"""Moving a wave's registers between their stack slots and its state, which holds them while the
wave does not run.

The code for one place where a wave waits loads and stores each register, and LLVM makes SSA values
of the slots. Of large kernels, all slots are in one piece of memory, in the order of the state, and
one native function moves the registers that a table lists.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from amdjit.emulator.host.builder import Builder, Value, constant
from amdjit.emulator.host.declaration import declare
from amdjit.emulator.host.function import NativeFunction, i32, i64
from amdjit.emulator.layout import DWORD_BYTES, SCALAR_BYTES, VGPR_BYTES, WAVE_WAITS
from amdjit.emulator.wave.frame import STATE, Frame
from amdjit.emulator.wave.registers import V32
from amdjit.isa.register_numbers import SCC_SLOT

# Copies registers, whose offsets the table has, scalars first; returns 0 if that changed nothing.
MOVE_REGISTERS = declare(
    "aj_move_registers",
    "i32",
    to="ptr",
    source="ptr",
    table="ptr",
    scalars="i64",
    registers="i64",
)
SLOTS = Value("ptr", "%slots")
# "s" or "v", and the number.
Name = tuple[str, int]
_SCC = ("s", SCC_SLOT)


def slot_of(b: Builder, register: Name) -> Value:
    """Return the address of a register's slot on the stack."""
    return Value("ptr", f"%{register[0]}{register[1]}.slot")


def place_of(b: Builder, register: Name) -> Value:
    """Return the address of a register in the state."""
    return b.offset(STATE, _offset(register))


def _offset(register: Name) -> int:
    file, index = register
    return index * DWORD_BYTES if file == "s" else SCALAR_BYTES + index * VGPR_BYTES


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
    return _result(b, changed, result)


def _result(b: Builder, changed: Value, result: int) -> Value:
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


# Large kernels


def reserve_together(b: Builder, registers: Sequence[Name]) -> None:
    """Reserve one piece of stack memory for the slots of registers. Only in the entry block."""
    size = max(_offset(register) for register in registers) + VGPR_BYTES
    b.reserve(SLOTS, f"[{size} x i8]")
    for register in registers:
        b.bind(slot_of(b, register), SLOTS, _offset(register))
    if _SCC in registers:  # a write changes one byte of the dword
        b.store(i32(0), slot_of(b, _SCC), DWORD_BYTES)


def save_together(frame: Frame, registers: Sequence[Name], result: int, compares: bool) -> Value:
    """As `save`, or as `save_and_compare`; return the wave's result."""
    changed = _move(frame, STATE, SLOTS, registers)
    return _result(frame.builder, changed, result) if compares else i32(result)


def restore_together(frame: Frame, registers: Sequence[Name]) -> None:
    """As `restore`."""
    _move(frame, SLOTS, STATE, registers)


def _move(frame: Frame, to: Value, source: Value, registers: Sequence[Name]) -> Value:
    b, ordered = frame.builder, sorted(registers)
    offsets = ", ".join(f"i32 {_offset(register)}" for register in ordered)
    table = Value("ptr", f"@registers.{len(b.declarations)}")
    b.declarations[table.text] = (
        f"{table.text} = private constant [{len(ordered)} x i32] [{offsets}], align 4"
    )
    scalars = sum(file == "s" for file, _ in ordered)
    frame.natives.add(MOVE_REGISTERS.name)
    return b.invoke(MOVE_REGISTERS, to, source, table, i64(scalars), i64(len(ordered)))


def move_registers_text(attributes: str) -> str:
    """Return `aj_move_registers`."""
    f = NativeFunction.of(MOVE_REGISTERS)
    to, source, table, scalars, registers = f.parameters
    changed = f.variable(i32(0))
    for first, last, kind in ((i64(0), scalars, "i32"), (scalars, registers, V32)):
        alignment = DWORD_BYTES if kind == "i32" else 64
        with f.loop(index=first) as each:
            each.leave_unless(f.compare("ult", each.index, last))
            entry = f.offset(table, f.shift("shl", each.index, 2))
            offset = f.resize(f.load("i32", entry, DWORD_BYTES), 64)
            value, place = f.load(kind, f.offset(source, offset), alignment), f.offset(to, offset)
            different = f.compare("ne", value, f.load(kind, place, alignment))
            changed.set(f.or_(changed.get(), _any_lane(f, different)))
            f.store(value, place, alignment)
            each.again(index=f.add(each.index, i64(1)))
    f.give(changed.get())
    return f.text(attributes)


def _any_lane(f: NativeFunction, condition: Value) -> Value:
    return f.resize(condition, 32) if condition.type == "i1" else f.mask_bits(condition)
