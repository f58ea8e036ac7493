"""Moves to, from and between accumulation VGPRs (CDNA 3 ISA, V_ACCVGPR_READ, _WRITE, _MOV): plain
moves, since both kinds are vector registers here (`isa/register_numbers.py`)."""

from __future__ import annotations

from collections.abc import Mapping

from amdjit.emulator.instructions.operation import VectorOp, vector_ops

VECTOR_ACCUMULATION: Mapping[str, VectorOp] = vector_ops(
    dict.fromkeys(
        ("v_accvgpr_read_b32", "v_accvgpr_write_b32", "v_accvgpr_mov_b32"), lambda b, x: x
    )
)
