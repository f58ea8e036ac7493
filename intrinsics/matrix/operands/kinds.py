"""Fragments as the compiler knows them: what part of which matrix they hold, where, and which may
be multiplied."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

from amdjit.intrinsics.matrix.operands.schedules import Turns, turns_of
from amdjit.language.compile_time import Compilation, Refused, compile_time
from amdjit.target import Feature
from amdjit.types import SCALARS, Scalar, Type, i8, i16, i32, u8, vector


class Use(Enum):
    """Which operand of D = A B + C a fragment is; C and D are accumulators, `sparse_a` is an A of
    SWMMAC."""

    MATRIX_A = "matrix_a"
    SPARSE_A = "sparse_a"
    MATRIX_B = "matrix_b"
    ACCUMULATOR = "accumulator"


class DataLayout(Enum):
    """How a matrix lies in memory: neighbours of a row side by side, or neighbours of a column."""

    ROW_MAJOR = "row_major"
    COL_MAJOR = "col_major"


class Nibble(Enum):
    """4-bit integers, which have no type in the kernel language: two in a byte of memory, the first
    in the low bits."""

    I4 = "i4"
    U4 = "u4"


ElementType = Scalar | Nibble


@dataclass(frozen=True)
class FragmentKind:
    """A fragment's parameters. m, n, k: of the product that it is part of, in elements.

    A sparse A is meant as it is stored: k / 2 kept elements in a row. Its blocks are half as deep
    as those of B, so that each holds what is multiplied with one of B's; the places of the elements
    are in the fragment's index. Registers hold whole blocks of 16 by `depth`. Where m, n or k is no
    multiple, the rest of the last blocks is padding: not in memory, and 0. wide_k: see `per_block`.
    """

    use: Use
    m: int
    n: int
    k: int
    dtype: ElementType
    layout: DataLayout | None
    wave_size: int
    turns: Turns | None = None
    wide_k: bool = False

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
        return self.use in (Use.MATRIX_A, Use.SPARSE_A)

    @property
    def is_sparse(self) -> bool:
        """Whether it is an A of which two elements of each four are kept."""
        return self.use is Use.SPARSE_A

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the matrix that it is."""
        if self.use is Use.ACCUMULATOR:
            return self.m, self.n
        return (self.m, self.k) if self.is_left else (self.k, self.n)

    @property
    def across(self) -> int:
        """Extent of the axis that lanes 0 to 15 go along: rows of A, columns of the others."""
        return self.m if self.is_left else self.n

    @property
    def along(self) -> int:
        """Extent of the axis that a lane's elements go along: k of A and B, rows of an
        accumulator."""
        return self.m if self.use is Use.ACCUMULATOR else self.k // (2 if self.is_sparse else 1)

    @property
    def depth(self) -> int:
        """Extent along of a block."""
        return self.instruction_depth * self.per_block

    @property
    def instruction_depth(self) -> int:
        """Extent along of what one instruction takes of a dense product."""
        if self.use is Use.ACCUMULATOR:
            return 16
        dense = 32 if isinstance(self.dtype, Nibble) and _whole(self.k, 16) % 32 == 0 else 16
        return dense // 2 if self.is_sparse else dense

    @property
    def per_block(self) -> int:
        """Instructions that take a block of A or B one after the other.

        With `wide_k` there are two for elements of 8 and 4 bits: a lane then holds twice as many
        neighbours along k, the first half of them for one instruction and the rest for the next.
        That is another order of k, the same one in A and B, so that the sum is the same up to
        rounding (AMD GPUOpen, "Wide WMMA").
        """
        is_narrow = isinstance(self.dtype, Nibble) or self.dtype.bits == 8
        return 2 if self.wide_k and is_narrow else 1

    @property
    def blocks_of_step(self) -> int:
        """Blocks along of A and of B that a sparse product's instruction takes: of 4 bits there is
        one for k of 32."""
        return 1 if isinstance(self.dtype, Nibble) and self.k % 64 else 2

    @property
    def blocks_across(self) -> int:
        """16 by `depth` blocks side by side."""
        return _whole(self.across, 16) // 16

    @property
    def blocks_along(self) -> int:
        """16 by `depth` blocks below each other."""
        return _whole(self.along, self.depth) // self.depth

    @property
    def blocks(self) -> int:
        """Blocks of the whole fragment; number n is n % blocks_along along, n // blocks_along
        across."""
        return self.blocks_across * self.blocks_along

    @property
    def is_partial(self) -> bool:
        """Whether some of the elements in the registers are padding."""
        return self.across % 16 > 0 or self.along % self.depth > 0

    @property
    def lanes(self) -> int:
        """Lanes that hold elements of a block, each others; the rest holds what lane - 32 does."""
        if isinstance(self.dtype, Nibble) and (
            self.blocks_of_step == 1 if self.is_sparse else self.instruction_depth == 16
        ):
            return 32
        return self.wave_size

    @property
    def held(self) -> int:
        """Elements that a lane holds of a block, neighbours along."""
        return 16 * self.depth // self.lanes

    @property
    def steps(self) -> tuple[int, int]:
        """How far along a lane's first element is: in each odd 16 lanes, in the upper 32 lanes.

        A and B of 16 bits hold k in another order than the instruction names it: both the same one,
        so that the product is the same up to rounding, and a lane's elements are neighbours in
        memory and those of an accumulator.
        """
        if self.lanes == 32:
            return self.held, 0
        if self.use is Use.ACCUMULATOR or not (
            isinstance(self.dtype, Scalar) and self.dtype.bits == 16
        ):
            return 2 * self.held, self.held
        return self.held, 2 * self.held

    @property
    def is_nibble(self) -> bool:
        """Whether eight elements share an item."""
        return isinstance(self.dtype, Nibble)

    @property
    def unit(self) -> int:
        """Elements that share an item of memory."""
        return 2 if self.is_nibble else 1

    @property
    def item(self) -> Scalar:
        """The type of the items of `x`: elements, or words of eight 4-bit elements, of four where a
        block has those."""
        if isinstance(self.dtype, Nibble):
            return i16 if self.held == 4 else i32
        return self.dtype

    @property
    def stored(self) -> tuple[Scalar, ...]:
        """The types that the elements of its arrays may have."""
        return (i8, u8) if isinstance(self.dtype, Nibble) else (self.dtype,)

    @property
    def memory_type(self) -> Type:
        """What a lane stores of a block: elements, or the bytes of 4-bit ones."""
        return vector(u8, self.held // 2) if self.is_nibble else vector(self.item, self.held)

    @property
    def access_bytes(self) -> int:
        """Bytes that a lane holds of a block."""
        return self.items * self.item.nbytes

    @property
    def items(self) -> int:
        """Items of a block that a lane holds."""
        return 4 * self.held // self.item.bits if self.is_nibble else self.held

    @property
    def waves(self) -> int:
        """How many waves share it."""
        return 1 if self.turns is None else self.turns.count

    @property
    def own(self) -> int:
        """Blocks of a wave: numbers w, w + waves, w + 2 waves, ... of wave w; the last waves may
        have one less."""
        return share_of(self, self.waves)

    @property
    def operand_items(self) -> int:
        """Items of a block that a lane gives to one instruction."""
        return self.items // self.per_block

    @property
    def held_type(self) -> Type:
        """What a lane holds of a block, as items of `x`."""
        return vector(self.item, self.items) if self.items > 1 else self.item

    @property
    def size(self) -> int:
        """Items that a lane holds, of the whole fragment or of its wave's share."""
        return self.items * self.own

    @property
    def index_words(self) -> int:
        """Words of a lane that hold its index of a block's rows: 2 bits for each element of a
        sparse A."""
        return _whole(2 * self.held * self.blocks_along, 32) // 32 if self.is_sparse else 0


def _whole(extent: int, block: int) -> int:
    """Return an extent with the padding of its last block."""
    return -(-extent // block) * block


def type_name(dtype: Any) -> str:
    """Return a type's name in a message."""
    return f"matrix.{dtype.value}" if isinstance(dtype, Nibble) else str(dtype)


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
    """Check a fragment's parameters. Refused where there is no such fragment."""
    if Feature.WMMA_GFX12 not in compilation.target.features:
        raise Refused(
            f"{compilation.target.name} has no fragments", "compile for gfx1200 or gfx1201"
        )
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
            "write matrix.row_major or matrix.col_major behind the type",
        )
    _check_elements(use, m, n, k, dtype)
    _check_wide_k(use, wide_k)
    turns = turns_of(compilation, schedule)
    return FragmentKind(use, m, n, k, dtype, layout, compilation.wave_size, turns, wide_k)


def _check_elements(use: Use, m: Any, n: Any, k: Any, dtype: Any) -> None:
    is_element = isinstance(dtype, Nibble) or (
        isinstance(dtype, Scalar) and dtype in SCALARS and dtype.nbytes <= 8
    )
    if not is_element or (isinstance(dtype, Nibble) and use is Use.ACCUMULATOR):
        raise Refused(
            f"{use.value} holds no {type_name(dtype)}",
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
            "k of a sparse_a is a multiple of 32: clip its loads where the matrix ends before",
        )


def share_of(kind: FragmentKind, waves: int) -> int:
    """Return how many blocks a wave has room for."""
    return -(-kind.blocks // waves)


def _check_wide_k(use: Use, wide_k: Any) -> None:
    if not isinstance(wide_k, bool):
        raise Refused(f"wide_k is {wide_k}", "write wide_k=True or wide_k=False")
    if wide_k and use not in (Use.MATRIX_A, Use.MATRIX_B):
        raise Refused(
            f"{use.value} has no wide_k", "matrix_a and matrix_b take wide_k=True, both or neither"
        )
