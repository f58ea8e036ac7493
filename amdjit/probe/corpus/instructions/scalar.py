"""Instructions of the scalar ALU, in waves of one work-item, whose operands differ from wave to
wave."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from amdjit.isa.encoding.choosing import assemble_row
from amdjit.isa.encoding.operands import Value
from amdjit.isa.instruction import Literal, Register
from amdjit.isa.operands import inline_constant
from amdjit.isa.rows import OperandRow, Row
from amdjit.isa.traits import Immediate
from amdjit.probe.corpus.instructions.forms import Extent
from amdjit.probe.corpus.instructions.trials import Result, Source, Trial
from amdjit.probe.machine_code import EXEC, INPUT, M0, VCC, EncodingError, Program, s, v

__all__ = ["scalar_load_trials", "scalar_trials"]

# The first registers of the operands: the VGPRs that are loaded, and the SGPRs to which they are
# moved.
_VECTORS = {"src0": 8, "src1": 12, "sdst": 16}
_SCALARS = {"src0": 44, "src1": 48, "sdst": 32}
_PLACES = {"src0": 0, "src1": 1, "sdst": 2}
_CONDITION = v(20)
_CONDITION_SCALAR, _CONDITION_RESULT, _OLD_EXEC = s(52), s(53), s(40, 2)
_DISTANCE = 2
_NUMBERS = (0x7FFF, 0x8000, 0x1234, 0xFFFF, 0)
# The fields of MODE for rounding and denormals.
_MODE_FIELD = 7 << 11 | 1
_MODE_BITS = s(54)
_LITERALS = {"f16": 0x3E02, "f32": 0x40490FDB}


@dataclass(frozen=True)
class _Form:
    name: str
    replaced: Mapping[str, Value] = field(default_factory=dict)
    immediates: Mapping[str, int] = field(default_factory=dict)


@dataclass
class _Plan:
    values: list[Value] = field(default_factory=list)
    sources: list[Source] = field(default_factory=list)
    moved: list[tuple[Register, Register]] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)


def scalar_trials(row: Row, wave_size: int, extent: Extent = Extent.ALL) -> Iterator[Trial]:
    """Yield an opcode's trials: all its forms, or only the first one, as the extent says."""
    for number, form in enumerate(_forms(row)):
        trial = None if number and extent is not Extent.ALL else _trial(row, form, wave_size)
        if trial is not None:
            yield trial


def _forms(row: Row) -> Iterator[_Form]:
    immediate = row.opcode.traits.immediate
    if immediate is Immediate.HARDWARE_REGISTER:
        yield _Form("MODE", immediates={"simm16": _MODE_FIELD})
        return
    if row.format.name in ("SOPK", "SOPP"):
        numbers = _NUMBERS if row.format.name == "SOPK" else range(16)
        for number in numbers:
            yield _Form(f"{number:#x}", immediates={"simm16": _signed(number, immediate)})
        return
    yield _Form("")
    if row.opcode.traits.moves_relative_scalars:
        return
    for operand in row.operands:
        if operand.spec.written or operand.spec.role not in _VECTORS:
            continue
        role = operand.spec.role
        if "i" in operand.takes:
            for code in (248, 208) if role == "src0" else (240, 192):
                constant = inline_constant(code)
                assert constant is not None
                yield _Form(f"{role} {constant.value}", {role: constant})
        if "l" in operand.takes:
            yield _Form(f"{role} literal", {role: _literal(operand)})


def _literal(operand: OperandRow) -> Literal:
    return Literal(_LITERALS.get(operand.spec.type, 0x89ABCDEF))


def _signed(number: int, immediate: Immediate) -> int:
    is_bits = immediate in (Immediate.BITS, Immediate.CLAUSE, Immediate.VERSION, Immediate.MESSAGE)
    return number - 0x10000 if number & 0x8000 and not is_bits else number


