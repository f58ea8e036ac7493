"""Buffer loads and stores that convert formats: `tbuffer_*` names the format, `buffer_*_format_*`
takes it from the resource.

The `d16` forms keep 16 bits of each channel in registers, two channels in one (RDNA 4 ISA, 9.3).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from amdjit.abi.buffer_formats import format_of, unified_format
from amdjit.emulator.host.builder import Value, constant
from amdjit.emulator.instructions.buffers.access import Place, buffer_place, resource_words
from amdjit.emulator.instructions.buffers.texel_table import CHANNELS
from amdjit.emulator.instructions.memory.access import Width
from amdjit.emulator.instructions.memory.direct_loads import store_in_lds
from amdjit.emulator.instructions.operation import Emitter, vector_register
from amdjit.emulator.wave.errors import Untranslatable
from amdjit.emulator.wave.frame import AccessKind, Frame
from amdjit.emulator.wave.registers import V32
from amdjit.isa.instruction import Instruction, Register
from amdjit.isa.register_numbers import vector_number

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


def _load(form: _Form) -> Emitter:
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


def _store(form: _Form) -> Emitter:
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
            for verb, make in (("load", _load), ("store", _store)):
                table[f"{prefix}_{verb}_format_{name}"] = make(_Form(typed, channels))
                table[f"{prefix}_{verb}_d16_format_{name}"] = make(
                    _Form(typed, channels, True, 0 if channels == 1 else None)
                )
    table["buffer_load_d16_hi_format_x"] = _load(_Form(False, 1, True, 1))
    table["buffer_store_d16_hi_format_x"] = _store(_Form(False, 1, True, 1))
    return table


BUFFER_FORMAT_ACCESS: Mapping[str, Emitter] = _table()
