"""Dual-issue instructions: each half with some others."""

from __future__ import annotations

from collections.abc import Iterator

from amdjit.isa.instruction import Literal, Register
from amdjit.isa.instruction_set import InstructionSet
from amdjit.isa.rows import Row, row_of
from amdjit.probe.corpus.instructions.trials import Result, Source, Trial
from amdjit.probe.machine_code import VCC, EncodingError, Program, s, v
from amdjit.probe.machine_code.dual import Half, assemble_dual
from amdjit.probe.machine_code.operands import Value

__all__ = ["dual_trials"]

_WAVE_SIZE = 32
# RDNA 3 ISA, 7.6 "Dual Issue VALU": sources of the halves lie in different banks of four, and
# destinations at an even and an odd register.
_FIRST = {"vdst": 64, "src0": 8, "src1": 100}
_SECOND = {"vdst": 67, "src0": 9, "src1": 101}
_PARTNERS = ("v_dual_mov_b32", "v_dual_fmac_f32", "v_dual_cndmask_b32")
_LITERAL = Literal(0x40490FDB)


def dual_trials(table: str, code: int, sets: InstructionSet) -> Iterator[Trial]:
    """Yield the trials of a half: table is VOPDX or VOPDY."""
    other = "VOPDY" if table == "VOPDX" else "VOPDX"
    row = row_of(table, code, _WAVE_SIZE, sets)
    assert row is not None
    for partner_code, entry in sets.rows[other].items():
        if entry[0] in _PARTNERS:
            partner = row_of(other, partner_code, _WAVE_SIZE, sets)
            assert partner is not None
            for constant in (None, 0.5, s(24), _LITERAL):
                trial = _trial(row, partner, table == "VOPDX", constant, sets)
                if trial is not None:
                    yield trial


def _trial(
    row: Row, partner: Row, is_first: bool, constant: Value, sets: InstructionSet
) -> Trial | None:
    """Return the trial; None if the halves do not go together."""
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
        ("VOPDX" if is_first else "VOPDY", row.opcode.code),
        tuple(sources),
        tuple(before),
        lambda program: _add(program, code),
        tuple(results),
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


def _add(program: Program, code: bytes) -> None:
    program.safe("s_mov_b64", VCC, s(20, 2))
    program.add_encoded(code)