def _trial(row: Row, form: _Form, wave_size: int) -> Trial | None:
    plan = _planned(row, form)
    given: dict[str, Any] = dict(form.immediates)
    try:
        choice = assemble_row(row, plan.values, given, wave_size)
    except EncodingError:
        return None
    traits = row.opcode.traits
    results = [*plan.results]
    if traits.writes_scc:
        results.append(Result(_CONDITION_RESULT, "b32"))
    if traits.writes_exec:
        results.append(Result(s(_OLD_EXEC.index, wave_size // 32), "mask"))
    if traits.writes_mode is not None:
        results.append(Result(_MODE_BITS, "b32"))
    return Trial(
        f"{row.opcode.mnemonic} {form.name}".strip(),
        row.opcode.mnemonic,
        opcode=(row.format.name, row.opcode.code),
        sources=(*plan.sources, Source(_CONDITION, "b32", 1)),
        before=(),
        add=lambda program: _add(program, row, plan, choice.code),
        results=tuple(results),
    )


def _planned(row: Row, form: _Form) -> _Plan:
    plan = _Plan()
    is_relative = row.opcode.traits.moves_relative_scalars
    for operand in row.operands:
        role, spec = operand.spec.role, operand.spec
        if role in form.replaced:
            plan.values.append(form.replaced[role])
            continue
        if role not in _SCALARS:
            plan.values.append(_literal(operand))
            continue
        register = s(_SCALARS[role], spec.dwords)
        plan.values.append(register)
        # Relative moves reach the next registers, too.
        whole = s(register.index, spec.dwords + _DISTANCE) if is_relative else register
        _plan_moves(plan, role, spec.type, whole)
        if spec.written:
            plan.results.append(Result(whole, "b32" if is_relative else spec.type))
    return plan


def _plan_moves(plan: _Plan, role: str, type: str, register: Register) -> None:
    type = type if register.dwords <= 2 else "b32"
    source = Source(v(_VECTORS[role], register.dwords), type, _PLACES[role])
    plan.sources.append(source)
    for number in range(register.dwords):
        plan.moved.append((s(register.index + number), v(_VECTORS[role] + number)))


def _add(program: Program, row: Row, plan: _Plan, code: bytes) -> None:
    traits = row.opcode.traits
    for scalar, vector in plan.moved:
        program.add("v_readfirstlane_b32", scalar, vector)
    program.add("v_readfirstlane_b32", _CONDITION_SCALAR, _CONDITION)
    program.drain()
    program.safe("s_and_b32", _CONDITION_SCALAR, _CONDITION_SCALAR, 1)
    if traits.moves_relative_scalars:
        program.safe("s_mov_b32", M0, _DISTANCE << 16 | _DISTANCE)
    program.safe("s_mov_b64", VCC, 0)
    program.safe("s_cmp_lg_u32", _CONDITION_SCALAR, 0)
    program.add_encoded(code)
    program.drain()
    if traits.writes_scc:
        program.safe("s_cselect_b32", _CONDITION_RESULT, 1, 0)
    if traits.writes_exec:
        program.safe("s_mov_b64", _OLD_EXEC, EXEC)
        program.safe("s_mov_b64", EXEC, 1)
    if traits.writes_mode is not None:
        program.safe("s_getreg_b32", _MODE_BITS, simm16=_MODE_FIELD)
        program.safe("s_setreg_imm32_b32", 0xF0, simm16=_MODE_FIELD)


# Scalar loads of all sizes read the kernel's inputs, because nothing writes that memory.

_RESULT, _RESOURCE, _OFFSET = 64, s(44, 4), s(30)
_RECORDS = 100
_RAW_WORD, _GFX9_RAW_WORD = 0x30014FAC, 0x00027FAC


@dataclass(frozen=True)
class _ScalarMemoryForm:
    name: str
    given: Mapping[str, int] = field(default_factory=dict)
    has_register: bool = False


_FORMS = (
    _ScalarMemoryForm("", {"offset": 16}),
    _ScalarMemoryForm("register", {"offset": 0}, True),
    _ScalarMemoryForm("both offsets", {"offset": 12}, True),
    _ScalarMemoryForm("far", {"offset": 96}),
)


def scalar_load_trials(row: Row, wave_size: int, extent: Extent = Extent.ALL) -> Iterator[Trial]:
    """Yield an opcode's trials, with all offsets or only the first, as the extent says."""
    for form in _FORMS if extent is Extent.ALL else _FORMS[:1]:
        trial = _scalar_memory_trial(row, form, wave_size)
        if trial is not None:
            yield trial


def _scalar_memory_trial(row: Row, form: _ScalarMemoryForm, wave_size: int) -> Trial | None:
    values: list[Value] = []
    results = []
    for operand in row.operands:
        role, dwords = operand.spec.role, operand.dwords
        if role == "sdst":
            values.append(s(_RESULT, dwords))
            results.append(Result(s(_RESULT, dwords), "b32"))
        elif role == "sbase":
            values.append(INPUT if dwords == 2 else _RESOURCE)
        elif form.has_register:
            values.append(_OFFSET)
    is_gfx9 = row.opcode.instruction_set.splits_formats
    try:
        choice = assemble_row(row, values, form.given, wave_size)
    except EncodingError:
        return None
    return Trial(
        f"{row.opcode.mnemonic} {form.name}".strip(),
        row.opcode.mnemonic,
        opcode=(row.format.name, row.opcode.code),
        # The value is loaded from this row, which is the kernel's first.
        sources=(Source(v(8), "b32", 1),),
        before=(),
        add=lambda program: _scalar_memory_add(program, choice.code, is_gfx9),
        results=tuple(results),
    )


def _scalar_memory_add(program: Program, code: bytes, is_gfx9: bool) -> None:
    first = _RESOURCE.index
    program.add("s_mov_b32", _OFFSET, 20)
    program.add("s_mov_b32", s(first), s(INPUT.index))
    program.add("s_and_b32", s(first + 1), s(INPUT.index + 1), 0xFFFF)
    program.add("s_mov_b32", s(first + 2), _RECORDS)
    program.add("s_mov_b32", s(first + 3), _GFX9_RAW_WORD if is_gfx9 else _RAW_WORD)
    program.drain()
    program.add_encoded(code)
    program.drain()
