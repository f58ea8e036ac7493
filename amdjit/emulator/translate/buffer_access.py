"""Buffer instructions: addresses through a resource of four SGPRs, with its own bounds (RDNA 4 ISA, 9.4 and 9.5).

Out of a buffer's bounds loads give 0 and stores do nothing, silently, as the ISA has it; what the resource claims to
hold is checked against the allocations like any other access. Formats and swizzled buffers are not emulated.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from amdjit.emulator.decoder.instruction import Instruction, Register
from amdjit.emulator.ir import Value, constant
from amdjit.emulator.translate.atomic_access import Operation, emit_atomic, memory_operations
from amdjit.emulator.translate.errors import Untranslatable
from amdjit.emulator.translate.frame import CONTEXT, Frame
from amdjit.emulator.translate.instrument import AccessKind
from amdjit.emulator.translate.memory_access import (
    LOAD_WIDTHS,
    STORE_WIDTHS,
    Address,
    Width,
    load_vectors,
    register_of,
    store_vectors,
    stored_values,
    write_loaded,
)
from amdjit.emulator.translate.operation import Emitter
from amdjit.emulator.translate.registers import V32, scalar_slot


@dataclass(frozen=True, slots=True)
class Resource:
    """A buffer resource's fields as scalars: base and bytes of a record as i64, the rest i32."""

    base: Value
    stride: Value
    records: Value
    check: Value


def read_resource(frame: Frame, register: Register) -> Resource:
    """Take a resource's four dwords apart (RDNA 4 ISA, table "Buffer Resource Descriptor")."""
    b = frame.builder
    slot = scalar_slot(register)
    assert slot is not None
    words = [frame.registers.scalar(slot + index) for index in range(4)]
    base = b.concat_bits(words[0], b.mask(words[1], 16))
    stride = b.mask(b.shift("lshr", words[1], 16), 14)
    check = b.mask(b.shift("lshr", words[3], 28), 2)
    return Resource(base, b.resize(stride, 64), words[2], check)


@dataclass(frozen=True, slots=True)
class _Place:
    address: Address
    inside: Value


def _place(frame: Frame, instruction: Instruction, size: int) -> _Place:
    """Return the lanes' addresses, and which are inside of the buffer."""
    b = frame.builder
    rsrc = instruction.operand("rsrc")
    assert isinstance(rsrc, Register)
    resource = read_resource(frame, rsrc)
    index, offset = _lane_parts(frame, instruction)
    inside = _inside(frame, resource, index, offset, size)
    scalar = frame.scalar_operand(instruction.operand("soffset"), "b32", instruction)
    start = b.splat(b.add(resource.base, b.resize(scalar, 64)))
    address = b.add(b.add(start, b.resize(offset, 64)), b.mul(b.resize(index, 64), b.splat(resource.stride)))
    low, high = b.split_bits(address)
    return _Place(("v", [low, high, constant("i64", 0)]), inside)


def _lane_parts(frame: Frame, instruction: Instruction) -> tuple[Value, Value]:
    b = frame.builder
    register = register_of(instruction, "vaddr")
    with_index, with_offset = instruction.immediates["idxen"], instruction.immediates["offen"]
    index, offset = constant(V32, 0), constant(V32, instruction.immediates["offset"])
    if register is not None and with_index:
        index = frame.registers.vector(register.index)
    if register is not None and with_offset:
        offset = b.add(offset, frame.registers.vector(register.index + with_index))
    return index, offset


def _inside(frame: Frame, resource: Resource, index: Value, offset: Value, size: int) -> Value:
    """The rule in bits 29:28 of dword 3: 0 index and offset, 1 index only, 2 never out, 3 raw offset."""
    b = frame.builder
    wide, records = b.resize(offset, 64), b.splat(b.resize(resource.records, 64))
    end = b.add(wide, b.splat(constant("i64", size)))
    raw = b.compare("ule", end, records)
    by_index = b.compare("ult", b.resize(index, 64), records)
    by_both = b.and_(by_index, b.compare("ule", end, b.splat(resource.stride)))
    some = b.compare("ne", records, b.splat(constant("i64", 0)))
    choices = [by_both, by_index, some]
    result = raw
    for number, choice in enumerate(choices):
        chosen = b.compare("eq", resource.check, constant("i32", number))
        result = b.select(chosen, choice, result)
    return result


