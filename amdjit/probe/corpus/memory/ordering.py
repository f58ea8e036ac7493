"""Workgroups that read what other workgroups wrote: with release and acquire, with fences, and with
barriers of the whole grid."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial
from typing import Any

import numpy as np

import amdjit
from amdjit import atomic, blockIdx, gridDim, i32, shared, syncthreads, threadIdx
from amdjit.intrinsics import sync
from amdjit.probe.case import Case, Results
from amdjit.target import Target

__all__ = ["cases"]

_BLOCK, _GRID, _ROUNDS = 128, 16, 12


def cases(target: Target) -> Iterator[Case]:
    """Return the cases of order between workgroups."""
    kernels = {
        "the last workgroup adds up, acq_rel": _last, "the last one adds up, fences": _fenced,
        "messages from workgroup to workgroup": _messages,
        "messages with plain flags and fences": _fenced_messages,
        "neighbours, a barrier of the grid": _neighbours,
    }  # fmt: skip
    for name, kernel in kernels.items():
        yield Case(name, "order between workgroups", partial(_run, kernel))


def _run(kernel: Any) -> Results:
    values = np.random.default_rng(3).integers(-99, 99, _GRID * _BLOCK).astype(np.int32)
    work = np.zeros((2, _GRID * _BLOCK), np.int32)
    flags, out = np.zeros(_GRID + 1, np.int32), np.zeros(_GRID * _BLOCK, np.int32)
    kernel()[_GRID, _BLOCK](values, work, flags, out)
    return (out, flags)


@cache
def _last() -> Any:
    @amdjit.kernel(block=_BLOCK, warnings=False)
    def last(values, work, flags, out):
        arrived = shared.array(1, i32)
        t, i = threadIdx.x, amdjit.grid(1)
        work[0, i] = values[i] * 3
        sync.fence("release", "agent")
        syncthreads()
        if t == 0:
            arrived[0] = atomic.add(flags, 0, 1, order="acq_rel", scope="agent")
        syncthreads()
        if arrived[0] == gridDim.x - 1:
            sync.fence("acquire", "agent")
            total = i32(0)
            for n in range(_GRID):
                total = total * 5 + work[0, n * _BLOCK + t]
            out[t] = total

    return last


@cache
def _fenced() -> Any:
    @amdjit.kernel(block=_BLOCK, warnings=False)
    def fenced(values, work, flags, out):
        arrived = shared.array(1, i32)
        t, i = threadIdx.x, amdjit.grid(1)
        work[0, i] = values[i] * 7
        sync.threadfence()
        syncthreads()
        if t == 0:
            sync.threadfence()
            arrived[0] = atomic.add(flags, 0, 1)
            sync.threadfence()
        syncthreads()
        if arrived[0] == gridDim.x - 1:
            total = i32(0)
            for n in range(_GRID):
                total = total * 3 + work[0, (n * _BLOCK + 11 * t) % (_GRID * _BLOCK)]
            out[t] = total

    return fenced


@cache
def _messages() -> Any:
    @amdjit.kernel(block=_BLOCK, warnings=False)
    def messages(values, work, flags, out):
        t, b, i = threadIdx.x, blockIdx.x, amdjit.grid(1)
        sync.grid()  # all workgroups run at once from here on
        before = i32(0)
        if b > 0:
            if t == 0:
                while atomic.load(flags, b, order="acquire", scope="agent") == 0:
                    sync.sleep(1)
            syncthreads()
            before = work[0, i - _BLOCK]
        work[0, i] = before * 3 + values[i]
        syncthreads()
        if t == 0:
            atomic.store(flags, b + 1, 1, order="release", scope="agent")
        out[i] = work[0, i]

    return messages


@cache
def _fenced_messages() -> Any:
    @amdjit.kernel(block=_BLOCK, warnings=False)
    def fenced_messages(values, work, flags, out):
        t, b, i = threadIdx.x, blockIdx.x, amdjit.grid(1)
        sync.grid()
        before = i32(0)
        if b > 0:
            while atomic.load(flags, b) == 0:
                sync.sleep(1)
            sync.fence("acquire", "agent")
            before = work[0, (b - 1) * _BLOCK + (t * 3 + 1) % _BLOCK]
        work[0, i] = before * 5 + values[i]
        sync.fence("release", "agent")
        syncthreads()
        if t == 0:
            atomic.store(flags, b + 1, 1)
        out[i] = work[0, i]

    return fenced_messages


@cache
def _neighbours() -> Any:
    @amdjit.kernel(block=_BLOCK, warnings=False)
    def neighbours(values, work, flags, out):
        i = amdjit.grid(1)
        items = _GRID * _BLOCK
        work[0, i] = values[i]
        sync.grid()
        for n in range(_ROUNDS):
            old, new = n % 2, (n + 1) % 2
            left = work[old, (i + items - _BLOCK) % items]
            right = work[old, (i + 37) % items]
            work[new, i] = left * 3 - right + n
            sync.grid()
        out[i] = work[_ROUNDS % 2, i]

    return neighbours
