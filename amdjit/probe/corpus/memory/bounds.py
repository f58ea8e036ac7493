"""Accesses to buffers, inside and outside their bounds, and loads and stores with cache hints."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial
from typing import Any

import numpy as np

import amdjit
from amdjit import f32, i32
from amdjit.intrinsics import atomic, cache_hints, memory
from amdjit.probe.case import Case, Results
from amdjit.target import Target

__all__ = ["cases"]

_BLOCK, _ITEMS = 128, 512


def cases(target: Target) -> Iterator[Case]:
    """Return the cases of buffers and cache hints."""
    # `memory.buffer` describes buffers of gfx12.
    if target.isa[0] >= 12:
        for count in (1, 2, 4):
            name = f"buffer loads of {4 * count} bytes, some outside"
            yield Case(name, "buffers", partial(_run, partial(_loads, count)))
        yield Case("buffer stores and atomics, some outside", "buffers", partial(_run, _stores))
    yield Case("cache hints of loads and stores", "cache hints", partial(_run, _hinted))


def _run(kernel: Any) -> Results:
    values = np.arange(_ITEMS, dtype=np.float32)
    # Places before, in and after the buffer; the last ones cross its end.
    inside = np.arange(_ITEMS - 64, dtype=np.int32)
    outside = np.array([-1, -8, _ITEMS, _ITEMS + 1, 1 << 20, 1 << 28, _ITEMS - 1, _ITEMS - 3])
    places = np.concatenate([inside, np.resize(outside, 64)]).astype(np.int32)
    work, out = np.zeros((2, _ITEMS), np.int32), np.full((6, 4 * _ITEMS), -1, np.float32)
    kernel()[_ITEMS // _BLOCK, _BLOCK](values, places, work, out)
    return (out, work)


@cache
def _loads(count: int) -> Any:
    dtype = f32 if count == 1 else amdjit.vector(f32, count)

    @amdjit.kernel(block=_BLOCK, warnings=False)
    def loads(values, places, work, out):
        i = amdjit.grid(1)
        resource = memory.buffer(values)
        value = memory.buffer_load(resource, places[i], dtype)
        if count == 1:
            out[0, i] = value
        else:
            out.store((0, count * i), value)

    return loads


@cache
def _stores() -> Any:
    @amdjit.kernel(block=_BLOCK, warnings=False)
    def stores(values, places, work, out):
        i = amdjit.grid(1)
        resource = memory.buffer(work)
        place = places[i]
        if i >= _ITEMS - 64 or place < 0 or place >= _ITEMS:
            place = abs(place) + _ITEMS * 2  # after both rows
        memory.buffer_store(resource, place, i32(values[i]) * 2)
        old = atomic.add(resource, place + (_ITEMS if place < _ITEMS else 0), i + 1)
        out[0, i] = f32(old)

    return stores


@cache
def _hinted() -> Any:
    @amdjit.kernel(block=_BLOCK, warnings=False)
    def hinted(values, places, work, out):
        i = amdjit.grid(1)
        j = _ITEMS - 1 - i
        out[0, i] = cache_hints.ldca(values, j)
        out[1, i] = cache_hints.ldcg(values, j)
        out[2, i] = cache_hints.ldcs(values, j)
        out[3, i] = cache_hints.ldcv(values, j)
        out[4, i] = cache_hints.ldlu(values, j)
        cache_hints.stcg(out, (0, _ITEMS + i), values[i])
        cache_hints.stcs(out, (1, _ITEMS + i), values[i])
        cache_hints.stwb(out, (2, _ITEMS + i), values[i])
        cache_hints.stwt(out, (3, _ITEMS + i), values[i])
        memory.store_nontemporal(out, (4, _ITEMS + i), memory.load_nontemporal(values, j))

    return hinted
