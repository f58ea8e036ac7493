"""Instructions of the vector ALU: every encoding with its modifiers, constants, DPP and SDWA."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from amdjit.isa.encoding.choosing import assemble_row
from amdjit.isa.encoding.encode import Half, assemble_dual
from amdjit.isa.encoding.operands import Value
from amdjit.isa.instruction import Literal, Register
from amdjit.isa.instruction_set import InstructionSet
from amdjit.isa.rows import OperandRow, Row, row_of
from amdjit.probe.corpus.instructions.forms import Extent, Form, forms_of
from amdjit.probe.corpus.instructions.trials import Result, Source, Trial
from amdjit.probe.machine_code import EXEC, M0, VCC, EncodingError, Program, s, v

__all__ = ["dual_trials", "vector_trials"]

# The first VGPRs of the operands, by role; each has space for 32 dwords.
_VECTORS = {"vdst": 64, "src0": 8, "src1": 100, "src2": 136}
_SCALAR_RESULTS = {"vdst": 32, "sdst": 36}
_SCALAR_SOURCES = {"src0": 24, "src1": 26, "src2": 20}
_OLD_EXEC = s(40, 2)
_PLACES = {"src0": 0, "src1": 1, "src2": 2, "vdst": 3}
_SUFFIXES = {"VOP1": "_e32", "VOP2": "_e32", "VOPC": "_e32", "VOP3": "_e64"}
_LITERALS = {"f16": 0x3E02, "bf16": 0x3FC1}
# M0 is the distance of relative moves: one register, for sources and destinations.
_DISTANCE = 0x10001
_PARTIAL = 0x6996F00F0FF0A55A
"""The lanes that are active in forms with inactive lanes."""


def vector_trials(row: Row, wave_size: int, extent: Extent = Extent.ALL) -> Iterator[Trial]:
    """Yield an opcode's trials."""
    for form in forms_of(row):
        if extent is Extent.PLAIN and form.name:
            continue
        if extent is Extent.LANES and not (form.is_about_lanes or not form.name):
            continue
        trial = _trial(row, form, wave_size)
        if trial is not None:
            yield trial


@dataclass
class _Plan:
    """The operands of one trial while they are chosen."""

    wave_size: int
    values: list[Value] = field(default_factory=list)
    sources: list[Source] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)
    before: list[Register] = field(default_factory=list)
    uses_vcc: bool = False
    writes_exec: bool = False
    is_relative: bool = False
    is_partial: bool = False


def _trial(row: Row, form: Form, wave_size: int) -> Trial | None:
    """Return the trial of a form; None if the opcode has no such form."""
    plan = _planned(row, form, wave_size)
    try:
        choice = assemble_row(row, plan.values, form.modifiers, wave_size)
    except EncodingError:
        return None
    suffix = _SUFFIXES.get(row.format.name, "") if row.suffixed else ""
    name = f"{row.opcode.mnemonic}{suffix}"
    return Trial(
        f"{name} {form.name}".strip(),
        row.opcode.mnemonic,
        opcode=(row.format.name, row.opcode.code),
        sources=tuple(plan.sources),
        before=tuple(plan.before),
        add=lambda program: _add(program, plan, choice.code),
        results=tuple(plan.results),
    )


