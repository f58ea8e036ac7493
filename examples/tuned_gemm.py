"""D = A B in f16, fp8 or i8 with everything that a tuner may choose: the shape of tiles, how waves
share them, and the way that operands take to the matrix cores.

A workgroup of `rows` by `columns` waves computes a tile of D of BM by BN, in steps of BK along k. B
is given by columns, that is, as its transpose, and fragments compute D^T = B^T A^T, as in
perf_hgemm. The way of the operands is one of

- "one buffer": the next step's tile waits in registers while this one's is multiplied out of LDS.
  There is one tile of LDS, so that a barrier stands before and after it is written.
- "two buffers": two tiles of LDS take turns, so that one barrier a step is enough.
- "registers": each wave loads its own operands, a step ahead, and no wave waits for another. What
  waves share comes from the cache of their compute unit.

What else is special is the same as in perf_hgemm (docs/fast_gemm.md). The loops have no branches:
the last step is loaded twice instead of asking whether there is another one, and where steps take
turns there is an even number of them. LLVM moves loads that only one side of a branch needs to that
side, and they are then late.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import ml_dtypes
import numpy as np

import amdjit
from amdjit import Const, blockIdx, f32, i8, i32, shared, static_range
from amdjit.examples.report import Report, compare, small_integers
from amdjit.examples.waves import lanes
from amdjit.intrinsics import matrix, wave
from amdjit.intrinsics.sync import lds_barrier, sched_barrier
from amdjit.target import Feature

BYTES = 32  # along k, of which each half of a wave reads 16 at once
FORMS = ("one buffer", "two buffers", "registers")
SPACE: dict[str, list[Any]] = {
    "BM": [32, 64, 128, 256],
    "BN": [32, 64, 128, 256],
    "BK": [16, 32, 64, 128],
    "rows": [1, 2, 4],
    "columns": [1, 2, 4],
    "form": list(FORMS),
    "pad": [0, 16],
}
LDS_BYTES = 64 << 10  # of a workgroup
DTYPES = {"f16": np.float16, "fp8": ml_dtypes.float8_e4m3fn, "i8": np.int8}
ACCUMULATORS = 128  # registers of a lane that sums may take, of 256


@dataclass(frozen=True)
class Configuration:
    """What may be chosen. BM, BN: rows and columns of D that a workgroup computes. BK: of a step,
    along k. rows, columns: of the workgroup's waves. form: one of FORMS. pad: bytes between the
    rows of a tile in LDS."""

    BM: int = 128
    BN: int = 128
    BK: int = 32
    rows: int = 2
    columns: int = 2
    form: str = "one buffer"
    pad: int = 16

    @property
    def waves(self) -> int:
        """How many waves a workgroup has."""
        return self.rows * self.columns


def fits(c: Any, nbytes: int) -> bool:
    """Return whether a configuration is worth compiling for elements of `nbytes` bytes: tiles
    divide evenly, LDS holds them, and registers hold the sums.

    c: anything with the fields of `Configuration`.
    """
    step = BYTES // nbytes
    if c.BM % (16 * c.rows) or c.BN % (16 * c.columns) or c.BK % step:
        return False
    if c.BM * c.BN // (32 * c.rows * c.columns) > ACCUMULATORS:
        return False
    if c.form == "registers":
        return c.pad == 0 and 2 * step >= c.BK
    blocks_of_a, blocks_of_b = c.BM * c.BK // (16 * step), c.BN * c.BK // (16 * step)
    is_even = blocks_of_a % (c.rows * c.columns) == blocks_of_b % (c.rows * c.columns) == 0
    tiles = (1 if c.form == "one buffer" else 2) * (c.BM + c.BN)
    return is_even and tiles * (c.BK * nbytes + c.pad) <= LDS_BYTES


@amdjit.device_function
def operands_of(height, width, dtype):
    """Return registers for one read of A and B along k: an operand of `height` columns of D, and
    one for each 16 of its `width` rows."""
    step = BYTES // dtype.nbytes
    left = matrix.fragment(matrix.matrix_a, height, 16, step, dtype, matrix.row_major, wide_k=True)
    rights = tuple(
        matrix.fragment(matrix.matrix_b, height, 16, step, dtype, matrix.col_major, wide_k=True)
        for _ in range(width // 16)
    )
    return left, rights


@amdjit.device_function
def place_of(array, row, k):
    """Return an array of two axes that holds the rows of A or B, and the place in it."""
    if array.ndim == 3:
        return array[k // array.shape[2]], (row, 0)
    return array, (row, k)


@amdjit.device_function
def load(operands, a, b, row, column, k):
    """Load A's rows from `row` on and B's columns from `column` on, from k on."""
    left, rights = operands
    array, place = place_of(b, column, k)
    matrix.load_matrix_sync(left, array, place)
    for strip in static_range(len(rights)):
        array, place = place_of(a, row + 16 * strip, k)
        matrix.load_matrix_sync(rights[strip], array, place)


@amdjit.device_function
def multiply(operands, total):
    """Add a product to the wave's sums."""
    left, rights = operands
    for strip in static_range(len(total)):
        matrix.mma_sync(total[strip], left, rights[strip], total[strip])


