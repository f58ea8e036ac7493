"""Scalar loads."""

from __future__ import annotations

from collections.abc import Mapping

from amdjit.emulator.host.builder import Value, constant
from amdjit.emulator.host.function import NativeFunction, i32, i64
from amdjit.emulator.instructions.operation import Emitter
from amdjit.emulator.layout import Context, FaultKind
from amdjit.emulator.wave.frame import CONTEXT, AccessKind, Frame
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
