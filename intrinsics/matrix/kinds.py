"""Fragments as the compiler knows them: what part of which matrix they hold, where, and which may be multiplied."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Any

from amdjit.declarations import Compilation, Intrinsic, Refused, compile_time
from amdjit.intrinsics import amdgcn
from amdjit.intrinsics.matrix_layouts import INSTRUCTIONS, MatrixInstruction
from amdjit.target import Feature
from amdjit.types import SCALARS, Scalar, Type, bf8, bf16, f16, f32, fp8, i8, i32, u8, vector


class Use(Enum):
    """Which operand of D = A B + C a fragment is; C and D are accumulators."""

    MATRIX_A = "matrix_a"
    MATRIX_B = "matrix_b"
    ACCUMULATOR = "accumulator"


class DataLayout(Enum):
    """How a matrix lies in memory: neighbours of a row side by side, or neighbours of a column."""

    ROW_MAJOR = "row_major"
    COL_MAJOR = "col_major"


class Nibble(Enum):
    """4-bit integers, which have no type in the kernel language: two in a byte of memory, the first in the low bits."""

    I4 = "i4"
    U4 = "u4"


ElementType = Scalar | Nibble
_INSTRUCTION_TYPES: dict[Any, str] = {
    f16: "f16", bf16: "bf16", fp8: "fp8", bf8: "bf8", i8: "iu8", u8: "iu8", f32: "f32", i32: "i32",
    Nibble.I4: "iu4", Nibble.U4: "iu4",
}  # fmt: skip
_SIGNED = (i8, Nibble.I4)


@dataclass(frozen=True)
class FragmentKind:
    """A fragment's parameters. m, n, k: of the product that it is part of, in elements.

    Registers hold whole blocks of 16 by `depth`. Where m, n or k is no multiple, the rest of the last blocks is
    padding: not in memory, and 0.
    """

    use: Use
    m: int
    n: int
    k: int
    dtype: ElementType
    layout: DataLayout | None
    wave_size: int

    def __str__(self) -> str:
        layout = "" if self.layout is None else f", {self.layout.value}"
        return f"fragment({self.use.value}, {self.m}, {self.n}, {self.k}, {type_name(self.dtype)}{layout})"

    @property
    def across(self) -> int:
        """Extent of the axis that lanes 0 to 15 go along: rows of A, columns of the others."""
        return self.m if self.use is Use.MATRIX_A else self.n

    @property
    def along(self) -> int:
        """Extent of the axis that a lane's elements go along: k of A and B, rows of an accumulator."""
        return self.m if self.use is Use.ACCUMULATOR else self.k

    @property
    def depth(self) -> int:
        """Extent along of what one instruction takes."""
        if self.use is Use.ACCUMULATOR:
            return 16
        return 32 if isinstance(self.dtype, Nibble) and _whole(self.k, 16) % 32 == 0 else 16

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
        """Blocks of the whole fragment; number n is n % blocks_along along, n // blocks_along across."""
        return self.blocks_across * self.blocks_along

    @property
    def is_partial(self) -> bool:
        """Whether some of the elements in the registers are padding."""
        return self.across % 16 > 0 or self.along % self.depth > 0

    @property
    def lanes(self) -> int:
        """Lanes that hold elements of a block, each others; the rest holds what lane - 32 does."""
        return 32 if isinstance(self.dtype, Nibble) and self.depth == 16 else self.wave_size

    @property
    def held(self) -> int:
        """Elements that a lane holds of a block, neighbours along."""
        return 16 * self.depth // self.lanes

    @property
    def steps(self) -> tuple[int, int]:
        """How far along a lane's first element is: in each odd 16 lanes, in the upper 32 lanes.

        A and B of 16 bits hold k in another order than the instruction names it: both the same one, so that the
        product is the same, and a lane's elements are neighbours in memory and those of an accumulator.
        """
        if self.lanes == 32:
            return self.held, 0
        if self.use is Use.ACCUMULATOR or not (isinstance(self.dtype, Scalar) and self.dtype.bits == 16):
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
        """The type of the items of `x`: elements, or words of eight 4-bit elements."""
        return i32 if isinstance(self.dtype, Nibble) else self.dtype

    @property
    def memory_type(self) -> Type:
        """What a lane stores of a block: elements, or the bytes of 4-bit ones."""
        return vector(u8, self.held // 2) if self.is_nibble else vector(self.item, self.held)

    @property
    def items(self) -> int:
        """Items of a block that a lane holds."""
        return self.held // 8 if self.is_nibble else self.held

    @property
    def size(self) -> int:
        """Items that a lane holds of the whole fragment."""
        return self.items * self.blocks


def _whole(extent: int, block: int) -> int:
    """Return an extent with the padding of its last block."""
    return -(-extent // block) * block


def type_name(dtype: Any) -> str:
    """Return a type's name in a message."""
    return f"matrix.{dtype.value}" if isinstance(dtype, Nibble) else str(dtype)


@compile_time
def fragment_kind(compilation: Compilation, use: Any, m: Any, n: Any, k: Any, dtype: Any, layout: Any) -> FragmentKind:
    """Check a fragment's parameters. Refused where there is no such fragment."""
    if Feature.WMMA_GFX12 not in compilation.target.features:
        raise Refused(f"{compilation.target.name} has no fragments", "compile for gfx1200 or gfx1201")
    if not isinstance(use, Use):
        raise Refused(f"a fragment's use is {use!r}", "write matrix.matrix_a, matrix.matrix_b or matrix.accumulator")
    if layout is not None and not isinstance(layout, DataLayout):
        raise Refused(f"a fragment's layout is {layout!r}", "write matrix.row_major or matrix.col_major")
    if layout is None and use is not Use.ACCUMULATOR:
        raise Refused(f"{use.value} needs a layout", "write matrix.row_major or matrix.col_major behind the type")
    is_element = isinstance(dtype, Nibble) or (isinstance(dtype, Scalar) and dtype in SCALARS and dtype.nbytes <= 8)
    if not is_element or (isinstance(dtype, Nibble) and use is Use.ACCUMULATOR):
        raise Refused(f"{use.value} holds no {type_name(dtype)}", "give a type such as f16, f32, i8 or matrix.i4")
    for name, extent in (("m", m), ("n", n), ("k", k)):
        if not isinstance(extent, int) or isinstance(extent, bool) or extent < 1:
            raise Refused(f"{name} is {extent}", "m, n and k of a fragment are positive and known when compiling")
    if isinstance(dtype, Nibble) and k % 2:
        raise Refused(f"k is {k}, and two neighbours of k share a byte", "give an even k")
    return FragmentKind(use, m, n, k, dtype, layout, compilation.wave_size)


@dataclass(frozen=True)
class Product:
    """What `mma_sync` does for four kinds of fragments. types: of the builtin's operands A, B and C."""

    builtin: Intrinsic
    rows: int
    columns: int
    steps: int
    is_integer: bool
    a_signed: bool
    b_signed: bool
    a_type: Type
    b_type: Type
    c_type: Type


@compile_time
def product_of(compilation: Compilation, d: FragmentKind, a: FragmentKind, b: FragmentKind, c: FragmentKind) -> Product:
    """Choose the instruction for d = a b + c. Refused where the fragments do not fit."""
    uses = (Use.ACCUMULATOR, Use.MATRIX_A, Use.MATRIX_B, Use.ACCUMULATOR)
    given = (d, a, b, c)
    if any(kind.use is not use for kind, use in zip(given, uses, strict=True)):
        found = ", ".join(kind.use.value for kind in given)
        raise Refused(f"mma_sync(d, a, b, c) was given {found}", "give accumulator, matrix_a, matrix_b, accumulator")
    sizes = {(kind.m, kind.n, kind.k) for kind in given}
    if len(sizes) > 1:
        texts = ", ".join(f"{name} {kind.m} x {kind.n} x {kind.k}" for name, kind in zip("dabc", given, strict=True))
        raise Refused(f"the fragments are of products of other sizes: {texts}", "give all the same m, n and k")
    instruction = _instruction(d, a, b, c)
    builtin = getattr(amdgcn, instruction.name)
    types = [_first(parameter.type) for parameter in builtin.parameters if parameter.immediate is None]
    return Product(
        builtin, a.blocks_across, b.blocks_across, a.blocks_along, instruction.is_integer,
        a.dtype in _SIGNED, b.dtype in _SIGNED, *types,
    )  # fmt: skip


def _first(type: Any) -> Type:
    """Return the type that clang declares where an operand takes several."""
    constraints = getattr(type, "constraints", (type,))
    return constraints[0]


def _instruction(d: FragmentKind, a: FragmentKind, b: FragmentKind, c: FragmentKind) -> MatrixInstruction:
    wanted = (_name(d), _name(a), _name(b))
    for instruction in INSTRUCTIONS.values():
        shape = (instruction.k, instruction.wave_size) == (a.depth, a.wave_size)
        types = (instruction.result, instruction.a, instruction.b)
        if shape and types == wanted and not instruction.is_sparse and c.dtype == d.dtype:
            return instruction
    names = [type_name(kind.dtype) for kind in (a, b, c, d)]
    raise Refused(
        f"there is no product of {names[0]} and {names[1]} with {names[2]} added to give {names[3]}", _allowed(a)
    )


def _name(kind: FragmentKind) -> str:
    return _INSTRUCTION_TYPES.get(kind.dtype, "")


@cache
def _allowed(a: FragmentKind) -> str:
    """Return which products there are with A's type, or of which types there are any."""
    dense = [each for each in INSTRUCTIONS.values() if not each.is_sparse and each.wave_size == 32]
    same = [each for each in dense if each.a == _name(a)]
    texts = dict.fromkeys(f"{_shown(each.a)} x {_shown(each.b)} in {each.result}" for each in same or dense)
    return f"there are: {', '.join(texts)}; c and d have one type"


def _shown(name: str) -> str:
    return {"iu8": "i8 or u8", "iu4": "matrix.i4 or matrix.u4"}.get(name, name)
