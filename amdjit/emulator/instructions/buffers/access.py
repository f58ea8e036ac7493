"""Buffer instructions: addresses through a resource of four SGPRs, which has bounds of its own
(RDNA 4 ISA, 9.4 to 9.6).

Outside the bounds of a buffer, loads return 0 and stores do nothing, as the ISA says; what the
resource claims to hold is checked against the allocations like any other access. No memory is ever
non-resident here, so `tfe` leaves its register unchanged.
"""

from __future__ import annotations

from collections.abc import Mapping

from amdjit.abi.buffer_formats import format_of, unified_format
from amdjit.emulator.host.builder import Value, constant
from amdjit.emulator.instructions.buffers.addresses import (
    CONVERTS,
    HIGH_OFFSET,
    INDEXED,
    MASKS_OFFSET,
    PARTS_LOAD,
    PARTS_STORE,
    PLACE,
    WHOLE,
)
from amdjit.emulator.instructions.buffers.gfx9_addresses import GFX9_PLACE, PRIVATE_PLACE
from amdjit.emulator.instructions.buffers.texels import CHANNELS
from amdjit.emulator.instructions.memory.access import (
    LOAD_WIDTHS,
    STORE_WIDTHS,
    Address,
    Width,
    load_vectors,
    register_of,
    store_in_lds,
    store_vectors,
    stored_values,
    write_loaded,
)
from amdjit.emulator.instructions.memory.atomics import Operation, emit_atomic, memory_operations
from amdjit.emulator.instructions.memory.spaces import Access
from amdjit.emulator.instructions.operation import Emitter, vector_register
from amdjit.emulator.wave.errors import Untranslatable
from amdjit.emulator.wave.frame import CONTEXT, AccessKind, Frame
from amdjit.emulator.wave.registers import V32
from amdjit.isa.instruction import Instruction, Register
from amdjit.isa.instruction_set import ScratchSetup
from amdjit.isa.register_numbers import scalar_slot, vector_number
from amdjit.late_methods import dataclass

# Where `aj_buffer_place` puts its results: after the part of the staging area that atomics and
# formats use.
_PLACE_STAGING = 20
_STRIDE_SCALES = ((1, 2), (2, 3), (3, 5))


def resource_words(frame: Frame, register: Register) -> list[Value]:
    """Return a resource's four dwords."""
    slot = scalar_slot(register)
    assert slot is not None
    return [frame.registers.scalar(slot + index) for index in range(4)]


@dataclass(frozen=True, slots=True)
class Place:
    """The addresses of a buffer instruction's lanes, and the lanes that have at least one dword
    inside the buffer."""

    address: Address
    lanes: Value
    words: list[Value]


def buffer_place(frame: Frame, instruction: Instruction, size: Value, whole: bool) -> Place:
    """Find the addresses of lanes that transfer `size` bytes; with `whole`, a lane transfers all of
    them or none."""
    b = frame.builder
    rsrc = instruction.operand("rsrc")
    assert isinstance(rsrc, Register)
    words = resource_words(frame, rsrc)
    index, offset = _lane_parts(frame, instruction)
    out = frame.staging(_PLACE_STAGING)
    arguments = [
        frame.lane_context,
        frame.sites.add(instruction.pc),
        *words,
        frame.scalar_operand(instruction.operand("soffset"), "b32", instruction),
        index,
        offset,
        constant("i32", instruction.immediates["offset"]),
        size,
        constant("i32", _flags(instruction, whole)),
        frame.registers.exec_bits(),
        out,
    ]
    family = instruction.opcode.instruction_set
    # Of the families in which scratch memory is a buffer, any buffer may be it.
    is_private = family.scratch is ScratchSetup.BY_CODE
    symbol = GFX9_PLACE if family.splits_formats else PLACE
    lanes = frame.native(PRIVATE_PLACE if is_private else symbol, "i32", arguments)
    low, high = b.load(V32, out, 64), b.load(V32, b.offset(out, HIGH_OFFSET), 64)
    space = "f" if is_private else "v"
    return Place((space, [low, high, constant("i64", 0)]), lanes, words)


def _flags(instruction: Instruction, whole: bool) -> int:
    converts = instruction.access.converts
    return INDEXED * instruction.immediates["idxen"] | WHOLE * whole | CONVERTS * converts


def _lane_parts(frame: Frame, instruction: Instruction) -> tuple[Value, Value]:
    register = register_of(instruction, "vaddr")
    index = offset = constant(V32, 0)
    if register is not None and instruction.immediates["idxen"]:
        index = frame.registers.vector(vector_number(register))
    if register is not None and instruction.immediates["offen"]:
        offset = frame.registers.vector(vector_number(register) + instruction.immediates["idxen"])
    return index, offset


