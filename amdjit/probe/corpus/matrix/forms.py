"""The modifiers that each row is tried with."""

from __future__ import annotations

from amdjit.intrinsics.models.mfma_instructions import MfmaInstruction
from amdjit.probe.corpus.matrix.kernels import Form
from amdjit.probe.corpus.matrix.rows import Row

__all__ = ["forms_of"]


def forms_of(row: Row) -> list[Form]:
    """Return the forms of a row beside the plain one."""
    if isinstance(row.instruction, MfmaInstruction):
        return _mfma_forms(row, row.instruction)
    found = []
    if row.instruction.is_integer:
        found += [Form((False, False)), Form((False, True), True), Form((True, False), True)]
        found.append(Form(clamp=True))
    elif not (row.is_gfx11 or row.instruction.is_sparse or row.kinds[2] == "bf16"):
        # LLVM makes modifiers of these: neg_lo and neg_hi of C.
        found += [Form(negated=True), Form(absolute=True), Form(negated=True, absolute=True)]
    if getattr(row.layout("c"), "is_spread", False):
        found.append(Form(upper=True))
    if row.instruction.is_sparse:
        found += [Form(key=key) for key in range(1, row.layout("index").sets)]
    return found


def _mfma_forms(row: Row, instruction: MfmaInstruction) -> list[Form]:
    if row.is_scaled:
        return [Form(scales=(1, 2)), Form(scales=(3, 0))]
    if instruction.is_sparse:
        return [Form(key=key) for key in range(1, row.layout("index").sets)]
    found = []
    if instruction.highest_blgp:
        found += [Form(modifiers=(0, 0, blgp)) for blgp in range(1, 8)]
    if instruction.highest_cbsz:
        top = instruction.highest_cbsz
        found += [Form(modifiers=(1, 1, 0)), Form(modifiers=(top, (1 << top) - 1, 0))]
    return list(dict.fromkeys(found))
