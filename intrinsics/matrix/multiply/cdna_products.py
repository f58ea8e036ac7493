"""What MFMA and SMFMAC compute, on whole matrices, in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from amdjit.intrinsics.matrix.multiply.orders import cdna_order
from amdjit.intrinsics.models.matrix_layouts import index_rows
from amdjit.intrinsics.models.mfma_arithmetic import product
from amdjit.intrinsics.models.mfma_instructions import MfmaInstruction, mfma_instruction
from amdjit.intrinsics.models.mfma_layouts import DTYPES, SCALED_TOGETHER, Array


def cdna_reference(
    name: str, target: str, a: Any, b: Any, c: Any, places: Array | None, clamp: bool, order: str,
    formats: tuple[str, str], scales: tuple[Any, Any] | None,
) -> Array:  # fmt: skip
    """Return A B + C as a chain of one instruction along k computes it: `products.reference` on a
    processor with MFMA. places: the index of a sparse A, as integers."""
    instruction = mfma_instruction(name, target)
    kinds = (instruction.a, instruction.b)
    if instruction.is_scaled:
        for format in formats:
            instruction.layout("a", format)  # refuses unknown formats
        kinds = formats
    elif scales is not None:
        raise ValueError(f"{instruction.name} has no scales: only those of gfx950 with f8f6f4 do")
    left, right = (_typed(each, kind) for each, kind in zip((a, b), kinds, strict=True))
    added = _typed(c, instruction.result)
    _check_shapes(instruction, left, right, added, places)
    if instruction.is_scaled:
        if order != "instruction":
            raise ValueError(f"order {order!r}: no fragments use {instruction.name}")
        scaled = _scales(instruction, left, right, scales)
        return product(instruction, left, b=right, c=added, places=None, scales=scaled, clamp=clamp)
    k = cdna_order(instruction, order, left.shape[1])
    if places is None:
        return product(
            instruction, left[:, k], b=right[k], c=added, places=None, scales=None, clamp=clamp
        )
    rows = index_rows(places)[:, k]
    return product(instruction, left[:, k], b=right, c=added, places=rows, scales=None, clamp=clamp)


def _scales(
    instruction: MfmaInstruction, a: Array, b: Array, scales: tuple[Any, Any] | None
) -> tuple[Array, Array]:
    """Return scales in their type. Raises ValueError for shapes that do not fit, and for numbers
    that are no powers of two."""
    along = a.shape[1] // SCALED_TOGETHER
    shapes = ((a.shape[0], along), (along, b.shape[1]))
    given = (np.ones(shapes[0]), np.ones(shapes[1])) if scales is None else scales
    found = []
    for each, shape in zip(given, shapes, strict=True):
        values = np.asarray(each)
        typed = values.astype(DTYPES["e8m0"])
        same = typed.astype(np.float64) == values.astype(np.float64)
        if values.shape != shape or not (same | np.isnan(values.astype(np.float64))).all():
            raise ValueError(
                f"scales of {instruction.name} are powers of two from 2**-127 to 2**127, here of "
                f"shapes {shapes[0]} and {shapes[1]}, one for {SCALED_TOGETHER} elements along k"
            )
        found.append(typed)
    return found[0], found[1]


def _check_shapes(
    instruction: MfmaInstruction, a: Array, b: Array, c: Array, places: Array | None
) -> None:
    shapes = [part.shape for part in (a, b, c)]
    if all(len(shape) == 2 for shape in shapes) and (places is not None) == instruction.is_sparse:
        (m, held), (k, n) = shapes[:2]
        ratio = 2 if instruction.is_sparse else 1
        fits = (held * ratio, (m, n)) == (k, shapes[2])
        fits = fits and (places is None or places.shape == shapes[0])
        whole = not (m % instruction.m or n % instruction.n or k % instruction.k)
        if fits and whole and 0 not in (m, n, k):
            return
    wanted = f"({instruction.m}, {instruction.held_k}), ({instruction.k}, {instruction.n}), "
    wanted += f"({instruction.m}, {instruction.n}), or multiples of them that fit"
    if instruction.is_sparse:
        wanted += ", and an index of A's shape"
    given = ", ".join(map(str, shapes))
    given += "" if places is None else f" and an index of {places.shape}"
    raise ValueError(f"{instruction.name} takes {wanted}, not {given}")


def _typed(matrix: Any, kind: str) -> Array:
    """Return a matrix as an operand; integers wrap."""
    values = np.asarray(matrix)
    with np.errstate(over="ignore", invalid="ignore"):
        if kind in ("i8", "i32"):
            return values.astype(np.int64).astype(DTYPES[kind])
        return np.ascontiguousarray(values.astype(DTYPES[kind]))
