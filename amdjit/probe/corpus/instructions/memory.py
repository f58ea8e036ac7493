"""Memory instructions: LDS, global, flat, scratch and buffer accesses of all sizes, and atomics.
Each lane accesses a cell of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from amdjit.abi.buffer_formats import BUFFER_FORMATS, unified_format
from amdjit.isa.encoding.choosing import assemble_row
from amdjit.isa.encoding.operands import Value
from amdjit.isa.instruction import Register, RegisterFile
from amdjit.isa.instruction_set import InstructionSet
from amdjit.isa.rows import OperandRow, Row
from amdjit.isa.traits import Access, Exchange, Immediate, MemoryKind
from amdjit.probe.corpus.instructions.forms import Extent
from amdjit.probe.corpus.instructions.trials import (
    AREA_DWORDS,
    CONTENT,
    FLAT,
    GLOBAL,
    LDS_PLACE,
    READ_BACK,
    SCRATCH,
    Cells,
    Memory,
    Result,
    Source,
    Trial,
)
from amdjit.probe.machine_code import EXEC, M0, OUTPUT, EncodingError, Program, s, v

__all__ = ["memory_trials"]

_DATA = {"vdata": v(8), "data0": v(8), "data1": v(100), "vdst": v(64)}
_PLACES = {"vdata": 0, "data0": 0, "data1": 1, "vdst": 2}
_RESOURCE, _OFFSET_SCALAR = s(44, 4), s(30)
# The byte at which the wave's own cells begin, for addresses by lane number, which are the same in
# all workgroups.
_OWN_BASE = s(32, 2)
_OFFSET = 16
_BLOCK_DWORDS = 32
_BLOCK_MASK = 0x5A5A33CC
_PARTIAL = 0x6996F00F0FF0A55A
_SWIZZLES = (0x8055, 0x80B1, 0x001F, 0x041F, 0x7C1F, 0x03E0, 0xC020, 0xC5E0)
_MEMORIES = {"DS": Memory.LDS, "VSCRATCH": Memory.SCRATCH}


@dataclass(frozen=True)
class _Form:
    """One way to write an access."""

    name: str
    given: Mapping[str, Any] = field(default_factory=dict)
    """Immediate operands of the instruction."""
    has_base: bool = True
    """Whether the address has a base in SGPRs."""
    returns: bool = False
    """Whether an atomic returns the old value."""
    is_partial: bool = False
    """Whether only some lanes are active."""
    resource: Resource | None = None
    """The buffer resource of an access to a buffer."""


@dataclass
class _Plan:
    cells: Cells
    form: _Form
    values: list[Value] = field(default_factory=list)
    sources: list[Source] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)
    before: list[Register] = field(default_factory=list)
    m0: int | None = None


def memory_trials(row: Row, wave_size: int, extent: Extent = Extent.ALL) -> Iterator[Trial]:
    """Yield an opcode's trials: all its forms, or for accesses only the first one, as the extent
    says."""
    access = row.opcode.traits.memory
    if row.opcode.traits.immediate is Immediate.SWIZZLE:
        yield from _lane_trials(
            row, wave_size, [_Form(f"{x:#x}", {"offset": x}) for x in _SWIZZLES]
        )
    elif access is None:
        yield from _lane_trials(row, wave_size, [_Form(""), _Form("some lanes", is_partial=True)])
    else:
        for number, form in enumerate(_forms(row, access)):
            few = number and extent is not Extent.ALL
            trial = None if few else _trial(row, access, form, wave_size)
            if trial is not None:
                yield trial


def _forms(row: Row, access: Access) -> Iterator[_Form]:
    returned = any(operand.takes == "returned" for operand in row.operands)
    is_atomic = access.kind is MemoryKind.ATOMIC
    if row.format.name in ("VBUFFER", "VTBUFFER"):
        for resource in resources_of(row):
            yield _Form(resource.name, resource.given, resource=resource)
            if is_atomic:
                yield _Form(f"{resource.name} returns", resource.given, returns=True,
                            resource=resource)  # fmt: skip
        return
    # An address by lane number has no other base.
    has_both = row.has_operand("saddr") and _has_address(row)
    for base in (True, False) if has_both else (True,):
        name = "" if base else "off"
        for returns in (False, True) if returned else (False,):
            yield _Form(f"{name}{' returns' if returns else ''}".strip(), has_base=base,
                        returns=returns)  # fmt: skip
    if not access.is_transposed and access.size:
        yield _Form("some lanes", is_partial=True)


def _cells(row: Row, access: Access) -> Cells:
    memory = _MEMORIES.get(row.format.name, Memory.GLOBAL)
    if _is_block(row):
        return Cells(memory, _BLOCK_DWORDS, 7)
    if access.has_two_addresses and "stride64" in row.opcode.mnemonic:
        return Cells(memory, shift=access.size.bit_length() - 1)
    return Cells(memory)


def _is_block(row: Row) -> bool:
    return any(operand.dwords == _BLOCK_DWORDS for operand in row.operands)


def _memory_type(row: Row, access: Access) -> str:
    """Return the type that an atomic finds in memory, which is that of its data."""
    data = next((each for each in row.operands if each.spec.role in ("vdata", "data0")), None)
    if data is None or access.kind is not MemoryKind.ATOMIC:
        return "b32"
    return f"b{8 * access.size}" if access.exchange is Exchange.COMPARE else data.spec.type


def _trial(row: Row, access: Access, form: _Form, wave_size: int) -> Trial | None:
    cells = _cells(row, access)
    plan = _Plan(cells, form)
    type = _memory_type(row, access)
    plan.sources.append(Source(v(CONTENT.index, cells.dwords), type, 1))
    if _is_block(row):
        plan.m0 = _BLOCK_MASK
    elif not _has_address(row):
        plan.m0 = 0
    for operand in row.operands:
        _plan_operand(plan, row, access, operand)
    try:
        given = _given(row, access, form)
        choice = assemble_row(row, plan.values, given, wave_size)
    except EncodingError:
        return None
    plan.results.append(Result(v(READ_BACK.index, cells.dwords), type))
    return _made(row, form, plan, choice.code)


def _made(row: Row, form: _Form, plan: _Plan, code: bytes) -> Trial:
    return Trial(
        f"{row.opcode.mnemonic} {form.name}".strip(),
        row.opcode.mnemonic,
        opcode=(row.format.name, row.opcode.code),
        sources=tuple(plan.sources),
        before=tuple(plan.before),
        add=lambda program: _add(program, plan, code),
        results=tuple(plan.results),
    )


def _has_address(row: Row) -> bool:
    return row.has_operand("vaddr") or row.has_operand("addr")


def _given(row: Row, access: Access, form: _Form) -> dict[str, Any]:
    given = dict(form.given)
    if row.format.name in ("VBUFFER", "VTBUFFER"):
        if form.returns:
            names = ("th", "glc", "sc0")
            given |= {next(name for name in names if row.format.find(name)): 1}
    elif access.has_two_addresses:
        strided = "stride64" in row.opcode.mnemonic
        given |= {"offset0": 0 if strided else 3, "offset1": 1}
    elif _is_block(row):
        given |= {"offset": 0}
    else:
        given |= {"offset": 4 if "_src2_" in row.opcode.mnemonic else _OFFSET}
    return given


def _plan_operand(plan: _Plan, row: Row, access: Access, operand: OperandRow) -> None:
    role, form = operand.spec.role, plan.form
    if role in _DATA:
        _plan_data(plan, access, operand)
    elif role == "addr":
        plan.values.append(LDS_PLACE)
    elif role == "rsrc":
        plan.values.append(_RESOURCE)
    elif role == "soffset":
        plan.values.append(_OFFSET_SCALAR)
    elif role == "saddr":
        whole = OUTPUT if _has_address(row) else _OWN_BASE
        base: Value = whole if operand.dwords == 2 else s(31)
        plan.values.append(base if form.has_base else None)
    else:
        plan.values.append(_address(row, form))


def _address(row: Row, form: _Form) -> Value:
    """Return the VGPRs of an address; None for accesses without any."""
    if form.resource is not None:
        return GLOBAL
    if row.format.name == "VSCRATCH":
        is_free = row.format.find("sve") is not None
        return SCRATCH if not form.has_base or is_free else None
    return GLOBAL if row.has_operand("saddr") and form.has_base else FLAT


def _plan_data(plan: _Plan, access: Access, operand: OperandRow) -> None:
    role, spec = operand.spec.role, operand.spec
    if operand.takes == "returned" and not plan.form.returns:
        # It is left out.
        return
    type = spec.type if spec.dwords <= 4 and spec.type not in ("b96", "b128") else "b32"
    if access.exchange is Exchange.COMPARE and role == "vdata":
        type = f"v2b{8 * access.size}"
    dwords = operand.dwords + (1 if plan.form.given.get("tfe") else 0)
    register = v(_DATA[role].index, dwords)
    plan.values.append(register)
    writes = spec.written and not (spec.read and access.kind is MemoryKind.ATOMIC
                                   and not plan.form.returns)  # fmt: skip
    if spec.read:
        plan.sources.append(Source(register, type, _PLACES[role]))
    else:
        plan.before.append(register)
    if writes:
        plan.results.append(Result(register, type))


def _add(program: Program, plan: _Plan, code: bytes) -> None:
    plan.cells.fill(program)
    program.add("s_mov_b32", _OFFSET_SCALAR, _OFFSET // 2)
    program.add("s_mov_b32", s(31), 0)
    low, high = s(_OWN_BASE.index), s(_OWN_BASE.index + 1)
    program.safe("v_readfirstlane_b32", low, GLOBAL)
    program.safe("s_add_co_u32", low, low, s(OUTPUT.index))
    program.safe("s_add_co_ci_u32", high, s(OUTPUT.index + 1), 0)
    if plan.form.resource is not None:
        plan.form.resource.add(program, _RESOURCE, GLOBAL)
    if plan.m0 is not None:
        program.add("s_mov_b32", M0, plan.m0)
    _with_lanes(program, plan.form, code)
    plan.cells.read(program)


def _with_lanes(program: Program, form: _Form, code: bytes) -> None:
    """Add the instruction, executed by all lanes or by some."""
    if form.is_partial:
        for part in (0, 1):
            register = Register(RegisterFile.EXEC, part)
            program.add("s_mov_b32", register, _PARTIAL >> 32 * part & 0xFFFFFFFF)
    program.drain()
    program.add_encoded(code)
    program.drain()
    if form.is_partial:
        program.safe("s_mov_b64", EXEC, -1)


def _lane_trials(row: Row, wave_size: int, forms: list[_Form]) -> Iterator[Trial]:
    """Yield trials of LDS instructions that move values between lanes without accessing memory."""
    for form in forms:
        plan = _Plan(Cells(Memory.LDS), form)
        for operand in row.operands:
            role, spec = operand.spec.role, operand.spec
            number = {"addr": 8, "data0": 12, "vdst": 64}[role]
            register = v(number, operand.dwords)
            plan.values.append(register)
            if spec.written:
                plan.before.append(register)
                plan.results.append(Result(register, spec.type))
            else:
                plan.sources.append(Source(register, "b32", 2 if role == "addr" else 1))
        choice = assemble_row(row, plan.values, form.given, wave_size)
        trial = _made(row, form, plan, choice.code)
        yield _without_cells(trial, form, choice.code)


def _without_cells(trial: Trial, form: _Form, code: bytes) -> Trial:
    return Trial(
        trial.name,
        trial.subject,
        opcode=trial.opcode,
        sources=trial.sources,
        before=trial.before,
        add=lambda program: _with_lanes(program, form, code),
        results=trial.results,
    )


# Buffer resources, raw and structured, with the formats that buffer instructions convert.

_CELL = 32
_AREA = 512 * 4 * AREA_DWORDS
_RAW = 3 << 28
_PLAIN, _PLAIN_HALF = "32_UINT", "16_UINT"
# gfx9's data formats by the widths of their components, and its number formats.
_GFX9_WIDTHS = {1: "8", 2: "16", 3: "8_8", 4: "32", 5: "16_16", 6: "10_11_11", 7: "11_11_10",
                8: "10_10_10_2", 9: "2_10_10_10", 10: "8_8_8_8", 11: "32_32", 12: "16_16_16_16",
                13: "32_32_32", 14: "32_32_32_32"}  # fmt: skip
_GFX9_KINDS = {0: "UNORM", 1: "SNORM", 2: "USCALED", 3: "SSCALED", 4: "UINT", 5: "SINT", 7: "FLOAT"}


@dataclass(frozen=True)
class Resource:
    """A buffer resource (RDNA 4 ISA, 9.1 "Buffer Resource Descriptor"; CDNA 3 ISA, 9.1.8) and how
    instructions use it."""

    name: str
    given: Mapping[str, Any] = field(default_factory=dict)
    """Immediate operands of the instruction."""
    stride: int = 0
    """Bytes of a record; 0 for a raw buffer."""
    records: int = _AREA
    """The size of the buffer, in bytes, or in records if it has any."""
    word: int = 0
    """The last dword of the resource."""

    def add(self, program: Program, register: Register, address: Register) -> None:
        """Put the resource into SGPRs. If it has records, turn the lanes' addresses into
        indices."""
        first = register.index
        program.add("s_mov_b32", s(first), s(OUTPUT.index))
        program.add("s_and_b32", s(first + 1), s(OUTPUT.index + 1), 0xFFFF)
        program.drain()
        program.add("s_or_b32", s(first + 1), s(first + 1), self.stride << 16)
        program.add("s_mov_b32", s(first + 2), self.records)
        program.add("s_mov_b32", s(first + 3), self.word)
        if self.stride:
            program.add("v_lshrrev_b32_e32", address, _CELL.bit_length() - 1, address)
        program.drain()


def resources_of(row: Row) -> Iterator[Resource]:
    """Yield the resources with which an instruction is tried."""
    sets = row.opcode.instruction_set
    typed = row.opcode.mnemonic.startswith("tbuffer")
    converts = "_format_" in row.opcode.mnemonic
    plain = _PLAIN_HALF if "_d16_" in row.opcode.mnemonic else _PLAIN
    common: dict[str, Any] = {"offset": 8}
    for name in _chosen_formats(row) if converts else [plain]:
        given = {**common, "format": _numbers(sets)[name]} if typed else common
        text = f"offen {name.lower()}" if converts else "offen"
        yield Resource(text, {**given, "offen": 1}, word=_word(sets, name))
    given = {**common, "format": _numbers(sets)[plain]} if typed else common
    word = _word(sets, plain)
    yield Resource("some out of range", {**given, "offen": 1}, records=_AREA // 3 + 3, word=word)
    yield Resource("idxen", {**given, "idxen": 1}, _CELL, 1600, word & ~_RAW)


@cache
def _numbers(sets: InstructionSet) -> dict[str, int]:
    """Return the number that instructions use for each format, by the format's name."""
    if sets.splits_formats:
        return {
            f"{widths}_{kind}": data | number << 4
            for data, widths in _GFX9_WIDTHS.items()
            for number, kind in _GFX9_KINDS.items()
            if unified_format(data, number)
        }
    return {
        name.removeprefix("BUF_FMT_"): number for number, name in BUFFER_FORMATS.items() if number
    }


