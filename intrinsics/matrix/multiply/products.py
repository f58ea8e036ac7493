"""What matrix instructions compute, on whole matrices, in NumPy: those of RDNA here, those of CDNA
in `cdna_products`."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from amdjit.intrinsics.matrix.multiply.cdna_products import cdna_reference
from amdjit.intrinsics.matrix.multiply.orders import k_order
from amdjit.intrinsics.models.matrix_arithmetic import product
from amdjit.intrinsics.models.matrix_layouts import (
    BITS,
    DTYPES,
    Array,
    Generation,
    MatrixInstruction,
    index_rows,
    matrix_instruction,
)
from amdjit.intrinsics.models.mfma_instructions import CDNA
from amdjit.isa.matrix_rounding import FORMATS


def reference(
    name: str, a: Any, b: Any, c: Any, index: Any = None, *, a_signed: bool = True, b_signed: bool =
    True, clamp: bool = False, fp16_ovfl: bool = False, order: str = "instruction",
    target: str | None = None, formats: tuple[str, str] = ("fp8", "fp8"),
    scales: tuple[Any, Any] | None = None,
) -> Array:  # fmt: skip
    """Return D = A B + C in the instruction's result type, rounded as a chain of instructions along
    k rounds it.

    a: m by k; for sparse products m by k / 2 with `index`, as returned by `compress_2to4`. b: k by
    n; c: m by n. m, n and k are multiples of an instruction's (one block of it). Operands are
    converted to their types; `a_signed` and `b_signed` say how integers of 4 and 8 bits are read.
    clamp: saturate to i32 instead of wrapping. fp16_ovfl: the bit of MODE under which sums that
    overflow f16 become its largest number. order: the order of k, on which sums of floats depend:
    "instruction", as the ISA document numbers it; "fragment", as `mma_sync` takes it; "wide_k", as
    `mma_sync` takes it for fragments with `wide_k=True`. target: the processor, such as "gfx1100",
    whose sums are others; without it, gfx12. formats, scales: of scaled products
    (gfx950), the formats of A and B and their scales, powers of two [m, k / 32] and [k / 32, n], 1
    if there are none.

    `certainty(name, target)` says how well this is known to be a GPU's result, bit for bit; for fp8
    and bf8 the rounding is a model that nobody has measured. Raises ValueError for shapes that do
    not fit.
    """
    if target in CDNA:
        _check_cdna(name, target, a_signed and b_signed, fp16_ovfl)
        found = None if index is None else _places(index)
        return cdna_reference(
            name,
            str(target),
            a=a,
            b=b,
            c=c,
            places=found,
            clamp=clamp,
            order=order,
            formats=formats,
            scales=scales,
        )
    instruction, left, right, added, places = operands(
        name, a, b=b, c=c, index=index, a_signed=a_signed, b_signed=b_signed, target=target
    )
    k = k_order(instruction, order, left.shape[1])
    if places is None:
        return product(instruction, left[:, k], right[k], added, clamp=clamp, fp16_ovfl=fp16_ovfl)
    return product(
        instruction, left[:, k], right, added, places[:, k], clamp=clamp, fp16_ovfl=fp16_ovfl
    )


def _check_cdna(name: str, target: str | None, signed: bool, fp16_ovfl: bool) -> None:
    """Raise ValueError for what MFMA has not."""
    if not signed:
        raise ValueError(f"{name} of {target} multiplies signed integers only")
    if fp16_ovfl:
        raise ValueError(f"{name} of {target} has no results of f16, which fp16_ovfl is about")


def operands(
    name: str,
    a: Any,
    b: Any,
    c: Any,
    index: Any,
    a_signed: bool = True,
    b_signed: bool = True,
    target: str | None = None,
) -> tuple[MatrixInstruction, Array, Array, Array, Array | None]:
    """Return an instruction and its operands in their types; for a sparse one, also the rows of B
    that its A meets."""
    instruction = matrix_instruction(name, target)
    left = _typed(a, instruction.a, a_signed)
    right = _typed(b, instruction.b, b_signed)
    added = _typed(c, instruction.result, True)
    _check_shapes(instruction, left, right, added, index)
    return instruction, left, right, added, None if index is None else index_rows(_places(index))


def _check_shapes(instruction: MatrixInstruction, a: Array, b: Array, c: Array, index: Any) -> None:
    ratio = 2 if instruction.is_sparse else 1
    shapes = [part.shape for part in (a, b, c)]
    if all(len(shape) == 2 for shape in shapes) and (index is not None) == instruction.is_sparse:
        (m, held), (k, n) = shapes[:2]
        fits = (held * ratio, (m, n)) == (k, shapes[2]) and (
            index is None or np.shape(index) == shapes[0]
        )
        if fits and not (m % 16 or n % 16 or k % instruction.k or 0 in (m, n, k)):
            return
    wanted = ", ".join(map(str, ((16, instruction.held_k), (instruction.k, 16), (16, 16))))
    wanted += ", or multiples of them that fit" + (
        ", and an index of A's shape" if instruction.is_sparse else ""
    )
    given = ", ".join(map(str, shapes)) + (
        "" if index is None else f" and an index of {np.shape(index)}"
    )
    raise ValueError(f"{instruction.name} takes {wanted}, not {given}")


def compress_2to4(a: Any) -> tuple[Array, Array]:
    """Return a matrix with at most two nonzero values in every four as (values, index): SWMMAC's
    operands A and index.

    a: [rows, k], k a multiple of 4. values: [rows, k / 2] of a's type. index: u8 [rows, k / 2], the
    position of each value in its four, 0 to 3, ascending. If fewer than two are nonzero, zeros fill
    up; if more are, ValueError is raised.
    """
    dense = np.asarray(a)
    if dense.ndim != 2 or dense.shape[1] % 4:
        raise ValueError(f"a of shape {dense.shape}: give rows of a multiple of 4 elements")
    fours = dense.reshape(len(dense), dense.shape[1] // 4, 4)
    full = fours != 0
    if (full.sum(axis=2) > 2).any():
        row, four = np.argwhere(full.sum(axis=2) > 2)[0]
        raise ValueError(
            f"row {row} has more than two values in columns {4 * four} to {4 * four + 3} that are "
            "not zero"
        )
    # A stable sort puts nonzero values first; the two that are kept then return to their order.
    index = np.sort(np.argsort(~full, axis=2, kind="stable")[..., :2], axis=2)
    values = np.take_along_axis(fours, index, axis=2)
    kept = len(dense), dense.shape[1] // 2
    return values.reshape(kept), index.reshape(kept).astype(np.uint8)


def pack_index(index: Any) -> Array:
    """Return the index from `compress_2to4` in the form that `load_index_sync` reads: u8 [rows, k /
    8], rounded up.

    2 bits per element, the first of a row in the lowest bits of its first byte. Raises ValueError
    for positions outside 0 to 3.
    """
    places = _places(index)
    padded = np.pad(places.astype(np.uint8), ((0, 0), (0, -places.shape[1] % 4)))
    fours = padded.reshape(len(places), padded.shape[1] // 4, 4)
    packed: Array = np.bitwise_or.reduce(fours << np.arange(0, 8, 2, dtype=np.uint8), axis=2)
    return packed


def expand_2to4(values: Any, index: Any) -> Array:
    """Return the matrix that `compress_2to4` was given. Values with the same position in a four add
    up.

    Raises ValueError for shapes that do not fit and for positions outside 0 to 3.
    """
    held, places = np.asarray(values), _places(index)
    if held.shape != places.shape:
        raise ValueError(
            f"values of shape {held.shape} and an index of shape {places.shape} do not fit"
        )
    whole = np.zeros((len(held), 2 * held.shape[1]), held.dtype)
    columns = 4 * (np.arange(held.shape[1]) // 2) + places
    np.add.at(whole, (np.arange(len(held))[:, None], columns), held)
    return whole


def _places(index: Any) -> Array:
    """Return an index as integers. Raises ValueError unless it has rows of pairs of 0 to 3."""
    places = np.asarray(index)
    if places.ndim != 2 or places.shape[1] % 2:
        raise ValueError(f"an index of shape {places.shape}: give rows of pairs of 0 to 3")
    wrong = places[~np.isin(places, (0, 1, 2, 3))]
    if wrong.size:
        raise ValueError(f"an index with {wrong[0]}: give rows of pairs of 0 to 3")
    return places.astype(np.int64)


def _typed(matrix: Any, kind: str, signed: bool) -> Array:
    """Return a matrix as an operand: floats in their type, integers as i64."""
    values = np.asarray(matrix)
    if kind in DTYPES and kind != "i32":
        with np.errstate(over="ignore", invalid="ignore"):
            return values.astype(DTYPES[kind])
    limit = 1 << BITS[kind]
    wrapped = values.astype(np.int64) & (limit - 1)
    return np.where(signed & (wrapped >= limit // 2), wrapped - limit, wrapped)


# How far products of floats may be from the exact ones, by the rule that adds them.
#
# A step (see `isa.matrix_rounding`) floors a few terms to its grid, whose unit is at most 2**-24 of
# the largest product, 2**-26 of C, or 2**(L - 26), and rounds once. B, the sum of all magnitudes,
# bounds each of these numbers; a subnormal factor counts as the smallest normal number, whose
# exponent it has. Each step makes an error E grow to at most E + q (B + E) + t.
#
# On gfx11 a step has two products, and each of its terms is off by at most one unit. What it takes
# for 0, subnormal factors of bf16 and subnormal numbers of f32, is an error of its own.


# The cost of rounding to a result type, relative and at least, and L. bf16 is truncated.
_ROUNDING: Mapping[str, tuple[float, float, int]] = MappingProxyType(
    {
        "f32": (2.0**-24, 2.0**-149, -126),
        "f16": (2.0**-11, 2.0**-24, -14),
        "bf16": (2.0**-7 + 2.0**-23, 2.0**-132, -126),
    }
)


def error_bound(
    name: str, a: Any, b: Any, c: Any, index: Any = None, *, target: str | None = None
) -> Array:
    """Return a bound, as f64, on the distance of each element of `reference(name, a, b, c, index,
    target=target)` from the exact A B + C.

    The bound holds for every order of k, as long as nothing overflows and all operands are finite.
    For integers it is 0, unless they wrap or saturate. It does not include errors of converting the
    operands to their types.
    """
    instruction, left, right, added, places = operands(name, a, b, c, index, target=target)
    if instruction.is_integer:
        return np.zeros(added.shape)
    x, y = _magnitudes(left, instruction.a), _magnitudes(right, instruction.b)
    total = np.abs(added.astype(np.float64))
    if places is None:
        total += x @ y
    else:
        for row, picked in enumerate(places):
            total[row] += x[row] @ y[picked]
    floored = 6 if BITS[instruction.a] == 8 else 3
    part, least, lowest = _ROUNDING[instruction.result]
    steps, lost = left.shape[1] // 4, 0.0
    if instruction.generation is Generation.GFX11:
        steps *= 2
        least = least if instruction.result == "f16" else 2.0**-126
        lost = _flushed(instruction.a, left, right) + 2.0**-126
    q = floored * 2.0**-24 * (1 + part) + part
    t = floored * 2.0 ** (lowest - 26) * (1 + part) + least
    growth = (1 + q) ** steps
    bound: Array = (1 + 2.0**-20) * ((growth - 1) * total + (steps * t + lost) * growth)
    return bound


def _flushed(kind: str, left: Array, right: Array) -> Any:
    """Return the sum of the magnitudes of products that gfx11 takes for 0."""
    if kind != "bf16":
        return 0.0
    smallest = 2.0 ** FORMATS[kind].lowest
    x, y = (np.abs(each.astype(np.float64)) for each in (left, right))
    return x @ y - np.where(x < smallest, 0, x) @ np.where(y < smallest, 0, y)


def _magnitudes(matrix: Array, kind: str) -> Array:
    values = np.abs(matrix.astype(np.float64))
    return np.where(values > 0, np.maximum(values, 2.0 ** FORMATS[kind].lowest), 0)
