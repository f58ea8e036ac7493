"""Products of matrices as WMMA and SWMMAC of gfx12 and WMMA of gfx11 compute them: of whole
matrices, and of a wave's registers.

Floats: by the rules of `isa.matrix_rounding`. A sparse product multiplies the kept elements of A
with the elements of B that its index picks; a step takes neighbours among the kept ones. Integers
are exact and wrap. With `clamp`, the sum saturates twice per instruction: after the products of the
lower half of its k (which lanes 0 to 15 of a wave32 hold) and after the rest. On gfx11 it saturates
once, at the end.

Sources: those of the rules; bjacob/goc's captures for integers and sparse products. `certainty`
says what of this is measured.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from amdjit.intrinsics.models import quick_sums, sums_of_products
from amdjit.intrinsics.models.matrix_layouts import (
    DTYPES,
    GFX11_INSTRUCTIONS,
    INSTRUCTIONS,
    Array,
    Generation,
    Layout,
    MatrixInstruction,
    index_rows,
    unpack_nibbles,
)
from amdjit.isa.matrix_rounding import rdna_rule

_ROWS = 128  # rows of a sparse A per turn: each picks its own rows of B


def product(
    instruction: MatrixInstruction,
    a: Array,
    b: Array,
    c: Array,
    places: Array | None = None,
    *,
    clamp: bool = False,
    fp16_ovfl: bool = False,
) -> Array:
    """Return c + a b, computed by as many instructions in sequence as k takes, in the result's
    type.

    a: [m, k], sparse [m, k / 2]; b: [k, n]; c: [m, n]: floats in their types, integers as i64.
    places: which row of b each element of a sparse a is multiplied with.
    """
    if places is None:
        if instruction.is_integer:
            return _integers(instruction, a, b, c, clamp)
        return _floats(instruction, a, b, c, fp16_ovfl)
    total = np.empty(c.shape, DTYPES[instruction.result])
    for row in range(0, len(c), _ROWS):
        rows = slice(row, row + _ROWS)
        total[rows] = _sparse(
            instruction,
            a[rows],
            b=b,
            c=c[rows],
            places=places[rows],
            clamp=clamp,
            fp16_ovfl=fp16_ovfl,
        )
    return total


def _floats(instruction: MatrixInstruction, a: Array, b: Array, c: Array, fp16_ovfl: bool) -> Array:
    kinds = (instruction.a, instruction.b, instruction.result)
    is_gfx11 = instruction.generation is Generation.GFX11
    add = (sums_of_products if is_gfx11 else quick_sums).multiply_accumulate
    return add(rdna_rule(kinds, is_gfx11), a, b, c, kinds, fp16_ovfl=fp16_ovfl)


def _sparse(
    instruction: MatrixInstruction,
    a: Array,
    b: Array,
    c: Array,
    places: Array,
    clamp: bool,
    fp16_ovfl: bool,
) -> Array:
    """Return a product of few rows, one instruction after the other."""
    held = instruction.held_k
    for first in range(0, a.shape[1], held):
        kept, picked = a[:, None, first : first + held], b[places[:, first : first + held]]
        if instruction.is_integer:
            c = _integers(instruction, kept, picked, c[:, None], clamp)[:, 0]
        else:
            c = _floats(instruction, kept, picked, c[:, None], fp16_ovfl)[:, 0]
    return c


def _integers(instruction: MatrixInstruction, a: Array, b: Array, c: Array, clamp: bool) -> Array:
    """Return c + a b as i32. The sums of products are taken in f64, where NumPy is fast."""
    a, b, total = a.astype(np.float64), b.astype(np.float64), c.astype(np.int64)
    parts = 2 if instruction.generation is Generation.GFX12 else 1
    step = instruction.held_k // parts if clamp else a.shape[-1]
    for first in range(0, a.shape[-1], step):
        k = slice(first, first + step)
        total = total + (a[..., k] @ b[..., k, :]).astype(np.int64)
        if clamp:
            limits = np.iinfo(np.int32)
            total = np.clip(total, limits.min, limits.max)
    return total.astype(np.int32)


def wave_product(name: str, *arguments: Any) -> Array | None:
    """Return what a builtin computes. Its arguments and result are a wave's: arrays with one row
    per lane.

    The arguments come in clang's order: a, b, c and, for sparse products, index; for integers
    a_signed, a, b_signed, b, c, index, clamp; for 16-bit results of gfx11 a, b, c, upper. Returns
    None for builtins of processors other than gfx12 and gfx11.
    """
    instruction = INSTRUCTIONS.get(name)
    if instruction is None:
        repeated = GFX11_INSTRUCTIONS.get(name.replace("_tied", ""))
        return None if repeated is None else _repeated_product(repeated, list(arguments))
    signs, clamp, operands = _flags(instruction, list(arguments))
    a, b, c = operands[:3]
    places = None
    if instruction.is_sparse:
        places = index_rows(_held(instruction.layout("index"), operands[3], False))
    left, right = (
        _held(instruction.layout("a"), a, signs[0]),
        _held(instruction.layout("b"), b, signs[1]),
    )
    layout = instruction.layout("d")
    total = product(instruction, left, right, _held(layout, c, True), places, clamp=clamp)
    return np.ascontiguousarray(layout.scatter(total)).view(np.asarray(c).dtype)


def _flags(
    instruction: MatrixInstruction, arguments: list[Any]
) -> tuple[tuple[bool, bool], bool, list[Any]]:
    """Return whether A and B are signed, whether the result saturates, and the other arguments."""
    if not instruction.is_integer:
        return (True, True), False, arguments
    signs = bool(arguments.pop(0)), bool(arguments.pop(1))
    return signs, bool(arguments.pop()), arguments


def _repeated_product(instruction: MatrixInstruction, arguments: list[Any]) -> Array:
    """Return what a builtin of gfx11 computes. Each group of 16 lanes makes its own rows of D, of
    its own A and B; the half of a register that a 16-bit result leaves is C's."""
    signs, clamp, (a, b, c, *upper) = _flags(instruction, arguments)
    layout, groups = instruction.layout("d"), instruction.wave_size // 16
    held = np.ascontiguousarray(c)
    words = held.reshape(instruction.wave_size, -1).view(DTYPES[layout.kind]).copy()
    stride = words.shape[1] // layout.elements
    mine = words[:, int(bool(upper and upper[0])) :: stride]
    added = layout.gather(mine)
    added = added.astype(np.int64) if layout.kind == "i32" else added
    total = np.empty((16, 16), DTYPES[layout.kind])
    for group in range(groups):
        lanes, rows = slice(16 * group, 16 * group + 16), slice(group, None, groups)
        left, right = (
            _held(instruction.layout(operand), np.asarray(given)[lanes], signed)
            for operand, given, signed in (("a", a, signs[0]), ("b", b, signs[1]))
        )
        total[rows] = product(instruction, left[rows], right, added[rows], clamp=clamp)
    mine[...] = layout.scatter(total)
    return words.view(held.dtype).reshape(held.shape)


def _held(layout: Layout, registers: Any, signed: bool) -> Array:
    """Return the matrix in a wave's registers, floats in their own type, integers as i64."""
    words = np.ascontiguousarray(registers).reshape(len(registers), -1)
    if layout.kind in DTYPES:
        found = layout.gather(words.view(DTYPES[layout.kind]))
        return found.astype(np.int64) if layout.kind == "i32" else found
    if layout.bits == 8:
        return layout.gather(words.view(np.int8 if signed else np.uint8)).astype(np.int64)
    if layout.bits == 4:
        return layout.gather(unpack_nibbles(words.view(np.uint32), signed))
    shifts = np.arange(0, 2 * layout.elements, 2, dtype=np.uint32)
    return layout.gather((words.view(np.uint32) >> shifts & 3).astype(np.int64))
