"""Fragments as the compiler knows them: which part of which matrix, in whose registers.

A fragment's kind says what the fragment is: its parameters. From them follow how the part lies in
registers, `FragmentKind.blocks`, and how waves divide it, `FragmentKind.share`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from amdjit.intrinsics.matrix.operands.blocks import (
    Blocks,
    blocks_of,
    cdna_blocks,
    cdna_side,
    padded,
    sparse_depths,
    sparse_group,
)
from amdjit.intrinsics.matrix.operands.parameters import (
    DataLayout,
    ElementType,
    Nibble,
    Rounded,
    Use,
    is_left,
    stored_type,
    type_name,
)
from amdjit.intrinsics.matrix.operands.schedules import Share, Turns, share_of, turns_of
from amdjit.intrinsics.models.matrix_layouts import Generation, instructions_with
from amdjit.intrinsics.models.mfma_instructions import cdna_of
from amdjit.language.compile_time import Compilation, Refused, compile_time
from amdjit.target import TARGETS
from amdjit.types import SCALARS, Scalar


@dataclass(frozen=True)
class FragmentKind:
    """A fragment's parameters.

    A sparse A is a matrix of its kept elements, k / 2 in a row; its index says where they stand.
    Its blocks are half as deep as those of B, so that a block of A meets one of B.
    """

    use: Use
    m: int
    """Rows of the product that it is part of, in elements."""
    n: int
    """Columns of that product."""
    k: int
    """Depth of that product."""
    dtype: ElementType
    layout: DataLayout | None
    wave_size: int
    turns: Turns | None = None
    wide_k: bool = False
    """See `blocks_of`."""
    generation: Generation = Generation.GFX12
    """Whose instructions take it."""
    like: ElementType | None = None
    """The type whose fragments lie in the same order, if that is not its own: what becomes a
    fragment of another type, or was one."""

    def __str__(self) -> str:
        layout = "" if self.layout is None else f", {self.layout.value}"
        shared = "" if self.turns is None else f", {self.turns.order.value}"
        wide = ", wide_k=True" if self.wide_k else ""
        return (
            f"fragment({self.use.value}, {self.m}, {self.n}, {self.k}, "
            f"{type_name(self.dtype)}{layout}{shared}{wide})"
        )

    @property
    def is_left(self) -> bool:
        """Whether it is an A."""
        return is_left(self.use)

    @property
    def is_sparse(self) -> bool:
        """Whether it is an A that keeps two elements of every four."""
        return self.use is Use.SPARSE_A

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the matrix that it is."""
        if self.use is Use.ACCUMULATOR:
            return self.m, self.n
        return (self.m, self.k) if self.is_left else (self.k, self.n)

    @cached_property
    def blocks(self) -> Blocks:
        """How it lies in registers."""
        along = self.m if self.use is Use.ACCUMULATOR else self.k // (2 if self.is_sparse else 1)
        extents = (self.m if self.is_left else self.n, along)
        dtype = self.dtype if self.like is None else self.like
        if self.generation.is_cdna:
            found = cdna_blocks(
                self.use,
                extents,
                k=self.k,
                dtype=dtype,
                side=cdna_side(self.m, self.n, dtype),
                wide_k=self.wide_k,
                generation=self.generation,
            )
        else:
            found = blocks_of(
                self.use,
                extents,
                k=self.k,
                dtype=dtype,
                wave_size=self.wave_size,
                wide_k=self.wide_k,
                generation=self.generation,
            )
        if self.like is None:
            return found
        own = stored_type(self.dtype)
        return replace(found, memory=own, item=own)

    @cached_property
    def share(self) -> Share:
        """How the waves divide it, by its schedule."""
        return share_of(
            self.blocks.count, self.turns, 1 if self.turns is None else self.turns.count
        )

    @property
    def size(self) -> int:
        """Items of `x`: those that a lane holds of its wave's share."""
        return self.blocks.items * self.share.blocks

    @property
    def index_words(self) -> int:
        """Words of a lane that hold its index of a row of blocks: 2 bits for each element of a
        sparse A."""
        if not self.is_sparse:
            return 0
        return padded(2 * self.blocks.held * self.blocks.count_along, 32) // 32