def _full_lanes(frame: Frame, place: Place, size: int) -> Value:
    """Return the lanes whose dwords are all inside the buffer."""
    if size <= 4:
        return place.lanes
    b = frame.builder
    masks = b.offset(frame.staging(_PLACE_STAGING), MASKS_OFFSET)
    full = place.lanes
    for part in range(size // 4):
        full = b.and_(full, b.load("i32", b.offset(masks, 4 * part), 4))
    return full


def _parts(frame: Frame, instruction: Instruction, symbol: str, full: Value) -> None:
    """Transfer the dwords of lanes that are partly inside the buffer, between memory and the
    staging area."""
    site = frame.sites.add(instruction.pc)
    place = frame.staging(_PLACE_STAGING)
    frame.native_void(symbol, [frame.lane_context, site, place, full, frame.staging(0)])


def _load(width: Width) -> Emitter:
    def emit(frame: Frame, instruction: Instruction) -> None:
        place = buffer_place(frame, instruction, constant("i32", width.size), False)
        frame.access_mask = _full_lanes(frame, place, width.size)
        if width.size <= 4:
            values = load_vectors(frame, instruction, place.address, width.size)
        else:
            values = _load_wide(frame, instruction, place, width.size, frame.access_mask)
        frame.access_mask = None
        if instruction.immediates.get("lds"):
            store_in_lds(frame, instruction, width, values)
            return
        register = vector_register(instruction, "vdata")
        write_loaded(frame, register, width, values)

    return emit


def _load_wide(
    frame: Frame, instruction: Instruction, place: Place, size: int, full: Value
) -> list[Value]:
    access = Access(place.address[0], size, False)
    site = frame.sites.add(instruction.pc)
    frame.native_void(
        access.symbol, [frame.lane_context, site, *place.address[1], full, frame.staging(0)]
    )
    _parts(frame, instruction, PARTS_LOAD, full)
    values = [frame.builder.load(V32, frame.staging(part), 64) for part in range(size // 4)]
    frame.accessed(instruction, AccessKind.LOAD, place.address, size, values)
    return values


def _store(width: Width) -> Emitter:
    def emit(frame: Frame, instruction: Instruction) -> None:
        register = vector_register(instruction, "vdata")
        place = buffer_place(frame, instruction, constant("i32", width.size), False)
        full = frame.access_mask = _full_lanes(frame, place, width.size)
        store_vectors(
            frame, instruction, place.address, width.size, stored_values(frame, register, width)
        )
        if width.size > 4:
            _parts(frame, instruction, PARTS_STORE, full)
        frame.access_mask = None

    return emit


def buffer_atomic(operation: Operation) -> Emitter:
    """Return the emitter of an atomic."""

    def emit(frame: Frame, instruction: Instruction) -> None:
        register = vector_register(instruction, "vdata")
        place = buffer_place(frame, instruction, constant("i32", operation.bits // 8), True)
        frame.access_mask = place.lanes
        count = operation.bits // 32 * operation.operands
        data = [frame.registers.vector(vector_number(register) + index) for index in range(count)]
        returns = instruction.returns_old
        emit_atomic(
            frame,
            instruction,
            operation=operation,
            address=place.address,
            data=data,
            result=register if returns else None,
        )
        frame.access_mask = None

    return emit


def _scalar_load(bits: int, count: int, signed: bool) -> Emitter:
    """S_BUFFER_LOAD: dwords past the end are 0 (RDNA 4 ISA, 9.4.1.4)."""

    def emit(frame: Frame, instruction: Instruction) -> None:
        b = frame.builder
        sbase, sdst = instruction.operand("sbase"), instruction.operands[0]
        assert isinstance(sbase, Register)
        assert isinstance(sdst, Register)
        words = resource_words(frame, sbase)
        offset = constant("i64", instruction.immediates["offset"])
        soffset = instruction.operand("soffset")
        if soffset is not None:
            offset = b.add(offset, b.resize(frame.scalar_operand(soffset, "b32", instruction), 64))
        base = b.concat_bits(words[0], b.mask(words[1], 16))
        length = scalar_length(frame, instruction, words)
        slot = scalar_slot(sdst)
        for index in range(count):
            place = b.add(offset, constant("i64", index * bits // 8))
            value = _scalar_part(
                frame, instruction, base=base, place=place, length=length, bits=bits
            )
            if slot is not None:
                frame.registers.write_scalar(slot + index, b.resize(value, 32, signed))

    return emit


def scalar_length(frame: Frame, instruction: Instruction, words: list[Value]) -> Value:
    """Return the bytes of a buffer."""
    b = frame.builder
    code = b.mask(b.shift("lshr", words[3], 18), 2)
    scale = constant("i32", 0)
    has_scale = not instruction.opcode.instruction_set.splits_formats
    for number, shift in _STRIDE_SCALES if has_scale else ():
        scale = b.select(
            b.compare("eq", code, constant("i32", number)), constant("i32", shift), scale
        )
    stride = b.resize(b.shift("shl", b.mask(b.shift("lshr", words[1], 16), 14), scale), 64)
    unit = b.select(b.compare("eq", stride, constant("i64", 0)), constant("i64", 1), stride)
    return b.mul(b.resize(words[2], 64), unit)


def _scalar_part(
    frame: Frame, instruction: Instruction, base: Value, place: Value, length: Value, bits: int
) -> Value:
    b = frame.builder
    inside = b.compare("ult", place, length)
    site = frame.sites.add(instruction.pc)
    address = b.select(inside, b.add(base, place), constant("i64", 0))
    size = b.select(inside, constant("i32", bits // 8), constant("i32", 0))
    pointer = frame.native("aj_scalar_address", "ptr", [CONTEXT, site, address, size])
    frame.accessed(instruction, AccessKind.LOAD, ("k", [address]), bits // 8)
    return b.load(f"i{bits}", pointer)


BUFFER_ACCESS: Mapping[str, Emitter] = {
    **{f"buffer_load_{name}": _load(width) for name, width in LOAD_WIDTHS.items()},
    **{f"buffer_store_{name}": _store(width) for name, width in STORE_WIDTHS.items()},
    **{
        f"buffer_atomic_{name}": buffer_atomic(operation)
        for name, operation in memory_operations().items()
    },
    **{
        f"s_buffer_load_b{32 * count}": _scalar_load(32, count, False)
        for count in (1, 2, 3, 4, 8, 16)
    },
    "s_buffer_load_u8": _scalar_load(8, 1, False),
    "s_buffer_load_i8": _scalar_load(8, 1, True),
    "s_buffer_load_u16": _scalar_load(16, 1, False),
    "s_buffer_load_i16": _scalar_load(16, 1, True),
}


# Buffer loads and stores that convert formats: `tbuffer_*` names the format, `buffer_*_format_*`
# takes it from the resource.
#
# The `d16` forms keep 16 bits of each channel in registers, two channels in one (RDNA 4 ISA, 9.3).


_SIZES = (1, 2, 4, 8, 12, 16)
_SCALED = ("USCALED", "SSCALED")


@dataclass(frozen=True, slots=True)
class _Form:
    """typed: the instruction names the format. half: the half that a d16 form of one channel uses,
    else None."""

    typed: bool
    channels: int
    narrow: bool = False
    half: int | None = None


def _format(frame: Frame, instruction: Instruction, form: _Form, words: list[Value]) -> Value:
    if form.typed:
        return constant("i32", _named_format(instruction))
    if instruction.opcode.instruction_set.splits_formats:
        return frame.native("aj_texel_unified", "i32", [words[3]])
    return frame.builder.mask(frame.builder.shift("lshr", words[3], 12), 6)


def _named_format(instruction: Instruction) -> int:
    """Return the unified format that a typed instruction names."""
    number = instruction.immediates["format"]
    if not instruction.opcode.instruction_set.splits_formats:
        return number
    return unified_format(number & 15, number >> 4)


def _place(frame: Frame, instruction: Instruction, form: _Form) -> tuple[Place, Value]:
    """Return the place of the access and the number of the format."""
    rsrc = instruction.operand("rsrc")
    assert isinstance(rsrc, Register)
    words = resource_words(frame, rsrc)
    number = _format(frame, instruction, form, words)
    if form.typed:
        texel = format_of(_named_format(instruction))
        if texel is None:
            raise Untranslatable(instruction, "buffers have no such format (RDNA 4 ISA, 10.7)")
        size = constant("i32", texel.size)
    else:
        size = frame.native("aj_texel_size", "i32", [number])
    return buffer_place(frame, instruction, size, True), number


def _accessed(
    frame: Frame,
    instruction: Instruction,
    form: _Form,
    place: Place,
    number: Value,
    kind: AccessKind,
) -> None:
    """Report the access to the checks, which need its size; where the resource has the format,
    report it once for each possible size."""
    if not frame.instruments:
        return
    if form.typed:
        texel = format_of(_named_format(instruction))
        assert texel is not None
        frame.accessed(instruction, kind, place.address, texel.size)
        return
    b = frame.builder
    size = frame.native("aj_texel_size", "i32", [number])
    for one in _SIZES:
        chosen = b.compare("eq", size, constant("i32", one))
        frame.access_mask = b.select(chosen, place.lanes, constant("i32", 0))
        frame.accessed(instruction, kind, place.address, one)
    frame.access_mask = place.lanes


def _load_format(form: _Form) -> Emitter:
    def emit(frame: Frame, instruction: Instruction) -> None:
        place, number = _place(frame, instruction, form)
        site, data = frame.sites.add(instruction.pc), frame.staging(0)
        where = [frame.lane_context, site, number]
        frame.access_mask = place.lanes
        frame.native_void("aj_texel_load", [*where, *place.address[1][:2], place.lanes, data])
        _accessed(frame, instruction, form=form, place=place, number=number, kind=AccessKind.LOAD)
        frame.access_mask = None
        if not form.typed:
            _select(frame, where, place, form, store=False)
        if form.narrow:
            frame.native_void("aj_texel_narrow", [*where, place.lanes, data])
        _write(frame, instruction, form)

    return emit


def _select(frame: Frame, where: list[Value], place: Place, form: _Form, store: bool) -> None:
    flags = [constant("i32", form.channels), constant("i32", int(store))]
    lanes = place.lanes if store else frame.registers.exec_bits()
    frame.native_void("aj_texel_select", [*where, place.words[3], *flags, lanes, frame.staging(0)])


def _write(frame: Frame, instruction: Instruction, form: _Form) -> None:
    b = frame.builder
    if instruction.immediates.get("lds"):
        store_in_lds(frame, instruction, Width(4), [b.load(V32, frame.staging(0), 64)])
        return
    register = vector_register(instruction, "vdata")
    for channel in range(form.channels):
        value = b.load(V32, frame.staging(channel), 64)
        if form.narrow:
            half = channel % 2 if form.half is None else form.half
            frame.registers.write_half(
                vector_number(register) + channel // 2, half, b.resize(value, 16), frame.mask()
            )
        else:
            frame.registers.write_vector(vector_number(register) + channel, value, frame.mask())


def _store_format(form: _Form) -> Emitter:
    def emit(frame: Frame, instruction: Instruction) -> None:
        place, number = _place(frame, instruction, form)
        if form.typed and _kind(instruction) in _SCALED:
            raise Untranslatable(
                instruction, "the ISA document does not say how a store rounds to a scaled format"
            )
        site, data = frame.sites.add(instruction.pc), frame.staging(0)
        where = [frame.lane_context, site, number]
        _read(frame, instruction, form)
        if form.narrow:
            frame.native_void("aj_texel_widen", [number, data])
        if not form.typed:
            _select(frame, where, place, form, store=True)
        frame.access_mask = place.lanes
        _accessed(frame, instruction, form=form, place=place, number=number, kind=AccessKind.STORE)
        frame.native_void("aj_texel_store", [*where, *place.address[1][:2], place.lanes, data])
        frame.access_mask = None

    return emit


def _kind(instruction: Instruction) -> str:
    texel = format_of(_named_format(instruction))
    assert texel is not None
    return texel.kind


def _read(frame: Frame, instruction: Instruction, form: _Form) -> None:
    """Put the channels into the staging area; the first one stands in for those that are not given
    (9.3)."""
    b = frame.builder
    register = vector_register(instruction, "vdata")
    for channel in range(CHANNELS):
        given = channel if channel < form.channels else 0
        if form.narrow:
            half = given % 2 if form.half is None else form.half
            number = vector_number(register) + given // 2
            value = b.resize(b.bitcast(frame.registers.half(number, half, "i16"), "i16"), 32)
        else:
            value = frame.registers.vector(vector_number(register) + given)
        b.store(value, frame.staging(channel), 64)


_CHANNELS = {"x": 1, "xy": 2, "xyz": 3, "xyzw": 4}


def _table() -> dict[str, Emitter]:
    table: dict[str, Emitter] = {}
    for prefix, typed in (("buffer", False), ("tbuffer", True)):
        for name, channels in _CHANNELS.items():
            for verb, make in (("load", _load_format), ("store", _store_format)):
                table[f"{prefix}_{verb}_format_{name}"] = make(_Form(typed, channels))
                table[f"{prefix}_{verb}_d16_format_{name}"] = make(
                    _Form(typed, channels, True, 0 if channels == 1 else None)
                )
    table["buffer_load_d16_hi_format_x"] = _load_format(_Form(False, 1, True, 1))
    table["buffer_store_d16_hi_format_x"] = _store_format(_Form(False, 1, True, 1))
    return table


BUFFER_FORMAT_ACCESS: Mapping[str, Emitter] = _table()
