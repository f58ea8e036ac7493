"""Kernels that are only right if they wait for everything in flight: loads, stores, scalar loads,
LDS, atomic operations, and barriers."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial
from typing import Any

import numpy as np

import amdjit
from amdjit import atomic, f32, i32, shared, static_range, syncthreads, threadIdx
from amdjit.intrinsics import sync, wave
from amdjit.probe.case import Case, Results
from amdjit.target import Feature, Target

__all__ = ["cases"]

_BLOCK, _GRID = 256, 16
_ITEMS = _BLOCK * _GRID
_ROUNDS = 24


def cases(target: Target) -> Iterator[Case]:
    """Return the cases of waits and barriers."""
    kernels = {
        "many loads, used in the other order": _loads, "a chain of dependent loads": _chase,
        "loads of what the lane has stored": _stored, "scalar loads and vector loads": _scalars,
        "LDS of a wave without barriers": _own_share, "results of atomic operations": _returned,
        "a barrier in each round": _rotated, "votes of a workgroup": _votes,
        "loads, LDS and atomics mixed": _mixed, "lanes exchange what is loaded": _exchanged,
    }  # fmt: skip
    for name, kernel in kernels.items():
        yield Case(name, "waits and barriers", partial(_run, kernel))
    if Feature.SPLIT_BARRIER in target.features:
        yield Case("a barrier in two parts", "waits and barriers", partial(_run, _divided))


def _run(kernel: Any) -> Results:
    random = np.random.default_rng(15)
    values = random.integers(-1000, 1000, _ITEMS).astype(np.int32)
    places = random.permutation(_ITEMS).astype(np.int32)
    work, out = np.zeros(2 * _ITEMS, np.int32), np.zeros((4, _ITEMS), np.int32)
    kernel()[_GRID, _BLOCK](values, places, work, out)
    return (out, work)


@cache
def _loads() -> Any:
    @amdjit.kernel(block=_BLOCK, warnings=False)
    def loads(values, places, work, out):
        i = amdjit.grid(1)
        held = amdjit.vector(i32, 16)()
        for n in static_range(16):
            held[n] = values[(i * 17 + 97 * n) % _ITEMS]
        total = i32(0)
        for n in static_range(16):
            total = total * 3 + held[15 - n]
        out[0, i] = total

    return loads


@cache
def _chase() -> Any:
    @amdjit.kernel(block=_BLOCK, warnings=False)
    def chase(values, places, work, out):
        i = amdjit.grid(1)
        place, total = i32(i), i32(0)
        for _ in range(_ROUNDS):
            place = places[place]
            total = total * 5 + values[place]
        out[0, i] = place
        out[1, i] = total

    return chase


@cache
def _stored() -> Any:
    @amdjit.kernel(block=_BLOCK, warnings=False)
    def stored(values, places, work, out):
        i = amdjit.grid(1)
        total = i32(0)
        for n in range(_ROUNDS):
            work[i] = values[(i + n) % _ITEMS] + total
            work[_ITEMS + i] = work[i] * 2
            total += work[_ITEMS + i] - n
        out[0, i] = total

    return stored


@cache
def _scalars() -> Any:
    @amdjit.kernel(block=_BLOCK, warnings=False)
    def scalars(values, places, work, out):
        i = amdjit.grid(1)
        total = i32(0)
        place = places[amdjit.blockIdx.x]
        for n in range(_ROUNDS):
            # The address is the same in all lanes, so this is a scalar load.
            total = total * 3 + values[place] + values[(place + i) % _ITEMS]
            place = places[(place + n) % _ITEMS]
        out[0, i] = total

    return scalars


@cache
def _own_share() -> Any:
    @amdjit.kernel(block=_BLOCK, warnings=False)
    def own_share(values, places, work, out):
        tile = shared.array(4 * _BLOCK, i32)
        t, i = threadIdx.x, amdjit.grid(1)
        total = i32(0)
        for n in range(_ROUNDS):
            for k in static_range(4):
                tile[4 * t + k] = values[(i + n + k) % _ITEMS] + total
            row = tile.load(4 * t, 4)
            total = row[0] * 3 + row[1] - row[2] * 2 + row[3]
        out[0, i] = total

    return own_share


@cache
def _returned() -> Any:
    @amdjit.kernel(block=_BLOCK, warnings=False)
    def returned(values, places, work, out):
        i = amdjit.grid(1)
        total = i32(0)
        for n in range(_ROUNDS):
            old = atomic.add(work, i, values[(i + n) % _ITEMS])
            other = atomic.exch(work, _ITEMS + i, old + n)
            total = total * 3 + old - other
        out[0, i] = total

    return returned


@cache
def _rotated() -> Any:
    @amdjit.kernel(block=_BLOCK, warnings=False)
    def rotated(values, places, work, out):
        tile = shared.array(_BLOCK, i32)
        t, i = threadIdx.x, amdjit.grid(1)
        own = values[i]
        for n in range(_ROUNDS):
            tile[t] = own
            syncthreads()
            own = tile[(t * 5 + n) % _BLOCK] + tile[_BLOCK - 1 - t]
            syncthreads()
        out[0, i] = own

    return rotated


@cache
def _votes() -> Any:
    @amdjit.kernel(block=_BLOCK, warnings=False)
    def votes(values, places, work, out):
        i = amdjit.grid(1)
        total = i32(0)
        for n in range(8):
            value = values[(i + n) % _ITEMS]
            total = total * 3 + sync.syncthreads_count(value > 100 * n)
            total = total * 2 + i32(sync.syncthreads_or(value > 990))
            total = total * 2 + i32(sync.syncthreads_and(value > -998))
        out[0, i] = total

    return votes


@cache
def _mixed() -> Any:
    @amdjit.kernel(block=_BLOCK, warnings=False)
    def mixed(values, places, work, out):
        tile = shared.array(_BLOCK, f32)
        t, i = threadIdx.x, amdjit.grid(1)
        total = f32(0)
        for n in range(_ROUNDS):
            loaded = values[places[(i + 31 * n) % _ITEMS]]
            old = atomic.max(work, i, loaded)
            tile[t] = f32(loaded)
            syncthreads()
            total += tile[t ^ (n + 1)] + f32(old)
            syncthreads()
            work[_ITEMS + i] = i32(total)
        out[0, i] = i32(total)
        out[1, i] = work[_ITEMS + i]

    return mixed


@cache
def _exchanged() -> Any:
    @amdjit.kernel(block=_BLOCK, warnings=False)
    def exchanged(values, places, work, out):
        i = amdjit.grid(1)
        total = i32(0)
        for n in range(_ROUNDS):
            value = values[places[(i + n) % _ITEMS]]
            lane = (amdjit.lane_id() * 5 + n) % 32
            total = total * 3 + wave.shuffle(value, lane, 32) + wave.shuffle_xor(value, 9)
        out[0, i] = total
        out[1, i] = wave.reduce(total, "xor")

    return exchanged


@cache
def _divided() -> Any:
    @amdjit.kernel(block=_BLOCK, warnings=False)
    def divided(values, places, work, out):
        tile = shared.array(2 * _BLOCK, i32)
        t, i = threadIdx.x, amdjit.grid(1)
        own = values[i]
        for n in range(_ROUNDS):
            first = n % 2 * _BLOCK
            tile[first + t] = own
            sync.barrier_signal()
            ahead = values[(i + n) % _ITEMS]  # some work between the two parts
            sync.barrier_wait()
            own = tile[first + (t + 77) % _BLOCK] + ahead
        out[0, i] = own

    return divided
