"""The order of k in a product: how fragments assign it to the instructions."""

from __future__ import annotations

import numpy as np

from amdjit.intrinsics.matrix.operands.kinds import FragmentKind
from amdjit.intrinsics.matrix.operands.parameters import DataLayout, Nibble, Use
from amdjit.intrinsics.models.matrix_layouts import Array, MatrixInstruction
from amdjit.types import Scalar, bf8, bf16, f16, fp8, i8

_ORDERS = ("instruction", "fragment", "wide_k")
_ELEMENTS: dict[str, Scalar | Nibble] = {
    "f16": f16, "bf16": bf16, "fp8": fp8, "bf8": bf8, "iu8": i8, "iu4": Nibble.I4,
}  # fmt: skip


def k_order(instruction: MatrixInstruction, order: str, k: int) -> Array:
    """Return the elements along a row of A in the order in which consecutive instructions number
    them.

    k: the number of elements; for a sparse A, of those that are held. Raises ValueError for orders
    not in `_ORDERS`, for `wide_k` where no fragments have it, and for a k that is not a number of
    whole blocks.
    """
    if order not in _ORDERS:
        raise ValueError(f"order {order!r}: give one of {', '.join(map(repr, _ORDERS))}")
    if order == "instruction":
        return np.arange(k)
    block = _block_order(instruction, order == "wide_k")
    if k % len(block):
        raise ValueError(f"with order {order!r} k is a multiple of {len(block)}, not {k}")
    starts = np.arange(0, k, len(block))
    whole: Array = (starts[:, None] + block).ravel()
    return whole


def _block_order(instruction: MatrixInstruction, wide_k: bool) -> Array:
    """Return the order within a block, which one or more instructions take."""
    if wide_k and (instruction.is_sparse or (instruction.a, instruction.k) == ("iu4", 16)):
        raise ValueError(f"no fragments with wide_k use {instruction.name}: give order='fragment'")
    use = Use.SPARSE_A if instruction.is_sparse else Use.MATRIX_A
    kind = FragmentKind(
        use, 16, 16, instruction.k, _ELEMENTS[instruction.a], DataLayout.ROW_MAJOR,
        instruction.wave_size, None, wide_k, instruction.generation
    )  # fmt: skip
    layout = instruction.layout("a")
    lane, element = np.meshgrid(
        np.arange(0, layout.lanes, 16), np.arange(layout.elements), indexing="ij"
    )
    _, numbered = layout.position(lane, element)
    order = np.empty(instruction.held_k * kind.blocks.per_block, np.int64)
    odd, upper = kind.blocks.steps
    first = lane // 16 % 2 * odd + lane // 32 * upper
    for number in range(kind.blocks.per_block):
        held = number * layout.elements + element
        along = held // kind.blocks.held * kind.blocks.depth + first + held % kind.blocks.held
        order[number * instruction.held_k + numbered] = along
    return order
