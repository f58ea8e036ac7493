"""LDS with all strides, widths and sizes, and scratch."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial
from typing import Any

import numpy as np

import amdjit
from amdjit import blockIdx, local, shared, static_range, syncthreads, threadIdx
from amdjit.probe.case import Case, Results
from amdjit.target import Target

__all__ = ["cases"]

_BLOCK = 256
_STRIDES = (1, 2, 3, 4, 5, 7, 8, 16, 17, 31, 32, 33, 64, 65)
_TYPES = {
    "u8": np.uint8, "i16": np.int16, "f16": np.float16, "f32": np.float32, "i64": np.int64,
    "f64": np.float64,
}  # fmt: skip
_LARGEST = 64 * 1024


def cases(target: Target) -> Iterator[Case]:
    """Return the cases of LDS and scratch."""
    for kind in _TYPES:
        yield Case(f"LDS strides of {kind}", "LDS", partial(_run_strides, kind))
    for width in (2, 4, 8):
        yield Case(f"LDS vectors of {width} f32", "LDS", partial(_run_vectors, width))
    for size in (64, 1024, 10_000, _LARGEST // 4):
        yield Case(f"LDS of {4 * size} bytes", "LDS", partial(_run_whole, size))
    yield Case("dynamic LDS", "LDS", _run_dynamic)
    for size in (8, 61, 300):
        yield Case(f"scratch of {8 * size} bytes", "scratch", partial(_run_scratch, size))


def _run_strides(kind: str) -> Results:
    dtype = np.dtype(_TYPES[kind])
    values = (np.arange(_BLOCK * 2) % 117).astype(dtype)
    out = np.zeros((len(_STRIDES), _BLOCK * 2), dtype)
    _strides(kind)[2, _BLOCK](values, np.array(_STRIDES, np.int32), out)
    return (out,)


@cache
def _strides(kind: str) -> Any:
    dtype = getattr(amdjit, kind)

    @amdjit.kernel(block=_BLOCK, warnings=False)
    def strides(values, steps, out):
        tile = shared.array(2 * _BLOCK, dtype)
        t, i = threadIdx.x, amdjit.grid(1)
        for n in range(steps.shape[0]):
            step = steps[n]
            tile[t] = dtype(0)
            tile[t + _BLOCK] = dtype(0)
            syncthreads()
            # Modulo a power of two, odd strides reach every place; even ones write the same value
            # several times.
            tile[t * step % _BLOCK + (t & 1) * _BLOCK] = values[i] if step % 2 == 1 else dtype(step)
            syncthreads()
            out[n, i] = tile[(t * step + n) % (2 * _BLOCK)]
            syncthreads()

    return strides


def _run_vectors(width: int) -> Results:
    values = np.arange(_BLOCK * width * 2, dtype=np.float32)
    out = np.zeros((3, values.size), np.float32)
    _vectors(width)[2, _BLOCK](values, out)
    return (out,)


@cache
def _vectors(width: int) -> Any:
    @amdjit.kernel(block=_BLOCK, warnings=False)
    def vectors(values, out):
        tile = shared.array(_BLOCK * width, amdjit.f32)
        t, i = threadIdx.x, amdjit.grid(1)
        tile.store(width * t, values.load(width * i, width))
        syncthreads()
        other = (t * 5 + 3) % _BLOCK
        row = tile.load(width * other, width)
        for e in static_range(width):
            out[0, width * i + e] = row[e]
            out[1, width * i + e] = tile[e * _BLOCK + t]
            out[2, width * i + e] = tile[(width * t + 7 * e) % (_BLOCK * width)]

    return vectors


def _run_whole(size: int) -> Results:
    out = np.zeros((2, 2), np.uint64)
    _whole(size)[2, _BLOCK](out)
    return (out,)


@cache
def _whole(size: int) -> Any:
    @amdjit.kernel(block=_BLOCK, warnings=False)
    def whole(out):
        tile = shared.array(size, amdjit.u32)
        t = threadIdx.x
        for n in range(t, size, _BLOCK):
            tile[n] = amdjit.u32(n * 40503 + blockIdx.x)
        syncthreads()
        total = amdjit.u64(0)
        for n in range(t, size, _BLOCK):
            place = (n * 127 + 31) % size
            total += amdjit.u64(tile[place]) * amdjit.u64(n + 1)
        amdjit.atomic.add(out, (blockIdx.x, 0), total)
        amdjit.atomic.xor(out, (blockIdx.x, 1), total)

    return whole


def _run_dynamic() -> Results:
    out = np.zeros(2 * _BLOCK, np.float32)
    _dynamic()[2, _BLOCK, None, 4 * _BLOCK](out)
    return (out,)


@cache
def _dynamic() -> Any:
    @amdjit.kernel(block=_BLOCK, warnings=False)
    def dynamic(out):
        tile = shared.dynamic(amdjit.f32)
        t = threadIdx.x
        tile[t] = amdjit.f32(3 * t + blockIdx.x)
        syncthreads()
        out[amdjit.grid(1)] = tile[_BLOCK - 1 - t]

    return dynamic


def _run_scratch(size: int) -> Results:
    out = np.zeros((2, 2 * _BLOCK), np.int64)
    _scratch(size)[2, _BLOCK](np.int32(size), out)
    return (out,)


@cache
def _scratch(size: int) -> Any:
    @amdjit.kernel(block=_BLOCK, warnings=False)
    def scratch(count, out):
        own = local.array(size, amdjit.i64)
        i = amdjit.grid(1)
        for n in range(count):
            own[n] = amdjit.i64(n) * 1000003 + i
        # Lanes exchange different elements of their own.
        for n in range(count):
            a, b = (n * 7 + i) % count, (n * 3 + 2 * i) % count
            own[a], own[b] = own[b], own[a]
        total = amdjit.i64(0)
        for n in range(count):
            total = total * 31 + own[n]
        out[0, i] = total
        out[1, i] = own[i % count]

    return scratch
