"""The value of another lane, whose number differs in bits that are known when compiling, by what
the processor has for it.

From gfx10 on, DPP and the row permutations reach every lane of a half of the wave, from gfx11 on
`v_permlane64_b32` the other half. gfx9 has the DPP of rows only: mirrors, rotations and
permutations of four lanes. Other rows are reached through the LDS hardware (`ds_swizzle_b32`, and
`ds_bpermute_b32` for the other half), which takes no memory.

Sources: RDNA4 ISA, "DPP16", `v_permlanex16_b32`; CDNA3 ISA, "DPP", `ds_swizzle_b32`.
"""

from __future__ import annotations

from amdjit.declarations import device_function
from amdjit.intrinsics.builtins.table import row_of
from amdjit.intrinsics.lanes.dpp import (
    permlane64,
    permlanex16,
    quad_perm,
    row_half_mirror,
    row_mirror,
    row_ror,
    swizzle,
)
from amdjit.intrinsics.wave import shuffle_xor, swap_in_rows, swap_rows
from amdjit.language.compile_time import Compilation, compile_time
from amdjit.types import u32


@compile_time
def _permutes_rows(compilation: Compilation) -> bool:
    """Whether there are instructions that exchange rows of 16 lanes."""
    return compilation.target.name in row_of("permlanex16").targets


@compile_time
def selectors_of_row(compilation: Compilation, mask: int) -> tuple[int, int]:
    """Return the selectors of `permlanex16` for the lane of the neighbour row whose number differs
    in a mask."""
    low, high = (
        sum((lane ^ mask) << 4 * (lane % 8) for lane in range(first, first + 8)) for first in (0, 8)
    )
    return low, high


@device_function
def of_lane(value, mask):
    """Return the value of the lane whose number differs in the bits of a constant mask."""
    if not _permutes_rows():
        return _of_lane_on_gfx9(value, mask)
    if mask < 16:
        return swap_in_rows(value, mask)
    if mask == 16:
        return swap_rows(value)
    if mask < 32:
        low, high = selectors_of_row(mask - 16)
        return permlanex16(value, u32(low), u32(high))
    if mask == 32:
        return permlane64(value)
    return (
        permlane64(swap_rows(value)) if mask == 48 else swap_in_rows(permlane64(value), mask - 32)
    )


@device_function
def _of_lane_on_gfx9(value, mask):
    """Return the same for a mask of bits of 16 lanes by DPP, in two steps at most."""
    if mask >= 32:
        return shuffle_xor(value, mask)
    if mask >= 16:
        return swizzle(value, 31, 0, mask)
    if mask < 4:
        return _in_fours(value, mask)
    if mask < 8:
        return _in_fours(row_half_mirror(value), mask ^ 7)
    return (
        _in_fours(row_ror(value, 8), mask ^ 8)
        if mask < 12
        else _in_fours(row_mirror(value), mask ^ 15)
    )


@device_function
def _in_fours(value, mask):
    if mask == 0:
        return value
    return quad_perm(value, mask, 1 ^ mask, 2 ^ mask, 3 ^ mask)