def _planned(row: Row, form: Form, wave_size: int) -> _Plan:
    plan = _Plan(wave_size, is_partial=form.is_partial)
    plan.is_relative = row.opcode.traits.is_relative
    for operand in row.operands:
        if operand.kind == "implied":
            _plan_implied(plan, operand)
        else:
            _plan_operand(plan, operand, form)
    if plan.is_relative:
        _plan_neighbours(plan)
    if plan.writes_exec:
        register = s(_OLD_EXEC.index, wave_size // 32)
        plan.results.append(Result(register, "mask"))
    return plan


def _plan_implied(plan: _Plan, operand: OperandRow) -> None:
    if operand.takes == "literal":
        plan.values.append(Literal(_LITERALS.get(operand.spec.type, 0x40490FDB)))
    elif operand.takes == "exec":
        plan.writes_exec = True
    else:
        plan.uses_vcc = True
        if operand.spec.written:
            plan.results.append(Result(Register(VCC.file, 0, operand.dwords), "mask"))


def _plan_operand(plan: _Plan, operand: OperandRow, form: Form) -> None:
    role, spec = operand.spec.role, operand.spec
    if role in form.replaced:
        plan.values.append(form.replaced[role])
        return
    if "v" not in operand.takes or spec.type == "mask":
        numbers = _SCALAR_RESULTS if spec.written else _SCALAR_SOURCES
        register = s(numbers[role], operand.dwords)
        plan.values.append(register)
        if spec.written:
            plan.results.append(Result(register, spec.type))
        return
    register = v(_VECTORS[role], operand.dwords)
    plan.values.append(register)
    if spec.read:
        plan.sources.append(Source(register, spec.type, _PLACES[role]))
    elif spec.written:
        plan.before.append(register)
    if spec.written:
        plan.results.append(Result(register, spec.type))


def _plan_neighbours(plan: _Plan) -> None:
    """Plan the next registers as well, which relative moves read and write."""
    plan.sources.append(Source(v(_VECTORS["src0"] + 1), "b32", 2))
    register = v(_VECTORS["vdst"] + 1)
    plan.before.append(register)
    plan.results.append(Result(register, "b32"))


def _add(program: Program, plan: _Plan, code: bytes) -> None:
    """Add the instruction, with the instructions before and after it that its implied registers
    need."""
    if plan.uses_vcc:
        program.add("s_mov_b64", VCC, s(20, 2))
    if plan.is_relative:
        program.add("s_mov_b32", M0, _DISTANCE)
    if plan.is_partial:
        for part in (0, 1):
            register = Register(EXEC.file, part)
            program.add("s_mov_b32", register, _PARTIAL >> 32 * part & 0xFFFFFFFF)
    program.drain()
    program.add_encoded(code)
    program.drain()
    if plan.writes_exec:
        program.safe("s_mov_b64", _OLD_EXEC, EXEC)
    if plan.writes_exec or plan.is_partial:
        program.safe("s_mov_b64", EXEC, -1)


# Each half of a dual-issue instruction is tried with some other halves.

_WAVE_SIZE = 32
# RDNA 3 ISA, 7.6 "Dual Issue VALU": the sources of the halves must be in different ones of four
# banks, and of the destinations one must be an even and one an odd register.
_FIRST = {"vdst": 64, "src0": 8, "src1": 100}
_SECOND = {"vdst": 67, "src0": 9, "src1": 101}
_PARTNERS = ("v_dual_mov_b32", "v_dual_fmac_f32", "v_dual_cndmask_b32")
_LITERAL = Literal(0x40490FDB)


def dual_trials(table: str, code: int, sets: InstructionSet) -> Iterator[Trial]:
    """Yield the trials of a half. table: VOPDX or VOPDY."""
    other = "VOPDY" if table == "VOPDX" else "VOPDX"
    row = row_of(table, code, _WAVE_SIZE, sets)
    assert row is not None
    for partner_code, entry in sets.rows[other].items():
        if entry[0] in _PARTNERS:
            partner = row_of(other, partner_code, _WAVE_SIZE, sets)
            assert partner is not None
            for constant in (None, 0.5, s(24), _LITERAL):
                trial = _dual_trial(row, partner, table == "VOPDX", constant, sets)
                if trial is not None:
                    yield trial


def _dual_trial(
    row: Row, partner: Row, is_first: bool, constant: Value, sets: InstructionSet
) -> Trial | None:
    """Return the trial; None if the halves cannot be combined."""
    own = _half(row, _FIRST if is_first else _SECOND, constant)
    others = _half(partner, _SECOND if is_first else _FIRST, None)
    halves = (own, others) if is_first else (others, own)
    try:
        code = assemble_dual(halves[0], halves[1], sets)
    except EncodingError:
        return None
    sources, results, before = [], [], []
    for each, numbers in ((row, _FIRST if is_first else _SECOND),
                          (partner, _SECOND if is_first else _FIRST)):  # fmt: skip
        for place, operand in enumerate(each.operands):
            spec = operand.spec
            if operand.kind == "implied" or spec.role not in numbers:
                continue
            register = v(numbers[spec.role])
            if spec.read:
                sources.append(Source(register, spec.type, place % 3))
            if spec.written:
                results.append(Result(register, spec.type))
                before += [] if spec.read else [register]
    name = f"{halves[0][0]} :: {halves[1][0]}"
    if constant is not None:
        name += f" {'x' if is_first else 'y'} {_text(constant)}"
    return Trial(
        f"{name} {'x' if is_first else 'y'}",
        row.opcode.mnemonic,
        opcode=("VOPDX" if is_first else "VOPDY", row.opcode.code),
        sources=tuple(sources),
        before=tuple(before),
        add=lambda program: _dual_add(program, code),
        results=tuple(results),
    )


def _text(constant: Value) -> str:
    if isinstance(constant, Register):
        return "scalar"
    return "literal" if isinstance(constant, Literal) else str(constant)


def _half(row: Row, numbers: dict[str, int], constant: Value) -> Half:
    values: list[Value] = []
    for operand in row.operands:
        if operand.takes == "literal":
            values.append(_LITERAL)
        elif operand.takes == "vcc":
            values.append(Register(VCC.file, 0))
        elif operand.spec.role == "src0" and constant is not None:
            values.append(constant)
        else:
            values.append(v(numbers[operand.spec.role]))
    return (row.opcode.mnemonic, *values)


def _dual_add(program: Program, code: bytes) -> None:
    program.safe("s_mov_b64", VCC, s(20, 2))
    program.add_encoded(code)
