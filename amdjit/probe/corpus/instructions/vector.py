"""Instructions of the vector ALU: every encoding with its modifiers, constants, DPP and SDWA."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from amdjit.isa.instruction import Literal, Register
from amdjit.isa.rows import OperandRow, Row
from amdjit.probe.corpus.instructions.forms import Extent, Form, forms_of
from amdjit.probe.corpus.instructions.trials import Result, Source, Trial
from amdjit.probe.machine_code import EXEC, M0, VCC, EncodingError, Program, s, v
from amdjit.probe.machine_code.choosing import assemble_row
from amdjit.probe.machine_code.operands import Value

__all__ = ["vector_trials"]

# First VGPRs of the operands by role: wide enough for 32 dwords each.
_VECTORS = {"vdst": 64, "src0": 8, "src1": 100, "src2": 136}
_SCALAR_RESULTS = {"vdst": 32, "sdst": 36}
_SCALAR_SOURCES = {"src0": 24, "src1": 26, "src2": 20}
_OLD_EXEC = s(40, 2)
_PLACES = {"src0": 0, "src1": 1, "src2": 2, "vdst": 3}
_SUFFIXES = {"VOP1": "_e32", "VOP2": "_e32", "VOPC": "_e32", "VOP3": "_e64"}
_LITERALS = {"f16": 0x3E02, "bf16": 0x3FC1}
# M0 as the distance of relative moves: one register, for sources and destinations.
_DISTANCE = 0x10001
_PARTIAL = 0x6996F00F0FF0A55A
"""Which lanes are active where not all are."""


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
    """The operands of one trial as they are chosen."""

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
    """Return the trial of a form, None if the opcode has no such form."""
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
        (row.format.name, row.opcode.code),
        tuple(plan.sources),
        tuple(plan.before),
        lambda program: _add(program, plan, choice.code),
        tuple(plan.results),
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
    """Relative moves read and write the next registers."""
    plan.sources.append(Source(v(_VECTORS["src0"] + 1), "b32", 2))
    register = v(_VECTORS["vdst"] + 1)
    plan.before.append(register)
    plan.results.append(Result(register, "b32"))


def _add(program: Program, plan: _Plan, code: bytes) -> None:
    """Add the instruction between what its implied registers need."""
    if plan.uses_vcc:
        program.add("s_mov_b64", VCC, s(20, 2))
    if plan.is_relative:
        program.add("s_mov_b32", M0, _DISTANCE)
    if plan.is_partial:
        for part in (0, 1):
            register = Register(EXEC.file, part)
            program.add("s_mov_b32", register, _PARTIAL >> 32 * part & 0xFFFFFFFF)
    program.settle()
    program.add_encoded(code)
    program.settle()
    if plan.writes_exec:
        program.safe("s_mov_b64", _OLD_EXEC, EXEC)
    if plan.writes_exec or plan.is_partial:
        program.safe("s_mov_b64", EXEC, -1)
