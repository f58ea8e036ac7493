"""Kernels of one matrix instruction each, whose waves take their registers from memory."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

import amdjit
from amdjit import blockIdx, threadIdx
from amdjit.intrinsics import amdgcn
from amdjit.intrinsics.models.mfma_layouts import FORMATS
from amdjit.probe.corpus.matrix.rows import Row

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
