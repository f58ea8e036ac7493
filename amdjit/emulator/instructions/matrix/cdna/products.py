"""The products of MFMA and SMFMAC, and where their operands lie in the registers of a wave.

Everything is in vectors of 16 lanes. A, B and the index are numbered by k and by a place across:
the rows of all blocks of A, or the columns of all blocks of B, one block after the other. 16
neighbouring columns are a tile. Layouts are those of AMD's matrix instruction calculator; CDNA 3
ISA, 7.1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from amdjit.emulator.host.builder import Builder, Value
from amdjit.isa.matrix_rounding import Rule, mfma_rule
from amdjit.late_methods import dataclass

WAVE_LANES = 64
ROW_LANES = 16
# The rows of 16 lanes of a wave.
ROWS = range(WAVE_LANES // ROW_LANES)

BITS: Mapping[str, int] = {
    "f64": 64, "f32": 32, "xf32": 32, "f16": 16, "bf16": 16, "i8": 8, "fp8": 8, "bf8": 8,
    "fp8_fnuz": 8, "bf8_fnuz": 8, "fp6": 6, "bf6": 6, "fp4": 4,
}  # fmt: skip

GENERATIONS: Mapping[str, str] = {
    "gfx908": "cdna1", "gfx90a": "cdna2", "gfx942": "cdna3", "gfx950": "cdna3",
}  # fmt: skip
"""Whose arithmetic the processors have. How gfx950 rounds is not known: a model takes it to be that
of gfx942."""

_PROCESSORS: Mapping[str, str] = {"cdna1": "gfx908", "cdna2": "gfx90a", "cdna3": "gfx942"}


@dataclass(frozen=True, slots=True)
class Mfma:
    """D = A B + C in each of `blocks` blocks of m by m, along k.

    generation: a value of `GENERATIONS`. sparse: of every four neighbours in a row of A two are
    held.
    """

    generation: str
    result: str
    a: str
    b: str
    m: int
    k: int
    blocks: int = 1
    sparse: bool = False

    @property
    def symbol(self) -> str:
        """The name of its native function."""
        kind = "smfmac" if self.sparse else "mfma"
        shape = f"{self.m}x{self.k}x{self.blocks}"
        return f"aj_{kind}_{self.generation}_{self.result}_{shape}_{self.a}_{self.b}"

    @property
    def rule(self) -> Rule:
        """The rule by which floats are added."""
        return mfma_rule(_PROCESSORS[self.generation], self.a, self.held, self.elements("a"))

    @property
    def is_integer(self) -> bool:
        """Whether the result is i32."""
        return self.result == "i32"

    @property
    def is_double(self) -> bool:
        """Whether numbers are f64."""
        return self.result == "f64"

    @property
    def held(self) -> int:
        """How many elements of a row A holds."""
        return self.k // 2 if self.sparse else self.k

    @property
    def across(self) -> int:
        """The rows of all blocks of A, or the columns of all blocks of B."""
        return self.m * self.blocks

    @property
    def tiles(self) -> int:
        """How many vectors hold the columns of all blocks."""
        return self.across // ROW_LANES

    def along(self, factor: str) -> int:
        """Return the extent of k in A or B."""
        return self.held if factor == "a" else self.k

    def elements(self, factor: str) -> int:
        """Return how many elements of A or B a lane holds."""
        return self.along(factor) * self.across // WAVE_LANES

    def dwords(self, factor: str) -> int:
        """Return how many registers hold A or B."""
        return self.elements(factor) * BITS[self.a if factor == "a" else self.b] // 32

    @property
    def result_elements(self) -> int:
        """How many elements of C and D a lane holds."""
        return self.m * self.across // WAVE_LANES

    @property
    def result_dwords(self) -> int:
        """How many registers hold C or D."""
        return self.result_elements * (2 if self.is_double else 1)

    @property
    def index_sets(self) -> int:
        """How many indices a register has room for; one is used."""
        return max(1, 32 // (2 * self.elements("a")))

    def tile_and_row(self, element: int, lanes: int) -> tuple[int, int]:
        """Invert `result_place`, for numbers that are known."""
        if self.is_double:
            return 0, 4 * element + lanes if self.m == 16 else lanes
        if self.m == 4:
            return lanes, element
        if self.m == 16:
            return element // 4, 4 * lanes + element % 4
        tile = element // 16 * 2 + lanes % 2
        return tile, element % 16 // 4 * 8 + lanes // 2 * 4 + element % 4

    def result_place(self, b: Builder, tile: Value, row: Value) -> tuple[Value, Value]:
        """Return where a row of a tile of C or D lies: which element of a lane, and in which row of
        16 lanes. All are i64."""
        low, four = b.mask(row, 2), b.shift("lshr", row, 2)
        if self.is_double:
            return four, low
        if self.m == 4:
            return row, tile
        if self.m == 16:
            return b.add(b.shift("shl", tile, 2), low), four
        # A lane holds rows in fours; rows 4 to 7 of each eight are in the upper half of the wave.
        element = b.add(b.shift("shl", b.shift("lshr", row, 3), 2), low)
        element = b.add(b.shift("shl", b.shift("lshr", tile, 1), 4), element)
        return element, b.add(b.shift("shl", b.mask(four, 1), 1), b.mask(tile, 1))


# Rows and columns, k, and blocks.
Shapes = tuple[tuple[int, int, int], ...]

_SINGLES: Shapes = ((32, 1, 2), (16, 1, 4), (4, 1, 16), (32, 2, 1), (16, 4, 1))
_FOURS: Shapes = ((32, 4, 2), (16, 4, 4), (4, 4, 16))
_HALVES: Shapes = (*_FOURS, (32, 8, 1), (16, 16, 1))
_PAIRS: Shapes = ((32, 2, 2), (16, 2, 4), (4, 2, 16), (32, 4, 1), (16, 8, 1))
_DOUBLES: Shapes = ((16, 4, 1), (4, 4, 4))
_EIGHTS: Shapes = ((32, 16, 1), (16, 32, 1))
_EIGHTS_TWICE: Shapes = ((32, 32, 1), (16, 64, 1))
_SPARSE_EIGHTS_TWICE: Shapes = ((32, 64, 1), (16, 128, 1))

_DENSE: Mapping[str, Mapping[str, Shapes]] = {
    "cdna1": {"f32": _SINGLES, "f16": _HALVES, "bf16": _PAIRS, "i8": _HALVES},
    "cdna2": {
        "f64": _DOUBLES, "f32": _SINGLES, "f16": _HALVES, "bf16": (*_PAIRS, *_HALVES),
        "i8": _HALVES,
    },
    "cdna3": {
        "f64": _DOUBLES, "f32": _SINGLES, "xf32": ((32, 4, 1), (16, 8, 1)),
        "f16": (*_HALVES, *_EIGHTS), "bf16": (*_HALVES, *_EIGHTS),
        "i8": (*_FOURS, *_EIGHTS, *_EIGHTS_TWICE),
    },
}  # fmt: skip


def products() -> Iterator[Mfma]:
    """Yield all products of a single format of factors or of 8-bit floats, dense and sparse."""
    for generation, kinds in _DENSE.items():
        for kind, shapes in kinds.items():
            result = {"f64": "f64", "i8": "i32"}.get(kind, "f32")
            yield from (Mfma(generation, result, kind, kind, *shape) for shape in shapes)
    for a, b in _byte_pairs():
        yield from (Mfma("cdna3", "f32", a, b, *shape) for shape in _EIGHTS)
        # Those of twice the k are gfx950's, which has the formats of OCP.
        more = () if a.endswith("_fnuz") else _SPARSE_EIGHTS_TWICE
        yield from _sparse(a, b, "f32", (*_EIGHTS_TWICE, *more))
    for kind in ("f16", "bf16"):
        yield from _sparse(kind, kind, "f32", (*_EIGHTS, *_EIGHTS_TWICE))
    yield from _sparse("i8", "i8", "i32", (*_EIGHTS_TWICE, *_SPARSE_EIGHTS_TWICE))


def _byte_pairs() -> Iterator[tuple[str, str]]:
    for suffix in ("", "_fnuz"):
        for a in ("fp8", "bf8"):
            yield from ((a + suffix, b + suffix) for b in ("fp8", "bf8"))


def _sparse(a: str, b: str, result: str, shapes: Shapes) -> Iterator[Mfma]:
    return (Mfma("cdna3", result, a, b, *shape, sparse=True) for shape in shapes)
