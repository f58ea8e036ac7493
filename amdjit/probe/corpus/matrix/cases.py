"""The batches of matrix instructions: each row is run with each experiment, and with its
modifiers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import amdjit
from amdjit import blockIdx, threadIdx
from amdjit.intrinsics import amdgcn
from amdjit.intrinsics.models.mfma_instructions import MfmaInstruction
from amdjit.intrinsics.models.mfma_layouts import FORMATS
from amdjit.probe.case import Batch, Case, Group, Results
from amdjit.probe.corpus.matrix import dots
from amdjit.probe.corpus.matrix.operands import (
    Operands,
    experiments_of,
    operands_of,
    registers_of,
    unpacked,
)
from amdjit.probe.corpus.matrix.results import hexadecimal, typed
from amdjit.probe.corpus.matrix.rows import Row, rows_of
from amdjit.target import Target

__all__ = ["batches", "cases_of"]


# Kernels of one matrix instruction each, whose waves take their registers from memory.


Registers = NDArray[np.int32]
_VECTOR = 16  # the most registers that one load or store of a kernel moves


@dataclass(frozen=True)
class Form:
    """How an instruction is used: its modifiers."""

    signs: tuple[bool, bool] = (True, True)
    """Whether integer factors of A and B are signed."""
    clamp: bool = False
    """Whether integer sums are clamped."""
    negated: bool = False
    """Whether C of WMMA is negated."""
    absolute: bool = False
    """Whether the absolute value of C of WMMA is used."""
    upper: bool = False
    """Whether a 16-bit C of gfx11 is in the upper halves of the registers."""
    key: int = 0
    """Which part of a sparse product's index is used."""
    modifiers: tuple[int, int, int] = (0, 0, 0)
    """The modifiers cbsz, abid and blgp of MFMA."""
    scales: tuple[int, int] = (0, 0)
    """Which bytes of the registers are the scales of A and B."""

    def __str__(self) -> str:
        texts = {
            f"{'iu'[self.signs[0]]}{'iu'[self.signs[1]]}": self.signs != (True, True),
            "clamp": self.clamp, "neg": self.negated, "abs": self.absolute, "op_sel": self.upper,
            f"key {self.key}": self.key > 0,
            "cbsz {} abid {} blgp {}".format(*self.modifiers): self.modifiers != (0, 0, 0),
            "bytes {} {}".format(*self.scales): self.scales != (0, 0),
        }  # fmt: skip
        return " ".join(text for text, is_there in texts.items() if is_there) or "plain"


@amdjit.device_function
def read_registers(words, first, registers, type):
    """Return the values in the lane's registers."""
    if registers == 1:
        return amdjit.bitcast(words[first], type)
    return amdjit.bitcast(words.load(registers * first, registers), type)


@amdjit.device_function
def write_registers(words, first, registers, value):
    """Write the lane's registers to memory."""
    if registers == 1:
        words[first] = amdjit.bitcast(value, amdjit.i32)
    else:
        words.store(registers * first, amdjit.bitcast(value, amdjit.vector(amdjit.i32, registers)))


@cache
def kernel_of(row: Row, form: Form) -> Any:
    """Return a kernel of an instruction. Its parameters (a, b, c, more, d) are the i32 registers of
    its waves; `more` is the index of a sparse product, or the scales of A and B of a scaled product
    in turn."""
    lanes = row.lanes
    sizes = [row.layout(operand).registers for operand in "abc"]
    builtin = getattr(amdgcn, row.instruction.name)
    a_type, b_type, c_type = _types(builtin)
    a_size, b_size, c_size = (*_padded(row, sizes), sizes[2])
    call = _call_of(row, form, builtin)
    negated, absolute = form.negated, form.absolute

    @amdjit.kernel(block=lanes, wave_size=lanes, warnings=False)
    def kernel(a, b, c, more, d):
        place = blockIdx.x * lanes + threadIdx.x
        left = read_registers(a, place, a_size, a_type)
        right = read_registers(b, place, b_size, b_type)
        added = read_registers(c, place, c_size, c_type)
        if absolute:
            added = abs(added)
        if negated:
            added = -added
        write_registers(d, place, c_size, call(left, right, added, more, place))

    return kernel


