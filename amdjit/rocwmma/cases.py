"""The grid of rocWMMA's GEMM programs: which products there are, and which a processor runs."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType

from amdjit.intrinsics.matrix.operands.blocks import (
    INSTRUCTION_TYPES,
    cdna_depth,
    cdna_side,
)
from amdjit.intrinsics.matrix.operands.parameters import (
    ElementType,
    Rounded,
    stored_type,
    type_name,
)
from amdjit.intrinsics.models.matrix_layouts import Generation
from amdjit.intrinsics.models.mfma_instructions import CDNA, mfma_instructions
from amdjit.target import Feature, Target
from amdjit.types import Scalar, bf8, bf8_fnuz, bf16, f16, f32, f64, fp8, fp8_fnuz, i8, i32

__all__ = ["SUITES", "TYPES", "Case", "Layout", "Program", "Suite", "Types", "grid", "why_skipped"]

ALPHA = BETA = 2
# Rows and columns of a block: the unit of tiles, and the only block of rocWMMA on gfx11 and gfx12.
_BLOCK = 16

Size = tuple[int, int, int]


class Layout(Enum):
    """The order of a matrix in memory, by BLAS's letters as rocWMMA writes them."""

    ROWS = "T"
    COLUMNS = "N"


class Program(Enum):
    """rocWMMA's programs. The names say what they prefetch (PGR), how many buffers of LDS they have
    (LB), how many blocks a wave has (MB), and who loads them together (NC: nobody, CP_WG: the
    workgroup)."""

    DIRECT = "PGR0_LB0_MP0_MB_NC"
    STAGED = "PGR1_LB2_MP0_MB_CP_WG"


@dataclass(frozen=True)
class Types:
    """The element types of A and B, of C and D, and of the sums."""

    input: ElementType
    output: Scalar
    compute: Scalar

    @property
    def stored(self) -> Scalar:
        """The type in which memory holds A and B."""
        found: Scalar = stored_type(self.input)
        return found

    def __str__(self) -> str:
        return "_".join(_NAMES[each] for each in (self.input, self.output, self.compute))


# The names in rocWMMA's reports.
_NAMES: Mapping[ElementType, str] = MappingProxyType(
    {
        f16: "f16", bf16: "bf16", f32: "f32", f64: "f64", i8: "i8", i32: "i32", fp8: "f8",
        bf8: "bf8", fp8_fnuz: "f8_fnuz", bf8_fnuz: "bf8_fnuz", Rounded.XF32: "xf32",
    }
)  # fmt: skip
# rocWMMA's documentation, "Supported data types": gfx9 has more types than gfx11 and gfx12.
TYPES: tuple[Types, ...] = (
    Types(f16, f32, f32),
    Types(f16, f16, f32),
    Types(f16, f16, f16),
    Types(bf16, f32, f32),
    Types(bf16, bf16, f32),
    Types(bf16, bf16, bf16),
    Types(i8, i32, i32),
    Types(i8, i8, i32),
    Types(fp8, f32, f32),
    Types(bf8, f32, f32),
    Types(fp8_fnuz, f32, f32),
    Types(bf8_fnuz, f32, f32),
    Types(f32, f32, f32),
    Types(Rounded.XF32, f32, f32),
    Types(f64, f64, f64),
)
LAYOUTS = tuple(itertools.product(Layout, repeat=2))
_SMOKE_SIZES: tuple[Size, ...] = ((256, 256, 256),)
_VALIDATION_SIZES: tuple[Size, ...] = (
    (64, 64, 1024), (32, 64, 1024), (64, 32, 1024), (256, 256, 1024), (2048, 64, 1024),
    (64, 2048, 1024), (512, 512, 512),
)  # fmt: skip
_BENCH_SIZES: tuple[Size, ...] = tuple((n, n, n) for n in (1024, 2048, 4096, 8192))
_TILES = ((1, 1), (1, 2), (2, 1), (2, 2), (4, 2), (2, 4), (4, 4))
# Waves below and beside each other, in rocWMMA's thread blocks (W,1) (W,2) (W,4) (2W,1) (2W,2)
# (4W,1).
_ALL_WAVES = ((1, 1), (1, 2), (1, 4), (2, 1), (2, 2), (4, 1))


@dataclass(frozen=True)
class Suite:
    """One of rocWMMA's modes."""

    name: str
    help: str
    sizes: tuple[Size, ...]
    depths: tuple[int, ...]
    """The values of BlockK."""
    tiles: tuple[tuple[int, int], ...]
    """Blocks of a wave, below and beside each other."""
    waves: tuple[tuple[int, int], ...]
    """Waves of a workgroup, below and beside each other."""
    programs: tuple[Program, ...] = tuple(Program)