@compile_time
def fragment_kind(
    compilation: Compilation,
    use: Any,
    m: Any,
    n: Any,
    k: Any,
    dtype: Any,
    layout: Any,
    schedule: Any,
    wide_k: Any = False,
) -> FragmentKind:
    """Check a fragment's parameters. Refused if there is no such fragment."""
    generation = _generation(compilation)
    if not isinstance(use, Use):
        raise Refused(
            f"a fragment's use is {use!r}",
            "write matrix.matrix_a, matrix.matrix_b, matrix.accumulator or matrix.sparse_a",
        )
    if layout is not None and not isinstance(layout, DataLayout):
        raise Refused(
            f"a fragment's layout is {layout!r}", "write matrix.row_major or matrix.col_major"
        )
    if layout is None and use is not Use.ACCUMULATOR:
        raise Refused(
            f"{use.value} needs a layout",
            "write matrix.row_major or matrix.col_major after the type",
        )
    _check_elements(use, m, n, k, dtype)
    _check_sparse(
        use, m, n=n, k=k, dtype=dtype, generation=generation, target=compilation.target.name
    )
    if use is Use.ACCUMULATOR:
        dtype = stored_type(dtype)
    _check_wide_k(use, wide_k)
    turns = turns_of(compilation, schedule)
    return FragmentKind(
        use,
        m,
        n=n,
        k=k,
        dtype=dtype,
        layout=layout,
        wave_size=compilation.wave_size,
        turns=turns,
        wide_k=wide_k,
        generation=generation,
    )


def _generation(compilation: Compilation) -> Generation:
    """Return whose instructions the processor has. Refused if it has none."""
    own = cdna_of(compilation.target.name)
    if own is not None:
        return Generation(own)
    found = next(iter(instructions_with(compilation.target.features).values()), None)
    if found is None:
        having = ", ".join(
            each.name for each in TARGETS if cdna_of(each.name) or instructions_with(each.features)
        )
        raise Refused(f"{compilation.target.name} has no fragments", f"compile for one of {having}")
    return found.generation


def _check_sparse(
    use: Use, m: int, n: int, k: int, dtype: Any, generation: Generation, target: str
) -> None:
    """Refuse a sparse A that no instruction takes."""
    if use is not Use.SPARSE_A or generation is Generation.GFX12:
        return
    dense = "give a matrix_a that holds the zeros, too"
    if generation in (Generation.GFX11, Generation.GFX908, Generation.GFX90A):
        raise Refused(
            f"{target} has no products of a sparse A",
            f"{dense}, or compile for gfx942, gfx950, gfx1200 or gfx1201",
        )
    side = cdna_side(m, n, dtype)
    if sparse_group(dtype, k, side, generation) > 0:
        return
    depths = sparse_depths(dtype, side, generation)
    if depths:
        raise Refused(
            f"k is {k}, and products of a sparse A of {type_name(dtype)} with blocks of {side} by "
            f"{side} on {target} take {' or '.join(map(str, depths))} at once",
            f"give a multiple of {depths[0]}: clip its loads if the matrix ends earlier",
        )
    raise Refused(
        f"{target} has no products of a sparse A of {type_name(dtype)}",
        f"{dense}, or give f16, bf16, i8 or the 8-bit floats of {target}",
    )


def _check_elements(use: Use, m: Any, n: Any, k: Any, dtype: Any) -> None:
    is_element = isinstance(dtype, Nibble | Rounded) or (
        isinstance(dtype, Scalar) and dtype in SCALARS and dtype.nbytes <= 8
    )
    if not is_element or (isinstance(dtype, Nibble) and use is Use.ACCUMULATOR):
        raise Refused(
            f"{use.value} cannot hold {type_name(dtype)}",
            "give a type such as f16, f32, i8 or matrix.i4",
        )
    for name, extent in (("m", m), ("n", n), ("k", k)):
        if not isinstance(extent, int) or isinstance(extent, bool) or extent < 1:
            raise Refused(
                f"{name} is {extent}",
                "m, n and k of a fragment are positive and known when compiling",
            )
    if isinstance(dtype, Nibble) and k % 2:
        raise Refused(f"k is {k}, and two neighbours of k share a byte", "give an even k")
    if use is Use.SPARSE_A and k % 32:
        raise Refused(
            f"k is {k}",
            "k of a sparse_a is a multiple of 32: clip its loads if the matrix ends earlier",
        )


def _check_wide_k(use: Use, wide_k: Any) -> None:
    if not isinstance(wide_k, bool):
        raise Refused(f"wide_k is {wide_k}", "write wide_k=True or wide_k=False")
    if wide_k and use not in (Use.MATRIX_A, Use.MATRIX_B):
        raise Refused(
            f"{use.value} has no wide_k", "matrix_a and matrix_b take wide_k=True, both or neither"
        )