def _types(builtin: Any) -> list[Any]:
    values = [each.type for each in builtin.parameters if each.immediate is None]
    return [getattr(type, "constraints", (type,))[0] for type in values[:3]]


def _padded(row: Row, sizes: list[int]) -> list[int]:
    """Return how many registers of A and B the builtin takes: scaled products always take 8."""
    return [8, 8] if row.is_scaled else sizes[:2]


def _call_of(row: Row, form: Form, builtin: Any) -> Any:
    """Return a function that calls the builtin with the arguments of its family."""
    if row.is_mfma:
        return _mfma_call(row, form, builtin)
    if row.instruction.is_integer:
        return _integer_call(row, form, builtin)
    upper, shift = form.upper, form.key * _key_bits(row)
    if row.instruction.is_sparse:

        @amdjit.device_function
        def call(a, b, c, more, i):
            return builtin(a, b, c, amdjit.i32(amdjit.u32(more[i]) >> amdjit.u32(shift)))
    elif getattr(row.layout("c"), "is_spread", False):

        @amdjit.device_function
        def call(a, b, c, more, i):
            return builtin(a, b, c, upper)
    else:

        @amdjit.device_function
        def call(a, b, c, more, i):
            return builtin(a, b, c)

    return call


def _integer_call(row: Row, form: Form, builtin: Any) -> Any:
    a_signed, b_signed = form.signs
    clamp, shift = form.clamp, form.key * _key_bits(row)
    if row.instruction.is_sparse:

        @amdjit.device_function
        def call(a, b, c, more, i):
            index = amdjit.i32(amdjit.u32(more[i]) >> amdjit.u32(shift))
            return builtin(a_signed, a, b_signed, b, c, index, clamp)
    else:

        @amdjit.device_function
        def call(a, b, c, more, i):
            return builtin(a_signed, a, b_signed, b, c, clamp)

    return call


def _mfma_call(row: Row, form: Form, builtin: Any) -> Any:
    cbsz, abid, blgp = form.modifiers
    byte_a, byte_b = form.scales
    if row.formats is not None:
        a_format, b_format = (FORMATS.index(each) for each in row.formats)

        @amdjit.device_function
        def call(a, b, c, more, i):
            return builtin(
                a, b, c, a_format, b_format, byte_a, more[2 * i], byte_b, more[2 * i + 1]
            )
    elif row.instruction.is_sparse:
        key = form.key

        @amdjit.device_function
        def call(a, b, c, more, i):
            return builtin(a, b, c, more[i], 0, key)
    else:

        @amdjit.device_function
        def call(a, b, c, more, i):
            return builtin(a, b, c, cbsz, abid, blgp)

    return call


def _key_bits(row: Row) -> int:
    return row.layout("index").set_bits if row.instruction.is_sparse else 0


def launch(row: Row, form: Form, a: Registers, b: Registers, c: Registers, more: Registers) -> Any:
    """Run the waves on the current device; return their registers of D, i32 [waves, lanes,
    registers]."""
    d = np.full_like(c, 0x5A5A5A5A)
    given = [_widened(row, each) for each in (a, b)]
    flat = [np.ascontiguousarray(each).reshape(-1) for each in (*given, c, more)]
    result = d.reshape(-1)
    kernel_of(row, form)[len(a), row.lanes](*flat, result)
    return result.reshape(d.shape)


def _widened(row: Row, registers: Registers) -> Registers:
    if not row.is_scaled:
        return registers
    wide = np.zeros((*registers.shape[:2], 8), np.int32)
    wide[:, :, : registers.shape[2]] = registers
    return wide


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