def _within(frame: Frame, instruction: Instruction, size: int) -> Address:
    """Restrict EXEC to the lanes inside of the buffer for the next access; `_restore` undoes it."""
    if instruction.immediates.get("tfe"):
        raise Untranslatable(instruction, "tfe is not emulated")
    place = _place(frame, instruction, size)
    bits = frame.builder.and_(frame.registers.exec_bits(), frame.builder.mask_bits(place.inside))
    frame.access_mask = bits
    return place.address


def _load(width: Width) -> Emitter:
    def emit(frame: Frame, instruction: Instruction) -> None:
        address = _within(frame, instruction, width.size)
        values = load_vectors(frame, instruction, address, width.size)
        frame.access_mask = None
        register = register_of(instruction, "vdata")
        assert register is not None
        write_loaded(frame, register, width, values)

    return emit


def _store(width: Width) -> Emitter:
    def emit(frame: Frame, instruction: Instruction) -> None:
        register = register_of(instruction, "vdata")
        assert register is not None
        address = _within(frame, instruction, width.size)
        store_vectors(frame, instruction, address, width.size, stored_values(frame, register, width))
        frame.access_mask = None

    return emit


def _atomic(operation: Operation) -> Emitter:
    def emit(frame: Frame, instruction: Instruction) -> None:
        register = register_of(instruction, "vdata")
        assert register is not None
        address = _within(frame, instruction, operation.bits // 8)
        count = operation.bits // 32 * operation.operands
        data = [frame.registers.vector(register.index + index) for index in range(count)]
        returns = instruction.immediates.get("th", 0) & 1
        emit_atomic(frame, instruction, operation, address, data, register if returns else None)
        frame.access_mask = None

    return emit


def _scalar_load(bits: int, count: int, signed: bool) -> Emitter:
    """S_BUFFER_LOAD: dwords past the end are 0."""

    def emit(frame: Frame, instruction: Instruction) -> None:
        b = frame.builder
        sbase, sdst = instruction.operand("sbase"), instruction.operands[0]
        assert isinstance(sbase, Register)
        assert isinstance(sdst, Register)
        resource = read_resource(frame, sbase)
        offset = constant("i64", instruction.immediates["offset"])
        soffset = instruction.operand("soffset")
        if soffset is not None:
            offset = b.add(offset, b.resize(frame.scalar_operand(soffset, "b32", instruction), 64))
        unit = b.select(b.compare("eq", resource.stride, constant("i64", 0)), constant("i64", 1), resource.stride)
        length = b.mul(b.resize(resource.records, 64), unit)
        slot = scalar_slot(sdst)
        for index in range(count):
            place = b.add(offset, constant("i64", index * bits // 8))
            value = _scalar_part(frame, instruction, resource.base, place, length, bits)
            if slot is not None:
                frame.registers.write_scalar(slot + index, b.resize(value, 32, signed))

    return emit


def _scalar_part(frame: Frame, instruction: Instruction, base: Value, place: Value, length: Value, bits: int) -> Value:
    b = frame.builder
    inside = b.compare("ule", b.add(place, constant("i64", bits // 8)), length)
    site = frame.sites.add(instruction.pc)
    address = b.select(inside, b.add(base, place), constant("i64", 0))
    size = b.select(inside, constant("i32", bits // 8), constant("i32", 0))
    pointer = frame.native("aj_scalar_address", "ptr", [CONTEXT, site, address, size])
    frame.accessed(instruction, AccessKind.LOAD, ("k", [address]), bits // 8)
    return b.load(f"i{bits}", pointer)


BUFFER_ACCESS: Mapping[str, Emitter] = {
    **{f"buffer_load_{name}": _load(width) for name, width in LOAD_WIDTHS.items()},
    **{f"buffer_store_{name}": _store(width) for name, width in STORE_WIDTHS.items()},
    **{f"buffer_atomic_{name}": _atomic(operation) for name, operation in memory_operations().items()},
    **{f"s_buffer_load_b{32 * count}": _scalar_load(32, count, False) for count in (1, 2, 3, 4, 8, 16)},
    "s_buffer_load_u8": _scalar_load(8, 1, False),
    "s_buffer_load_i8": _scalar_load(8, 1, True),
    "s_buffer_load_u16": _scalar_load(16, 1, False),
    "s_buffer_load_i16": _scalar_load(16, 1, True),
}
