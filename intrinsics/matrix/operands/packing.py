"""Conversion of whole matrices to the registers of a wave and back, on the host."""

from __future__ import annotations

from typing import Any

import numpy as np

from amdjit.intrinsics.models import mfma_layouts
from amdjit.intrinsics.models.matrix_layouts import DTYPES, Array, Layout
from amdjit.intrinsics.models.mfma_arithmetic import pack_bits, typed, unpack_bits
from amdjit.intrinsics.models.mfma_layouts import MfmaLayout


def pack(layout: Layout | MfmaLayout, matrix: Any, selected: int = 0) -> Array:
    """Return the registers of a wave that holds a matrix: u32 [lanes of the wave, registers].

    matrix: [rows, columns] of numbers, of several blocks [blocks, rows, columns]. Floats are
    rounded to the operand's type; integers must fit into its bits, signed or not. Registers of
    lanes that hold nothing are 0. selected: which of the `layout.sets` the instruction reads, of an
    `index` (`index_key`, on CDNA `abid`), of a scale (its byte) or of a 16-bit C of gfx11
    (`op_sel`); the others are 0. Raises ValueError for other shapes, for integers that do not fit,
    and for a set that does not exist.
    """
    values = np.asarray(matrix)
    if isinstance(layout, MfmaLayout):
        return _pack_blocks(layout, values, selected)
    if values.shape != (layout.rows, layout.columns):
        wanted = f"{layout.rows} by {layout.columns}"
        raise ValueError(f"{layout.operand} of {layout.instruction} is {wanted}, not {_by(values)}")
    _check_set(layout, selected)
    raw = _bits(values, layout)
    held = np.zeros((layout.wave_size, layout.elements), np.uint64)
    held[: layout.lanes * layout.copies] = np.tile(layout.scatter(raw), (layout.copies, 1))
    per_register = layout.elements // layout.registers
    groups = held.reshape(layout.wave_size, layout.registers, per_register)
    shifts = np.arange(per_register, dtype=np.uint64) * np.uint64(layout.bits)
    words = np.bitwise_or.reduce(groups << shifts, axis=2)
    return (words << np.uint64(selected * layout.set_bits % 32)).astype(np.uint32)


def unpack(
    layout: Layout | MfmaLayout, registers: Any, signed: bool = True, selected: int = 0
) -> Array:
    """Return the matrix that a wave's registers hold: [rows, columns], of several blocks [blocks,
    rows, columns].

    registers: [lanes of the wave, bytes of a lane] of any type, as kernels store vectors. signed:
    how 4-bit and 8-bit integers are read. Floats come back in their type (`ml_dtypes` for bf16, fp8
    and bf8), i32 as i32, others as i64. Raises ValueError if the size is not the operand's, and for
    a set that does not exist.
    """
    _check_set(layout, selected)
    words = np.ascontiguousarray(registers)
    if words.nbytes != 4 * layout.wave_size * layout.registers:
        raise ValueError(
            f"{layout.operand} of {layout.instruction} has {layout.registers} registers in "
            f"{layout.wave_size} lanes, "
            f"{4 * layout.wave_size * layout.registers} bytes, not {words.nbytes}"
        )
    if isinstance(layout, MfmaLayout):
        lanes = words.reshape(-1).view(np.uint32).reshape(layout.wave_size, layout.registers)
        return layout.gather(typed(layout, unpack_bits(layout, lanes, selected)))
    words = words.reshape(-1).view(np.uint32).reshape(layout.wave_size, layout.registers)
    per_register = layout.elements // layout.registers
    shifts = np.arange(per_register, dtype=np.uint32) * np.uint32(layout.bits)
    shifts += np.uint32(selected * layout.set_bits % 32)
    mask = np.uint32((1 << layout.bits) - 1)
    raw = layout.gather(
        ((words[..., None] >> shifts) & mask).reshape(layout.wave_size, layout.elements)
    )
    if layout.kind in DTYPES:
        return raw.astype(f"u{layout.bits // 8}").view(DTYPES[layout.kind])
    values = raw.astype(np.int64)
    top = 1 << (layout.bits - 1)
    return (
        np.where(values >= top, values - 2 * top, values)
        if signed and layout.kind != "position"
        else values
    )


def _pack_blocks(layout: MfmaLayout, values: Array, selected: int) -> Array:
    if values.shape != layout.shape:
        wanted = " by ".join(map(str, layout.shape))
        raise ValueError(f"{layout.operand} of {layout.instruction} is {wanted}, not {_by(values)}")
    _check_set(layout, selected)
    if layout.kind not in ("position", "i8", "i32"):
        with np.errstate(over="ignore"):
            values = values.astype(mfma_layouts.DTYPES[layout.kind])
        return pack_bits(layout, layout.scatter(values), selected)
    lowest = 0 if layout.kind == "position" else -(1 << (layout.bits - 1))
    highest = lowest + (1 << layout.bits)
    whole = np.array_equal(values, np.trunc(values))
    if not whole or values.min() < lowest or values.max() >= highest:
        raise ValueError(
            f"{layout.operand} of {layout.instruction} takes integers of {layout.bits} bits"
        )
    return pack_bits(layout, layout.scatter(values.astype(np.int64)), selected)


def _check_set(layout: Layout | MfmaLayout, selected: int) -> None:
    if not 0 <= selected < layout.sets:
        raise ValueError(
            f"set {selected}: {layout.operand} of {layout.instruction} has {layout.sets}"
        )


def _bits(values: Array, layout: Layout) -> Array:
    """Return the bits of a matrix's elements, each in a u64."""
    if layout.kind in DTYPES and layout.kind != "i32":
        with np.errstate(over="ignore"):
            typed = np.ascontiguousarray(values.astype(DTYPES[layout.kind]))
        return typed.view(f"u{layout.bits // 8}").astype(np.uint64)
    lowest = 0 if layout.kind == "position" else -(1 << (layout.bits - 1))
    if (
        not np.array_equal(values, np.trunc(values))
        or values.min() < lowest
        or values.max() >= 1 << layout.bits
    ):
        raise ValueError(
            f"{layout.operand} of {layout.instruction} takes integers of {layout.bits} bits"
        )
    return (values.astype(np.int64) & ((1 << layout.bits) - 1)).astype(np.uint64)


def _by(values: Array) -> str:
    return " by ".join(map(str, values.shape)) or "a number"
