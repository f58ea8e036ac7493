"""The grid of rocWMMA's GEMM programs: which products there are, and which a processor runs."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType

from amdjit.target import Feature, Target
from amdjit.types import Scalar, bf8, bf16, f16, f32, fp8, i8, i32

__all__ = ["SUITES", "TYPES", "Case", "Layout", "Program", "Suite", "Types", "grid", "why_skipped"]

ALPHA = BETA = 2
_BLOCK = 16  # rows and columns of a block: rocWMMA's only one on gfx11 and gfx12

Size = tuple[int, int, int]


class Layout(Enum):
    """How a matrix lies in memory, by BLAS's letters as rocWMMA writes them."""

    ROWS = "T"
    COLUMNS = "N"


class Program(Enum):
    """rocWMMA's programs: what they prefetch (PGR), how many buffers of LDS they have (LB), blocks
    of a wave (MB), and who loads them together (NC: nobody, CP_WG: the workgroup)."""

    DIRECT = "PGR0_LB0_MP0_MB_NC"
    STAGED = "PGR1_LB2_MP0_MB_CP_WG"


@dataclass(frozen=True)
class Types:
    """Element types of A and B, of C and D, and of the sums."""

    input: Scalar
    output: Scalar
    compute: Scalar

    def __str__(self) -> str:
        return "_".join(_NAMES[each] for each in (self.input, self.output, self.compute))


# As rocWMMA's reports name them.
_NAMES: Mapping[Scalar, str] = MappingProxyType(
    {f16: "f16", bf16: "bf16", f32: "f32", i8: "i8", i32: "i32", fp8: "f8", bf8: "bf8"}
)
# rocWMMA's documentation, "Supported data types": the columns of gfx11 and gfx12.
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
)
LAYOUTS = tuple(itertools.product(Layout, repeat=2))
_SMOKE_SIZES: tuple[Size, ...] = ((256, 256, 256),)
_VALIDATION_SIZES: tuple[Size, ...] = (
    (64, 64, 1024), (32, 64, 1024), (64, 32, 1024), (256, 256, 1024), (2048, 64, 1024),
    (64, 2048, 1024), (512, 512, 512),
)  # fmt: skip
_BENCH_SIZES: tuple[Size, ...] = tuple((n, n, n) for n in (1024, 2048, 4096, 8192))
_TILES = ((1, 1), (1, 2), (2, 1), (2, 2), (4, 2), (2, 4), (4, 4))
# Waves below each other and side by side: rocWMMA's thread blocks (W,1) (W,2) (W,4) (2W,1) (2W,2)
# (4W,1).
_ALL_WAVES = ((1, 1), (1, 2), (1, 4), (2, 1), (2, 2), (4, 1))


@dataclass(frozen=True)
class Suite:
    """One of rocWMMA's modes. depths: BlockK. tiles: blocks of a wave below each other and side by
    side. waves: those of a workgroup, likewise."""

    name: str
    help: str
    sizes: tuple[Size, ...]
    depths: tuple[int, ...]
    tiles: tuple[tuple[int, int], ...]
    waves: tuple[tuple[int, int], ...]
    programs: tuple[Program, ...] = tuple(Program)


SUITES: tuple[Suite, ...] = (
    Suite("smoke", "256x256x256, one thread block", _SMOKE_SIZES, (16,), ((1, 1), (2, 2)),
          ((2, 2),)),
    Suite("validation", "rocWMMA's test sizes, all tiles and thread blocks", _VALIDATION_SIZES,
          (16, 32, 64), _TILES, _ALL_WAVES),
    Suite("bench", "squares of 1024 to 8192, all tiles", _BENCH_SIZES, (16, 32), _TILES,
          ((2, 2),)),
)  # fmt: skip


@dataclass(frozen=True)
class Case:
    """One product, D = 2 A B + 2 C.

    layouts: of A, B, and of C and D. tile: blocks of a wave; waves: of a workgroup; both below each
    other and side by side. depth: BlockK, the extent of a step along k. size: m, n, k.
    """

    program: Program
    types: Types
    layouts: tuple[Layout, Layout, Layout]
    tile: tuple[int, int]
    depth: int
    waves: tuple[int, int]
    size: Size

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
        return 2 * lines * self.depth * self.types.input.nbytes

    @property
    def operations(self) -> int:
        """Multiplications and additions of A B, as rocWMMA counts them."""
        m, n, k = self.size
        return 2 * m * n * k


def grid(suite: Suite, sizes: tuple[Size, ...] | None = None) -> Iterator[Case]:
    """Yield a suite's cases, for these sizes or its own: C and D lie in columns, as in rocWMMA."""
    for program, types, size, (a, b), tile, depth, waves in itertools.product(
        suite.programs,
        TYPES,
        sizes or suite.sizes,
        LAYOUTS,
        suite.tiles,
        suite.depths,
        suite.waves,
    ):
        yield Case(program, types, (a, b, Layout.COLUMNS), tile, depth, waves, size)


def why_skipped(case: Case, target: Target) -> str | None:
    """Return why a processor does not run a case, None if it does."""
    if Feature.WMMA_GFX12 not in target.features and Feature.WMMA_GFX11 not in target.features:
        return f"fragments do not multiply on {target.name}"
    if case.types.input in (fp8, bf8) and Feature.WMMA_GFX12 not in target.features:
        return f"{target.name} has no products of fp8 and bf8"
    m, n, k = case.size
    if m % (case.rows * case.waves[0]) or n % (case.columns * case.waves[1]) or k % case.depth:
        return "the workgroups' tiles do not divide the matrix"
    if case.lds_bytes > target.lds_per_workgroup:
        return "the tiles do not fit the LDS"
    if _registers(case) > target.vgpr_limit:
        return "the fragments do not fit the registers"
    return None


def _registers(case: Case) -> int:
    """Return rocWMMA's estimate for gfx11 and gfx12, in which A, B and C count twice."""
    factors = (case.rows + case.columns) * case.depth * case.types.input.bits // (32 * 32)
    sums = case.rows * case.columns * max(32, case.types.compute.bits) // (32 * 32)
    return 2 * factors + 2 * sums