SUITES: tuple[Suite, ...] = (
    Suite(
        "smoke",
        "256x256x256, one thread block",
        sizes=_SMOKE_SIZES,
        depths=(16,),
        tiles=((1, 1), (2, 2)),
        waves=((2, 2),),
    ),
    Suite(
        "validation",
        "rocWMMA's test sizes, all tiles and thread blocks",
        sizes=_VALIDATION_SIZES,
        depths=(16, 32, 64),
        tiles=_TILES,
        waves=_ALL_WAVES,
    ),
    Suite(
        "bench",
        "squares of 1024 to 8192, all tiles",
        sizes=_BENCH_SIZES,
        depths=(16, 32),
        tiles=_TILES,
        waves=((2, 2),),
    ),
)


@dataclass(frozen=True)
class Case:
    """One product, D = 2 A B + 2 C."""

    program: Program
    types: Types
    layouts: tuple[Layout, Layout, Layout]
    """The layouts of A, of B, and of C and D."""
    tile: tuple[int, int]
    """Blocks of a wave, below and beside each other."""
    depth: int
    """BlockK, the extent of a step along k."""
    waves: tuple[int, int]
    """Waves of a workgroup, below and beside each other."""
    size: Size
    """The extents m, n and k."""

    @property
    def rows(self) -> int:
        """Rows of D that a wave computes."""
        return _BLOCK * self.tile[0]

    @property
    def columns(self) -> int:
        """Columns of D that a wave computes."""
        return _BLOCK * self.tile[1]

    @property
    def grid(self) -> tuple[int, int]:
        """Workgroups along m and along n."""
        m, n, _ = self.size
        return m // (self.rows * self.waves[0]), n // (self.columns * self.waves[1])

    @property
    def lds_bytes(self) -> int:
        """Bytes of LDS of a workgroup: two tiles of A and of B where the program stages them."""
        if self.program is Program.DIRECT:
            return 0
        lines = self.rows * self.waves[0] + self.columns * self.waves[1]
        return 2 * lines * self.depth * self.types.stored.nbytes

    @property
    def operations(self) -> int:
        """The multiplications and additions of A B, as rocWMMA counts them."""
        m, n, k = self.size
        return 2 * m * n * k


def grid(suite: Suite, sizes: tuple[Size, ...] | None = None) -> Iterator[Case]:
    """Yield the cases of a suite, for the given sizes or its own. C and D are in column order, as
    in rocWMMA."""
    for program, types, size, (a, b), tile, depth, waves in itertools.product(
        suite.programs,
        TYPES,
        sizes or suite.sizes,
        LAYOUTS,
        suite.tiles,
        suite.depths,
        suite.waves,
    ):
        yield Case(
            program,
            types,
            layouts=(a, b, Layout.COLUMNS),
            tile=tile,
            depth=depth,
            waves=waves,
            size=size,
        )


def why_skipped(case: Case, target: Target) -> str | None:
    """Return why a processor does not run a case; None if it does."""
    multiplied = types_of(target)
    if not multiplied:
        return f"fragments do not multiply on {target.name}"
    if case.types.input not in multiplied:
        return f"{target.name} has no products of {type_name(case.types.input)}"
    if target.name in CDNA:
        side, generation = side_of(case, target), Generation(target.name)
        depth = cdna_depth(case.types.input, case.depth, side, generation)
        if case.depth % depth:
            return f"blocks of {type_name(case.types.input)} are {depth} along k"
    m, n, k = case.size
    if m % (case.rows * case.waves[0]) or n % (case.columns * case.waves[1]) or k % case.depth:
        return "the workgroups' tiles do not divide the matrix"
    if case.lds_bytes > target.lds_per_workgroup:
        return "the tiles do not fit the LDS"
    if _registers(case, target) > 256:
        return "the fragments do not fit the registers"
    return None


def types_of(target: Target) -> tuple[ElementType, ...]:
    """Return the types of A and B that a processor multiplies."""
    if target.name in CDNA:
        known = {each.a for each in mfma_instructions(target.name).values()}
        return tuple(dtype for dtype, name in INSTRUCTION_TYPES.items() if name in known)
    if Feature.WMMA_GFX12 in target.features:
        return f16, bf16, i8, fp8, bf8
    return (f16, bf16, i8) if Feature.WMMA_GFX11 in target.features else ()


def side_of(case: Case, target: Target) -> int:
    """Return the rows and columns of a fragment's blocks."""
    if target.name not in CDNA:
        return _BLOCK
    return cdna_side(case.rows, case.columns, case.types.input)


def _registers(case: Case, target: Target) -> int:
    """Return rocWMMA's estimate of the registers, of which it allows 256. On gfx11 and gfx12, A, B
    and C count twice."""
    size = 32 * target.wave_size
    factors = (case.rows + case.columns) * case.depth * case.types.stored.bits // size
    sums = case.rows * case.columns * max(32, case.types.compute.bits) // size
    return (factors + sums) * (1 if target.name in CDNA else 2)
