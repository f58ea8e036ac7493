"""The order of k in a product: how fragments assign it to the instructions."""

from __future__ import annotations

import numpy as np

from amdjit.intrinsics.matrix.operands.blocks import INSTRUCTION_TYPES
from amdjit.intrinsics.matrix.operands.kinds import FragmentKind
from amdjit.intrinsics.matrix.operands.parameters import DataLayout, Nibble, Use
from amdjit.intrinsics.models.matrix_layouts import Array, Generation, MatrixInstruction
from amdjit.intrinsics.models.mfma_instructions import MfmaInstruction
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


def cdna_order(instruction: MfmaInstruction, order: str, k: int) -> Array:
    """Return the same for MFMA and SMFMAC; dense products take k in its order but for `wide_k`.

    With `wide_k`, a lane holds 16 bytes of a fragment's A, as `cdna_blocks` allows where k divides.
    """
    if order not in _ORDERS:
        raise ValueError(f"order {order!r}: give one of {', '.join(map(repr, _ORDERS))}")
    if order == "instruction" or (order == "fragment" and not instruction.is_sparse):
        return np.arange(k)
    block = _cdna_block_order(instruction, order == "wide_k")
    if k % len(block):
        raise ValueError(f"with order {order!r} k is a multiple of {len(block)}, not {k}")
    whole: Array = (np.arange(0, k, len(block))[:, None] + block).ravel()
    return whole


def _cdna_block_order(instruction: MfmaInstruction, wide_k: bool) -> Array:
    layout = instruction.layout("a")
    types = {name: dtype for dtype, name in INSTRUCTION_TYPES.items()}
    several = max(1, 128 // (layout.bits * layout.elements)) if wide_k else 1
    use = Use.SPARSE_A if instruction.is_sparse else Use.MATRIX_A
    blocks = FragmentKind(
        use,
        instruction.m,
        n=instruction.n,
        k=several * instruction.k,
        dtype=types[instruction.a],
        layout=DataLayout.ROW_MAJOR,
        wave_size=64,
        turns=None,
        wide_k=wide_k,
        generation=Generation(instruction.target),
    ).blocks
    held = blocks.held * blocks.per_instruction
    if held != several * layout.elements or (wide_k and instruction.is_sparse):
        raise ValueError(f"no fragments with {order_name(wide_k)} use {instruction.name}")
    lane, element = np.meshgrid(np.arange(64), np.arange(held), indexing="ij")
    _, numbered, _ = layout.position(lane, element % layout.elements)
    odd, upper = blocks.steps
    first = lane // 16 % 2 * odd + lane // 32 * upper
    along = blocks.depth * (element // blocks.held) + first + element % blocks.held
    order = np.empty(several * instruction.held_k, np.int64)
    order[element // layout.elements * instruction.held_k + numbered] = along
    return order


def order_name(wide_k: bool) -> str:
    """Return the order's name in a message."""
    return "wide_k" if wide_k else "the order of fragments"


def _block_order(instruction: MatrixInstruction, wide_k: bool) -> Array:
    """Return the order within a block, which one or more instructions take."""
    if wide_k and (instruction.is_sparse or (instruction.a, instruction.k) == ("iu4", 16)):
        raise ValueError(f"no fragments with wide_k use {instruction.name}: give order='fragment'")
    use = Use.SPARSE_A if instruction.is_sparse else Use.MATRIX_A
    kind = FragmentKind(
        use,
        16,
        n=16,
        k=instruction.k,
        dtype=_ELEMENTS[instruction.a],
        layout=DataLayout.ROW_MAJOR,
        wave_size=instruction.wave_size,
        turns=None,
        wide_k=wide_k,
        generation=instruction.generation,
    )
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
