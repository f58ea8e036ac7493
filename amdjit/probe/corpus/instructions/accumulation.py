"""Moves between VGPRs and accumulation VGPRs (CDNA): there and back, since nothing else shows what
an accumulation VGPR holds."""

from __future__ import annotations

from amdjit.isa.rows import Row
from amdjit.probe.corpus.instructions.trials import Result, Source, Trial
from amdjit.probe.machine_code import Program, a, v

__all__ = ["accumulation_trial"]

_SOURCE, _RESULT = v(8), v(64)


def accumulation_trial(row: Row) -> Trial:
    """Return the trial of v_accvgpr_write_b32, v_accvgpr_read_b32 or v_accvgpr_mov_b32."""
    mnemonic = row.opcode.mnemonic
    return Trial(
        mnemonic,
        mnemonic,
        (row.format.name, row.opcode.code),
        (Source(_SOURCE, "b32", 1),),
        (_RESULT,),
        lambda program: _add(program, "mov" in mnemonic),
        (Result(_RESULT, "b32"),),
    )


def _add(program: Program, moves: bool) -> None:
    program.safe("v_accvgpr_write_b32", a(2), _SOURCE)
    if moves:
        program.safe("v_accvgpr_mov_b32", a(5), a(2))
    program.safe("v_accvgpr_read_b32", _RESULT, a(5 if moves else 2))