def _word(sets: InstructionSet, name: str) -> int:
    """Return the last dword of a resource, with which components that the format lacks read as
    0."""
    number = _numbers(sets)[name]
    components = len(name.split("_")) - 1
    channels = sum((4 + channel) << 3 * channel for channel in range(components))
    if sets.splits_formats:
        return (number & 15) << 15 | (number >> 4) << 12 | channels
    return _RAW | number << 12 | channels


def _chosen_formats(row: Row) -> list[str]:
    """Return the formats to try with an instruction: for four components, all that need no rounding
    or clamping, which the ISA documents leave open; for fewer components, some of them."""
    mnemonic = row.opcode.mnemonic
    names = list(_numbers(row.opcode.instruction_set))
    whole = "16" if "_d16_" in mnemonic else "32"
    if "_store_" in mnemonic:
        names = [name for name in names if set(name.split("_")[:-1]) == {whole}
                 and name.split("_")[-1] in ("UINT", "SINT", "FLOAT")]  # fmt: skip
    elif whole == "16":
        names = [name for name in names if "32" not in name and name.split("_")[-1] in
                 ("UINT", "SINT", "FLOAT") and "11" not in name]  # fmt: skip
    if mnemonic.endswith("_xyzw"):
        return names
    return [names[number % len(names)] for number in (0, row.opcode.code, row.opcode.code + 5)]
