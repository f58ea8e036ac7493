"""The order in which the cycle model puts matrix products, next to published throughput of gfx1201,
an RX 7900 XTX (gfx1100), MI325X (gfx942) and MI355X (gfx950): `python benchmarks/cycle_ranks.py`.

A small product with the same depth runs on the emulator; a sample of its workgroups is taken to be
that of the large one. Published figures are of other people's kernels: only the order can be
compared. Sources: torch.mm of zzc0721/torch-performance-test-data 173 (RX 9070 XT, ROCm 7.2);
hand-written f16 of rocm-libraries 10861; int8 of comfy-kitchen 94 and 122; bf16 of HipKittens
(mi325x_bf16_gemm.json, mi355x_bf16_gemm.json), whose bf16 takes as long as f16, and fp8
(mi355x_fp8_gemm.json). f32 on an RX 7900 XTX: seb-v/fp32_sgemm_amd.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any

os.environ.setdefault("AMDJIT_DEVICE", "emulator:gfx1201")

import numpy as np
from measurement import save, table
from sgemm_steps import STEPS, run_step

import amdjit
from amdjit import f32
from amdjit.code_object import CodeObject
from amdjit.cycles.model import Launch, estimate
from amdjit.emulator.counting.layout import LINE_BYTES
from amdjit.examples import i8_gemm, perf_hgemm, simple_hgemm, tuned_gemm, wmma_gemm

HEAD = ("case", "target", "size", "TFLOPS", "WMMA share", "hot stall", "published", "seconds")


@dataclass(frozen=True)
class Case:
    """A kernel on square matrices. tile: rows and columns that a workgroup computes. extent: of the
    emulated product. nbytes: of an element. published: TFLOPS or TOPS of similar kernels."""

    name: str
    size: int
    tile: int
    extent: int
    nbytes: int
    published: str
    launch: Callable[[int, int], None]
    target: str = "gfx1201"


def halves(*shape: int) -> np.ndarray[Any, np.dtype[np.float16]]:
    """Return a matrix; the values do not matter."""
    return np.ones(shape, np.float16)


def run_perf(extent: int, depth: int) -> None:
    """Two tiles of LDS in turn."""
    a, b, c = halves(extent, depth), halves(extent, depth), halves(extent, extent)
    grid = extent // perf_hgemm.TILE, extent // perf_hgemm.TILE
    perf_hgemm.perf_hgemm[grid, 128](a, b, c, c.copy(), f32(1), f32(1))


def run_simple(extent: int, depth: int) -> None:
    """Operands straight to registers, one 16 by 16 block a wave."""
    a, b, c = halves(extent, depth), halves(extent, depth), halves(extent, extent)
    grid = extent // 64, extent // 64
    simple_hgemm.simple_hgemm[grid, simple_hgemm.BLOCK](a, b, c, c.copy(), f32(1), f32(1))


def run_wmma(extent: int, depth: int) -> None:
    """One tile of LDS, register prefetch."""
    a, b = halves(extent, depth), halves(depth, extent)
    wmma_gemm.gemm(a, b, np.zeros((extent, extent), np.float32))


def run_i8(extent: int, depth: int) -> None:
    """Two tiles of LDS in turn."""
    a, b, c = (np.ones(shape, np.int8) for shape in ((extent, depth),) * 2 + ((extent, extent),))
    grid = extent // perf_hgemm.TILE, extent // perf_hgemm.TILE
    i8_gemm.i8_gemm[grid, 128](a, b, c, c.copy(), i8_gemm.relu, (4,))


def run_tuned(kind: str, extent: int, depth: int) -> None:
    """One tile of LDS, register prefetch; as many bytes of either type."""
    a, b, d = tuned_gemm.operands(kind, extent, extent, depth)
    tuned_gemm.product(a, b, d, tuned_gemm.Configuration(BK=64 // a.dtype.itemsize))


# Of sizes from 1,024 to 16,384; of MI325X, MI355X, and fp8 on MI355X.
HIP_KITTENS = {
    ("gfx942", "f16"): (60, 298, 714, 749, 714),
    ("gfx950", "f16"): (140, 665, 1413, 1611, 1572),
    ("gfx950", "fp8"): (270, 1054, 2741, 3328, 3378),
}

CASES = (
    Case(
        "f16, straight to registers",
        4096,
        tile=64,
        extent=64,
        nbytes=2,
        published="-",
        launch=run_simple,
    ),
    Case(
        "f16, one LDS tile",
        4096,
        tile=128,
        extent=128,
        nbytes=2,
        published="108 to 116",
        launch=run_wmma,
    ),
    Case(
        "f16, two LDS tiles", 1024, tile=128, extent=128, nbytes=2, published="79", launch=run_perf
    ),
    Case(
        "f16, two LDS tiles", 2048, tile=128, extent=128, nbytes=2, published="117", launch=run_perf
    ),
    Case(
        "f16, two LDS tiles", 4096, tile=128, extent=128, nbytes=2, published="129", launch=run_perf
    ),
    Case(
        "f16, two LDS tiles", 8192, tile=128, extent=128, nbytes=2, published="113", launch=run_perf
    ),
    Case(
        "i8, two LDS tiles",
        4096,
        tile=128,
        extent=128,
        nbytes=1,
        published="110 to 151",
        launch=run_i8,
    ),
    *(
        Case(
            name,
            4096,
            tile=step[2],
            extent=step[2],
            nbytes=4,
            published=f"{2 * 4096**3 / step[3] / 1e9:.1f}",
            launch=partial(run_step, step),
            target="gfx1100",
        )
        for name, step in STEPS.items()
    ),
    *(
        Case(
            f"{kind}, MFMA",
            1024 << step,
            tile=128,
            extent=128,
            nbytes=2 if kind == "f16" else 1,
            published=str(tflops),
            launch=partial(run_tuned, kind),
            target=target,
        )
        for (target, kind), series in HIP_KITTENS.items()
        for step, tflops in enumerate(series)
    ),
)


def ranked(case: Case) -> tuple[tuple[object, ...], dict[str, Any]]:
    """Return a case's row of the table, and its results."""
    with (
        amdjit.use(f"emulator:{case.target}"),
        amdjit.profile(workgroups=1, instructions=8_000_000) as profile,
    ):
        case.launch(case.extent, case.size)
    (found,) = profile.launches
    assert found.recording is not None
    size, workgroups = case.size, (case.size // case.tile) ** 2
    lines = (2 * size * size * case.nbytes + 2 * size * size * case.nbytes) // LINE_BYTES
    items = int(np.prod(found.block))
    launch = Launch(workgroups, items, found.dynamic_lds, lines)
    begin = perf_counter()
    code_object = CodeObject.read(found.code_object)
    cycles = estimate(code_object, found.kernel, launch, found.recording)
    seconds = perf_counter() - begin
    rate = 2 * size**3 / cycles.seconds / 1e12
    stall = max(cycles.stalls, key=lambda name: cycles.stalls[name])
    row = (
        case.name,
        case.target,
        size,
        f"{rate:.1f}",
        f"{cycles.wmma_share:.0%}",
        stall,
        case.published,
        f"{seconds:.1f}",
    )
    result = {"case": case.name, "target": case.target, "size": size, "tflops": rate}
    return row, {**result, "share": cycles.wmma_share, "published": case.published}


def correlation(results: Sequence[dict[str, Any]]) -> float:
    """Return Spearman's rank correlation of the model's throughput with the published one."""
    found = [result["tflops"] for result in results]
    published = [float(result["published"]) for result in results]
    # Of equal values each has the mean of their ranks.
    ranks = [
        [sum((other < value) + (other <= value) for other in values) for value in values]
        for values in (found, published)
    ]
    return float(np.corrcoef(*ranks)[0, 1])


def main() -> None:
    """Print and save. Arguments are targets; without one, all cases."""
    rows, results = [], []
    for case in CASES:
        if sys.argv[1:] and case.target not in sys.argv[1:]:
            continue
        row, result = ranked(case)
        rows.append(row)
        results.append(result)
    print(table(HEAD, rows))
    save("cycle_ranks", {"cases": results})
    steps = [result for result in results if result["case"] in STEPS]
    if steps:
        print(f"rank correlation with fp32_sgemm_amd, gfx1100: {correlation(steps):.2f}")
    products = [result for result in results if result["case"].endswith("MFMA")]
    for target, kind in HIP_KITTENS:
        part = [r for r in products if (r["target"], r["case"]) == (target, f"{kind}, MFMA")]
        if part:
            print(f"rank correlation with HipKittens, {target} {kind}: {correlation(part):.2f}")
    if products:
        print(f"rank correlation with HipKittens, all: {correlation(products):.2f}")


if __name__ == "__main__":
    main()
