"""Loops of matrix products: independent, dependent on each other, and with vector instructions in
between."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from ml_dtypes import float8_e4m3fn

import amdjit
from amdjit import f32, fp8
from amdjit.cycles.parameters import passes_name
from amdjit.emulator.counting.layout import LINE_BYTES
from amdjit.examples import i8_gemm, perf_hgemm
from amdjit.examples.perf_hgemm import TILE, WAVES, compute_tile, scaled_sum
from amdjit.examples.waves import lanes, of_waves
from amdjit.isa.traits import Timing
from amdjit.probe.machine_code import Program, a, s, v
from amdjit.probe.timing.experiment import Experiment, Figure, Launch
from amdjit.probe.timing.loops import FIRST_SGPR, Body, Emit, has
from amdjit.target import Target

__all__ = ["matrix_products", "products"]

# A class, an instruction of RDNA, and the dwords of A and B; the sum has eight dwords.
_WMMA = (
    (Timing.MATRIX_WIDE, "v_wmma_f32_16x16x16_f16"),
    (Timing.MATRIX_WIDE, "v_wmma_f32_16x16x16_bf16"),
    (Timing.MATRIX_NARROW, "v_wmma_i32_16x16x16_iu8"),
    (Timing.MATRIX_FOUR_BITS, "v_wmma_i32_16x16x16_iu4"),
    (Timing.MATRIX_NARROW, "v_wmma_f32_16x16x16_fp8_fp8"),
)
# The dwords of A and B in a wave of 32 lanes, on gfx12 and on gfx11, where both halves of the wave
# hold the same.
_WIDTHS = {
    "f16": (4, 8),
    "bf16": (4, 8),
    "iu8": (2, 4),
    "iu4": (1, 2),
    "fp8": (2, 4),
}
# Instructions of CDNA, the dwords of A and B and of the sum.
_MFMA = (
    ("v_mfma_f32_32x32x8_f16", 2, 16),
    ("v_mfma_f32_32x32x8f16", 2, 16),
    ("v_mfma_f32_16x16x16_f16", 2, 4),
    ("v_mfma_f32_16x16x16f16", 2, 4),
    ("v_mfma_i32_32x32x16_i8", 2, 16),
    ("v_mfma_i32_32x32x8i8", 1, 16),
    ("v_mfma_f32_32x32x16_fp8_fp8", 2, 16),
    ("v_mfma_f64_16x16x4_f64", 2, 8),
    ("v_mfma_f64_16x16x4f64", 2, 8),
)
_SUMS, _SUM_DWORDS = 4, 8
_A, _B, _FIRST_SUM, _FREE = 64, 72, 2, 80
_MOST_BETWEEN = 8


def products() -> Iterator[Body]:
    """Yield the matrix products of RDNA and of CDNA."""
    for timing, mnemonic in _WMMA:
        passes = passes_name(timing)
        for what, sums in (("rate", _SUMS), ("latency", 1)):
            yield Body(f"{what} {mnemonic}", passes, _wmma(mnemonic, sums), has(mnemonic))
    for timing, mnemonic in (_WMMA[0], _WMMA[2]):
        yield from _mixed(mnemonic, passes_name(timing))
    yield from _after_slow(_WMMA[0][1])
    for mnemonic, dwords, sums in _MFMA:
        for what, places in (("rate", _SUMS), ("latency", 1)):
            emit = _mfma(mnemonic, dwords, sums, places)
            yield Body(f"{what} {mnemonic}", "", emit, has(mnemonic), is_predicted=False)


def _wmma(mnemonic: str, sums: int) -> Emit:
    kind = mnemonic.rpartition("_")[2]

    def emit(program: Program, copy: int) -> None:
        dwords = _WIDTHS[kind][0 if program.sets.name == "gfx12" else 1]
        total = v(_FIRST_SUM + _SUM_DWORDS * (copy % sums), _SUM_DWORDS)
        program.add(mnemonic, total, v(_A, dwords), v(_B, dwords), total)

    return emit


def _mfma(mnemonic: str, dwords: int, sums: int, places: int) -> Emit:
    def emit(program: Program, copy: int) -> None:
        total = a(sums * (copy % places), sums)
        program.add(mnemonic, total, v(_A, dwords), v(_B, dwords), total)

    return emit


def _mixed(mnemonic: str, passes: str) -> Iterator[Body]:
    product = _wmma(mnemonic, _SUMS)
    for count in range(1, _MOST_BETWEEN + 1):
        parameter = "matrix after valu" if count > 1 else passes

        def emit(program: Program, copy: int, count: int = count) -> None:
            product(program, copy)
            for number in range(count):
                program.add("v_add_f32", v(_FREE + number), v(_FREE + 16), v(_FREE + 17))

        yield Body(f"{mnemonic} and {count} v_add_f32", parameter, emit, has(mnemonic))


def _after_slow(mnemonic: str) -> Iterator[Body]:
    product = _wmma(mnemonic, _SUMS)

    def transcendental(program: Program, copy: int) -> None:
        product(program, copy)
        program.add("v_rcp_f32", v(_FREE), v(_FREE + 16))

    def read(program: Program, copy: int) -> None:
        program.add("v_rcp_f32", v(_A), v(_FREE + 16))
        product(program, copy)

    def pseudo_scalar(program: Program, copy: int) -> None:
        product(program, copy)
        program.add("v_s_rcp_f32", s(FIRST_SGPR), s(FIRST_SGPR + 1))

    for what, parameter, emit, needed in (
        ("and v_rcp_f32", "matrix after transcendental", transcendental, "v_rcp_f32"),
        ("behind v_rcp_f32 of A", "matrix after transcendental result", read, "v_rcp_f32"),
        ("and v_s_rcp_f32", "matrix after pseudo-scalar", pseudo_scalar, "v_s_rcp_f32"),
    ):
        yield Body(f"{mnemonic} {what}", parameter, emit, has(mnemonic, needed))


# The throughput of whole matrix products, computed by the kernels of the examples.

_SIZES = (1024, 2048, 4096)
_FP8_DEPTH = 64


@amdjit.kernel(block=(32 * WAVES, 1, 1))
def fp8_gemm(a, b, c, d, alpha, beta):  # type: ignore[no-untyped-def]
    compute_tile(a, b, c, d, (fp8, f32), _FP8_DEPTH, scaled_sum, (alpha, beta))


_Arguments = Callable[[int, int], tuple[Any, ...]]


def matrix_products(target: Target) -> Iterator[Experiment]:
    """Yield the products of square matrices whose types the target has."""
    for size in _SIZES:
        yield _product("f16", 2, perf_hgemm.perf_hgemm, _halves, size)
        yield _product("i8", 1, i8_gemm.i8_gemm, _integers, size)
        if target.isa[0] >= 12:
            yield _product("fp8", 1, fp8_gemm, _eighths, size)


def _product(dtype: str, nbytes: int, kernel: Any, arguments: _Arguments, size: int) -> Experiment:
    def launch(extent: int) -> Launch:
        tiles = extent // TILE
        given = arguments(extent, size)
        launcher = of_waves(kernel, WAVES)[(tiles, tiles), lanes() * WAVES]
        return lambda: launcher(*given)

    def launches(repetitions: int) -> tuple[Launch, ...]:
        once = launch(size)
        return (lambda: [once() for _ in range(repetitions)],)

    return Experiment(
        f"product {dtype}, {size}",
        "TFLOPS",
        "",
        launches,
        _rate(2 * size**3),
        repetitions=1,
        lines=(2 * size * size * nbytes + 2 * size * size * _result_bytes(dtype)) // LINE_BYTES,
        part=lambda: launch(TILE),
        workgroups=(size // TILE) ** 2,
    )


def _rate(operations: int) -> Figure:
    def figure(repetitions: int, seconds: Sequence[float], cycle: float) -> float:
        return operations * repetitions / seconds[0] / 1e12

    return figure


def _result_bytes(dtype: str) -> int:
    return 1 if dtype == "i8" else 2


def _halves(extent: int, depth: int) -> tuple[Any, ...]:
    factors = (_random(extent, depth, np.float16) for _ in range(2))
    return (*factors, *_sums(extent, np.float16), f32(1), f32(1))


def _eighths(extent: int, depth: int) -> tuple[Any, ...]:
    factors = (_random(extent, depth, float8_e4m3fn) for _ in range(2))
    return (*factors, *_sums(extent, np.float16), f32(1), f32(1))


def _integers(extent: int, depth: int) -> tuple[Any, ...]:
    factors = (_random(extent, depth, np.int8) for _ in range(2))
    return (*factors, *_sums(extent, np.int8), i8_gemm.relu, (4,))


def _random(rows: int, columns: int, dtype: Any) -> Any:
    """Return a matrix of small integers, because products of zeros take less power."""
    values = np.random.default_rng(3).integers(-4, 5, (rows, columns))
    return amdjit.to_device(values.astype(np.float32).astype(dtype))


def _sums(extent: int, dtype: Any) -> tuple[Any, Any]:
    return amdjit.zeros((extent, extent), dtype), amdjit.zeros((extent, extent), dtype)