@amdjit.device_function
def multiply_tile(a_tile, b_tile, row, column, depth, total):
    """Add a tile's products to the wave's sums."""
    step = total[0].kind.k
    for k in static_range(0, depth, step):
        operands = operands_of(total[0].height, 16 * len(total), a_tile.dtype)
        load(operands, a_tile, b_tile, row, column, k)
        multiply(operands, total)


@amdjit.device_function
def parts_of(use, layout, dtype, ndim, shape):
    """Return registers for a wave's share of a tile of A or B: as a whole, or for each panel.

    It is not given the array: what a function returns may refer to its arguments, so that the
    kernel would seem to write A and B.
    """
    rows, columns, depth = shape
    extent = depth if ndim == 2 else BYTES // dtype.nbytes
    return tuple(
        matrix.fragment(use, rows, columns, extent, dtype, layout, wide_k=True)
        for _ in range(depth // extent)
    )


@amdjit.device_function
def load_parts(parts, array, row, k, share):
    """Load a wave's share of a tile from memory. share: its number, and the count of waves."""
    for i in static_range(len(parts)):
        panel, place = place_of(array, row, k + i * parts[0].kind.k)
        matrix.load_matrix_coop_sync(parts[i], panel, place, share[0], share[1])


@amdjit.device_function
def store_parts(tile, parts, share):
    """Store a wave's share of a tile into LDS."""
    for i in static_range(len(parts)):
        place = 0, i * parts[0].kind.k
        matrix.store_matrix_coop_sync(tile, parts[i], place, share[0], share[1])


@amdjit.device_function
def through_lds(a, b, first, place, shape, buffers, pad, share, extent, total):
    """Multiply by tiles in LDS, of which `buffers` take turns.

    first: the workgroup's row and column in D. place: the wave's in the workgroup's tile. share:
    its number, and the count of waves. extent: of the product, along k.
    """
    rows, columns, depth = shape
    pitch = depth + pad // a.dtype.nbytes
    a_tiles = shared.array((buffers, rows, pitch), a.dtype)
    b_tiles = shared.array((buffers, columns, pitch), a.dtype)
    a_parts = parts_of(matrix.matrix_a, matrix.row_major, a.dtype, a.ndim, shape)
    b_parts = parts_of(matrix.matrix_b, matrix.col_major, b.dtype, b.ndim, shape)
    load_parts(a_parts, a, first[0], 0, share)
    load_parts(b_parts, b, first[1], 0, share)
    for k in range(0, extent, buffers * depth):
        for turn in static_range(buffers):
            following = min(k + (turn + 1) * depth, extent - depth)
            store_parts(a_tiles[turn], a_parts, share)
            store_parts(b_tiles[turn], b_parts, share)
            lds_barrier()
            load_parts(a_parts, a, first[0], following, share)
            load_parts(b_parts, b, first[1], following, share)
            sched_barrier()
            multiply_tile(a_tiles[turn], b_tiles[turn], place[0], place[1], depth, total)
            sched_barrier()
            if buffers == 1:
                lds_barrier()


@amdjit.device_function
def through_registers(a, b, row, column, depth, extent, total):
    """Multiply from memory. row, column: the wave's in D. extent: of the product, along k."""
    step, height, width = total[0].kind.k, total[0].height, 16 * len(total)
    sets = tuple(
        tuple(operands_of(height, width, a.dtype) for _ in range(depth // step)) for _ in range(2)
    )
    for i in static_range(depth // step):
        load(sets[0][i], a, b, row, column, step * i)
    for k in range(0, extent, 2 * depth):
        for turn in static_range(2):
            following = min(k + (turn + 1) * depth, extent - depth)
            for i in static_range(depth // step):
                load(sets[1 - turn][i], a, b, row, column, following + step * i)
            sched_barrier()
            for i in static_range(depth // step):
                multiply(sets[turn][i], total)
            sched_barrier()


@amdjit.kernel
def tuned_gemm(
    a,
    b,
    d,
    BM: Const = 128,
    BN: Const = 128,
    BK: Const = 32,
    rows: Const = 2,
    columns: Const = 2,
    form: Const = "one buffer",
    pad: Const = 16,
):
    """a: m by k; b: n by k, the transpose of B; d: m by n, of f32 or a float, of i8 i32; m, n and k
    multiples of BM, BN and BK, k of 2 BK except with one buffer. A workgroup has rows * columns
    waves, the grid (n / BN, m / BM)."""
    number = wave.wave_id()
    height, width = BN // columns, BM // rows
    row, column = width * (number // columns), height * (number % columns)
    first = BM * blockIdx.y, BN * blockIdx.x
    sums = i32 if a.dtype is i8 else f32
    step = BYTES // a.dtype.nbytes
    extent = a.shape[1] if a.ndim == 2 else a.shape[0] * step
    total = tuple(
        matrix.fragment(matrix.accumulator, height, 16, step, sums, matrix.col_major)
        for _ in range(width // 16)
    )
    for strip in total:
        matrix.fill_fragment(strip, 0)
    if form == "registers":
        through_registers(a, b, first[0] + row, first[1] + column, BK, extent, total)
    else:
        buffers = 1 if form == "one buffer" else 2
        place, shape, share = (row, column), (BM, BN, BK), (number, rows * columns)
        through_lds(a, b, first, place, shape, buffers, pad, share, extent, total)
    for i in static_range(len(total)):
        place = first[0] + row + 16 * i, first[1] + column
        matrix.store_matrix_sync(d, matrix.convert(total[i], d.dtype), place)


@cache
def of_block(work_items: int) -> amdjit.Kernel:
    """Return the kernel for workgroups of that size, which LLVM must know: a smaller workgroup
    leaves more registers to each wave."""
    return amdjit.kernel(block=(work_items, 1, 1))(tuned_gemm.function)


def panels(array: Any) -> Any:
    """Return A or B as panels [k / step, rows, step] of 32 bytes along k: what a wave reads at once
    are then neighbours in memory."""
    rows, k = array.shape
    step = BYTES // array.dtype.itemsize
    return np.ascontiguousarray(array.reshape(rows, k // step, step).transpose(1, 0, 2))


def product(a: Any, b: Any, d: Any, c: Configuration) -> None:
    """D = A B^T for arrays on the host or the device, A and B by rows or both in panels. Raises
    ValueError for a configuration that does not fit, and for shapes that are no multiples of
    it."""
    (m, n), k = d.shape, a.shape[-1] * (a.shape[0] if a.ndim == 3 else 1)
    turns = 1 if c.form == "one buffer" else 2
    if not fits(c, a.dtype.itemsize) or m % c.BM or n % c.BN or k % (turns * c.BK):
        raise ValueError(f"{c} does not fit a product of {m}x{n}x{k} {a.dtype}")
    work_items = lanes() * c.waves
    of_block(work_items)[(n // c.BN, m // c.BM), work_items](
        a, b, d, c.BM, c.BN, c.BK, c.rows, c.columns, c.form, c.pad
    )


def operands(kind: str, m: int, n: int, k: int) -> tuple[Any, Any, Any]:
    """Return A, the transpose of B, and room for D. kind: "f16", "fp8" or "i8"; elements are
    rocWMMA's integers, whose sums are exact."""
    dtype = DTYPES[kind]
    a, b = small_integers(m, k, dtype=np.int8), small_integers(n, k, dtype=np.int8)
    d = np.full((m, n), 77, np.int32 if kind == "i8" else np.float32)
    return a.astype(dtype), b.astype(dtype), d


def run(kind: str, c: Configuration, m: int, n: int, k: int, in_panels: bool = False) -> Report:
    """Multiply integers; the result is exact, but for sums of floats on RDNA 3."""
    a, b, d = operands(kind, m, n, k)
    expected = a.astype(np.float64) @ b.T.astype(np.float64)
    product(panels(a) if in_panels else a, panels(b) if in_panels else b, d, c)
    text = f"{c.form}, {c.BM}x{c.BN}x{c.BK}: {m}x{n}x{k} {kind} against NumPy"
    return compare("tuned_gemm", text, d, expected, tolerance_of(a, b))


def tolerance_of(a: Any, b: Any) -> float:
    """Return how far a sum may be from the exact one: on RDNA 3, sums that cancel are not exact
    even of small integers (docs/matrix.md)."""
    target = amdjit.current_device().target
    if Feature.WMMA_GFX11 not in target.features or a.dtype == np.int8:
        return 0.0
    zeros = np.zeros((a.shape[0], b.shape[0]), np.float32)
    name = "wmma_f32_16x16x16_f16"
    return float(np.max(matrix.error_bound(name, a, b.T, zeros, target=target.name)))


def main() -> list[Report]:
    """Run each form; fp8 where the device has it."""
    has_fp8 = Feature.OCP_FLOATS in amdjit.current_device().target.features
    kind, two = "fp8" if has_fp8 else "i8", Configuration(64, 128, 64, 1, 2, "two buffers")
    return [
        run("f16", Configuration(BN=64), 128, 128, 160),
        run(kind, two, 64, 128, 256),
        run("i8", Configuration(64, 64, form="registers", pad=0), 128, 64, 192, in_panels=True),
    ]


if __name__ == "__main__":
    print(*main(), sep="\n")
