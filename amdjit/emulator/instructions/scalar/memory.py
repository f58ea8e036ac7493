"""Scalar loads, and gfx9's scalar stores and atomics."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from amdjit.emulator.host.builder import Value, constant
from amdjit.emulator.host.function import NativeFunction, i32, i64
from amdjit.emulator.instructions.buffers.access import resource_words, scalar_length
from amdjit.emulator.instructions.memory.access import store_vectors
from amdjit.emulator.instructions.memory.atomics import (
    Operation,
    emit_atomic,
    memory_operations,
    old_values,
)
from amdjit.emulator.instructions.operation import Emitter
from amdjit.emulator.layout import Context, FaultKind
from amdjit.emulator.wave.frame import CONTEXT, AccessKind, Frame
from amdjit.emulator.wave.registers import V32
from amdjit.isa.instruction import Instruction, Register
from amdjit.isa.register_numbers import scalar_slot


def _address(frame: Frame, instruction: Instruction) -> Value:
    b = frame.builder
    base = frame.scalar_operand(instruction.operand("sbase"), "b64", instruction)
    address = b.add(base, constant("i64", instruction.immediates["offset"]))
    offset = instruction.operand("soffset")
    if offset is not None:
        address = b.add(address, b.resize(frame.scalar_operand(offset, "b32", instruction), 64))
    # The low two bits of a scalar address are ignored for dwords (RDNA 4 ISA, 9.1).
    return address


def _checked(frame: Frame, instruction: Instruction, address: Value, size: int) -> Value:
    site = frame.sites.add(instruction.pc)
    arguments = [CONTEXT, site, address, constant("i32", size)]
    pointer = frame.native("aj_scalar_address", "ptr", arguments)
    frame.accessed(instruction, AccessKind.LOAD, ("k", [address]), size)
    return pointer


def _load_dwords(count: int) -> Emitter:
    def emit(frame: Frame, instruction: Instruction) -> None:
        b = frame.builder
        address = b.and_(_address(frame, instruction), constant("i64", -4))
        pointer = _checked(frame, instruction, address, 4 * count)
        values = [b.load("i32", b.offset(pointer, 4 * index), 4) for index in range(count)]
        destination = instruction.operands[0]
        assert isinstance(destination, Register)
        slot = scalar_slot(destination)
        if slot is None:
            return
        for index, value in enumerate(values):
            frame.registers.write_scalar(slot + index, value)

    return emit


def _load_narrow(bits: int, signed: bool) -> Emitter:
    def emit(frame: Frame, instruction: Instruction) -> None:
        address = _address(frame, instruction)
        pointer = _checked(frame, instruction, address, bits // 8)
        value = frame.builder.load(f"i{bits}", pointer)
        frame.write_scalar(instruction.operands[0], frame.builder.resize(value, 32, signed))

    return emit


SCALAR_MEMORY: Mapping[str, Emitter] = {
    **{f"s_load_b{32 * count}": _load_dwords(count) for count in (1, 2, 3, 4, 8, 16)},
    "s_load_u8": _load_narrow(8, signed=False),
    "s_load_i8": _load_narrow(8, signed=True),
    "s_load_u16": _load_narrow(16, signed=False),
    "s_load_i16": _load_narrow(16, signed=True),
}


# The check of a scalar load's address.


def scalar_address_text(attributes: str) -> str:
    """Return `aj_scalar_address(context, site, address, size)`: the address as a pointer, or 64
    zero bytes.

    For size 0, a buffer load out of bounds, it is always the zeros.
    """
    function = NativeFunction(
        "aj_scalar_address",
        "ptr",
        [("ptr", "context"), ("i32", "site"), ("i64", "address"), ("i32", "size")],
    )
    slot = function.allocate("i64", 8)
    address = function.parameter("address")
    row = function.site_row()
    lo, span = function.load("i64", row, 8), function.load("i64", function.offset(row, 8), 8)
    distance = function.sub(address, lo)
    inside = function.compare("ult", distance, span)
    room = function.sub(span, distance)
    fits = function.compare("uge", room, function.resize(function.parameter("size"), 64))
    function.branch_if(function.and_(inside, fits), "hit", "search")
    function.label("hit")
    empty = function.compare("eq", function.parameter("size"), i32(0))
    function.branch_if(empty, "bad", "good")
    function.label("search")
    function.branch_if(function.compare("eq", function.parameter("size"), i32(0)), "bad", "find")
    function.label("find")
    function.store(address, slot, 8)
    function.store(i64(0), function.context_field(Context.OFFSET_BASE), 8)
    arguments = [
        function.parameter("context"),
        function.parameter("site"),
        slot,
        i32(1),
        function.parameter("size"),
        i32(FaultKind.SCALAR_LOAD),
    ]
    found = function.call("aj_resolve", "i32", arguments)
    function.branch_if(function.compare("ne", found, i32(0)), "good", "bad")
    function.label("good")
    function.give(function.pointer(address))
    function.label("bad")
    function.line("ret ptr @zeros")
    zeros = "@zeros = internal constant [64 x i8] zeroinitializer, align 64"
    return f"{zeros}\n{function.text(attributes)}"


# Scalar stores and atomics of gfx9: one lane's access whose data are scalar registers (CDNA 3 ISA,
# S_STORE_DWORD, S_ATOMIC_ADD).


# Returns the address of dwords, and whether there is memory for them, an i32.
ScalarPlace = Callable[[Frame, Instruction, int], tuple[Value, Value]]
_ONE = constant("i32", 1)


def _store_address(frame: Frame, instruction: Instruction, size: int) -> tuple[Value, Value]:
    address = _address(frame, instruction)
    return frame.builder.and_(address, constant("i64", -4)), _ONE


def _data(frame: Frame, instruction: Instruction) -> tuple[int, list[Value]]:
    """Return the slot of the data and their dwords, in all lanes."""
    register = instruction.operand("sdst")
    assert isinstance(register, Register)
    slot = scalar_slot(register)
    assert slot is not None
    return slot, [frame.registers.scalar_splat(slot + part) for part in range(register.dwords)]


def scalar_store(place: ScalarPlace, dwords: int) -> Emitter:
    """Return the emitter of a scalar store."""

    def emit(frame: Frame, instruction: Instruction) -> None:
        _, values = _data(frame, instruction)
        address, frame.access_mask = place(frame, instruction, 4 * dwords)
        where = ("s", [address, constant(V32, 0)])
        store_vectors(frame, instruction, where, 4 * dwords, values)
        frame.access_mask = None

    return emit


def scalar_atomic(place: ScalarPlace, operation: Operation) -> Emitter:
    """Return the emitter of a scalar atomic. With GLC, the old value replaces the data."""

    def emit(frame: Frame, instruction: Instruction) -> None:
        slot, values = _data(frame, instruction)
        address, frame.access_mask = place(frame, instruction, operation.bits // 8)
        where = ("s", [address, constant(V32, 0)])
        emit_atomic(
            frame, instruction, operation=operation, address=where, data=values, result=None
        )
        frame.access_mask = None
        if instruction.returns_old:
            for part, old in enumerate(old_values(frame, operation.bits // 32)):
                frame.registers.write_scalar(slot + part, frame.builder.extract(old, 0))

    return emit


# Those of gfx9 by their names for global memory.
SCALAR_ATOMICS: Mapping[str, Operation] = {
    name: operation
    for name, operation in memory_operations().items()
    if name.rsplit("_", 1)[1] in ("b32", "u32", "i32", "b64", "u64", "i64")
    and not name.startswith(("cond_", "sub_clamp"))
}
SCALAR_STORES: Mapping[str, Emitter] = {
    **{f"s_store_b{32 * count}": scalar_store(_store_address, count) for count in (1, 2, 4)},
    **{
        f"s_atomic_{name}": scalar_atomic(_store_address, operation)
        for name, operation in SCALAR_ATOMICS.items()
    },
}


# S_BUFFER_STORE and S_BUFFER_ATOMIC of gfx9: what is outside the buffer is not written.


def _place(frame: Frame, instruction: Instruction, size: int) -> tuple[Value, Value]:
    """Return the address, and a lane if all of the data are inside the buffer."""
    b = frame.builder
    sbase, soffset = instruction.operand("sbase"), instruction.operand("soffset")
    assert isinstance(sbase, Register)
    words = resource_words(frame, sbase)
    offset = constant("i64", instruction.immediates["offset"])
    if soffset is not None:
        offset = b.add(offset, b.resize(frame.scalar_operand(soffset, "b32", instruction), 64))
    offset = b.and_(offset, constant("i64", -4))
    length = scalar_length(frame, instruction, words)
    end = b.add(offset, constant("i64", size))
    inside = b.and_(b.compare("ult", offset, length), b.compare("ule", end, length))
    base = b.concat_bits(words[0], b.mask(words[1], 16))
    return b.add(base, offset), b.resize(inside, 32)


SCALAR_BUFFER_STORES: Mapping[str, Emitter] = {
    **{f"s_buffer_store_b{32 * count}": scalar_store(_place, count) for count in (1, 2, 4)},
    **{
        f"s_buffer_atomic_{name}": scalar_atomic(_place, operation)
        for name, operation in SCALAR_ATOMICS.items()
    },
}
