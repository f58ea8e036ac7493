"""The batches of matrix instructions: each row is run with each experiment, and with its
modifiers."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from amdjit.intrinsics.models.mfma_instructions import MfmaInstruction
from amdjit.probe.case import Batch, Case, Group, Results
from amdjit.probe.corpus.matrix import dots
from amdjit.probe.corpus.matrix.kernels import Form, launch
from amdjit.probe.corpus.matrix.operands import (
    Operands,
    experiments_of,
    operands_of,
    registers_of,
)
from amdjit.probe.corpus.matrix.registers import unpacked
from amdjit.probe.corpus.matrix.results import hexadecimal, typed
from amdjit.probe.corpus.matrix.rows import Row, rows_of
from amdjit.target import Target

__all__ = ["batches", "cases_of"]

_ROWS = 6  # of a batch
PLAIN = Form()


def batches(target: Target) -> tuple[Batch, ...]:
    """Return the batches of a target's matrix instructions; none if it has none."""
    rows = rows_of(target.name)
    found = []
    for first in range(0, len(rows), _ROWS):
        names = [row.name for row in rows[first : first + _ROWS]]
        found.append(
            Batch(
                f"matrix/{first // _ROWS + 1} {rows[first].name}",
                Group.MATRIX,
                seconds=180.0,
                is_quick=first == 0,
                cases=partial(_cases, names),
                expected=8.0 if rows[first].is_mfma else 6.0,
            )
        )
    return (*found, *dots.batches(target))


def _cases(names: list[str], target: Target) -> Iterator[Case]:
    for row in rows_of(target.name):
        if row.name in names:
            yield from cases_of(row)


def cases_of(row: Row) -> Iterator[Case]:
    """Return a row's cases: one for each experiment, and one for each form of modifiers."""
    for experiment in experiments_of(row):
        yield Case(
            f"{row.name}: {experiment}",
            row.mnemonic,
            partial(_run, row, experiment, PLAIN),
            partial(_inputs, row, experiment),
            row.certainty,
            keeps=not row.instruction.is_integer,
        )
    for form in forms_of(row):
        for experiment in _revealing(row):
            yield Case(
                f"{row.name} ({form}): {experiment}",
                row.mnemonic,
                partial(_run, row, experiment, form),
                partial(_inputs, row, experiment),
                row.certainty,
            )


def _revealing(row: Row) -> tuple[str, ...]:
    """Return the experiments whose results modifiers change."""
    if row.instruction.is_integer:
        return ("any bits", "near limits", "largest")
    return ("near", "specials")


def _run(row: Row, experiment: str, form: Form) -> Results:
    operands = operands_of(row, experiment)
    selected = int(form.upper)
    a, b, c, more = registers_of(row, operands, selected, form.key, form.scales)
    d = launch(row, form, a=a, b=b, c=c, more=more)
    bits = unpacked(row.layout("d"), d, selected)
    results: tuple[NDArray[Any], ...] = (typed(bits, row.kinds[2]),)
    if getattr(row.layout("d"), "is_spread", False):
        results += (d,)  # the halves of registers that the result does not write
    return results


def _inputs(row: Row, experiment: str, result: int, element: int) -> str:
    """Say what an element of D was computed from, as bits in hexadecimal."""
    if result:
        return f"register {element} of the waves"
    operands = operands_of(row, experiment)
    wave, block, i, j = (int(each) for each in np.unravel_index(element, operands.c.shape))
    a, b = operands.a[wave, block, i], operands.b[wave, block, :, j]
    if operands.index is not None:
        rows = 4 * (np.arange(len(a)) // 2) + operands.index[wave, i].astype(np.int64)
        b = b[rows]
    place = f"row {i}, column {j} of wave {wave}" + (f", block {block}" if row.blocks > 1 else "")
    c = int(operands.c[wave, block, i, j])
    return (
        f"{place}: a {hexadecimal(a)}, b {hexadecimal(b)}, c {c:#x}{_scales(operands, wave, i, j)}"
    )


def _scales(operands: Operands, wave: int, i: int, j: int) -> str:
    if operands.scales is None:
        return ""
    left, right = operands.scales[0][wave, i], operands.scales[1][wave, :, j]
    return f", scales {hexadecimal(left)} and {hexadecimal(right)}"


# The modifiers that each row is tried with.


def forms_of(row: Row) -> list[Form]:
    """Return the forms of a row other than the plain one."""
    if isinstance(row.instruction, MfmaInstruction):
        return _mfma_forms(row, row.instruction)
    found = []
    if row.instruction.is_integer:
        found += [Form((False, False)), Form((False, True), True), Form((True, False), True)]
        found.append(Form(clamp=True))
    elif not (row.is_gfx11 or row.instruction.is_sparse or row.kinds[2] == "bf16"):
        # LLVM turns these into modifiers: neg_lo and neg_hi of C.
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
