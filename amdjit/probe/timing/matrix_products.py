"""Throughput of whole matrix products, of the examples' kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from ml_dtypes import float8_e4m3fn

import amdjit
from amdjit import f32, fp8
from amdjit.emulator.counting.layout import LINE_BYTES
from amdjit.examples import i8_gemm, perf_hgemm
from amdjit.examples.perf_hgemm import TILE, WAVES, compute_tile, scaled_sum
from amdjit.examples.waves import lanes, of_waves
from amdjit.probe.timing.experiment import Experiment, Figure, Launch
from amdjit.target import Target

__all__ = ["matrix_products"]

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
    """Return a matrix of small integers: of zeros, products take less power."""
    values = np.random.default_rng(3).integers(-4, 5, (rows, columns))
    return amdjit.to_device(values.astype(np.float32).astype(dtype))


def _sums(extent: int, dtype: Any) -> tuple[Any, Any]:
    return amdjit.zeros((extent, extent), dtype), amdjit.zeros((extent, extent), dtype)
