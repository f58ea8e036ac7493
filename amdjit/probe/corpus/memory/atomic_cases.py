"""Atomic operations of every type, in global memory and in LDS. Either each work-item updates its
own element, with special values, or all work-items update few elements, with operations whose
result does not depend on the order."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import amdjit
from amdjit import atomic, blockIdx, shared, syncthreads, threadIdx
from amdjit.probe.case import Case, Results
from amdjit.target import Target

__all__ = ["cases"]

INTEGERS = ("add", "sub", "min", "max", "and", "or", "xor", "inc", "dec", "exch", "cas")
FLOATS = ("add", "sub", "min", "max", "exch", "cas")
_TYPES: dict[str, Any] = {
    "i32": np.int32, "u32": np.uint32, "i64": np.int64, "u64": np.uint64, "f32": np.float32,
    "f64": np.float64,
}  # fmt: skip
# The number of work-items of a workgroup, of workgroups, and of elements for each operation.
_SPREADS = {
    "own elements": (128, 4, 512), "one wave": (32, 1, 3), "one workgroup": (256, 1, 5),
    "the device": (256, 48, 7),
}  # fmt: skip
_BLOCK = 256
_ROW = 16  # elements for each operation in LDS


def cases(target: Target) -> Iterator[Case]:
    """Return the cases of atomic operations."""
    for kind in _TYPES:
        for spread in _SPREADS:
            yield Case(
                f"atomics of {kind}, {spread}",
                f"atomics of {kind} in memory",
                partial(_run_global, kind, spread),
                partial(_inputs, kind, spread),
            )
        yield Case(
            f"atomics of {kind} in LDS",
            f"atomics of {kind} in LDS",
            partial(_run_shared, kind),
            partial(_inputs, kind, "LDS"),
        )


def _operations(kind: str) -> tuple[str, ...]:
    return FLOATS if kind.startswith("f") else INTEGERS


def _run_global(kind: str, spread: str) -> Results:
    block, grid, elements = _SPREADS[spread]
    names = _operations(kind)
    owns = spread == "own elements"
    values = _values(kind, block * grid, owns)
    cells = np.resize(_values(kind, elements, owns)[::-1], (len(names), elements)).copy()
    old = np.zeros((len(names), block * grid), cells.dtype)
    kernel = _integers() if not kind.startswith("f") else _floats()
    kernel[grid, block](values, cells, old, np.int32(elements), np.int32(owns))
    # The old values depend on the order of the others, the final ones do not.
    return (cells, old) if owns else (cells,)


def _values(kind: str, count: int, owns: bool) -> NDArray[Any]:
    """Return values whose sums are exact in every order, and also special values if each work-item
    has its own element."""
    random = np.random.default_rng(count)
    dtype: Any = np.dtype(_TYPES[kind])
    if dtype.kind == "f":
        values = random.integers(-50, 51, count).astype(dtype)
        if owns:
            tiny = np.finfo(dtype).tiny
            special = [0.0, -0.0, np.inf, -np.inf, np.nan, tiny, -tiny, tiny / 4, -tiny / 8,
                       np.finfo(dtype).max, 1.5, -1.0]  # fmt: skip
            values[::2] = np.resize(np.array(special, dtype), len(values[::2]))
            values[1::7] = np.resize(np.array(special[::-1], dtype), len(values[1::7]))
        return values
    limits = np.iinfo(dtype)
    values = random.integers(limits.min, limits.max, count, dtype, endpoint=True)
    if owns:
        special = [0, 1, limits.max, limits.min, limits.max - 1]
        values[::3] = np.resize(np.array(special, dtype), len(values[::3]))
    return values


@cache
def _integers() -> Any:
    @amdjit.kernel(block=_BLOCK, warnings=False)
    def integers(values, cells, old, elements, keeps):
        i = amdjit.grid(1)
        s, value = i % elements, values[i]
        first = atomic.add(cells, (0, s), value)
        second = atomic.sub(cells, (1, s), value)
        third = atomic.min(cells, (2, s), value)
        fourth = atomic.max(cells, (3, s), value)
        fifth = atomic.and_(cells, (4, s), value | 1)
        sixth = atomic.or_(cells, (5, s), value)
        seventh = atomic.xor(cells, (6, s), value)
        eighth = _counted_up(cells, s)
        ninth = _counted_down(cells, s)
        if keeps != 0:
            old[0, i], old[1, i], old[2, i], old[3, i] = first, second, third, fourth
            old[4, i], old[5, i], old[6, i] = fifth, sixth, seventh
            old[7, i], old[8, i] = eighth, ninth
            old[9, i] = atomic.exch(cells, (9, s), value)
            old[10, i] = atomic.cas(cells, (10, s), cells[10, s] if i % 2 == 0 else value, value)
        else:
            _added_by_swaps(cells, s, value)

    return integers


@amdjit.device_function
def _counted_up(cells, s):
    """Count up to 5 and begin again; types without such an operation add 1 instead."""
    return atomic.inc(cells, (7, s), 5) if _is_u32(cells) else atomic.add(cells, (7, s), 1)


@amdjit.device_function
def _counted_down(cells, s):
    return atomic.dec(cells, (8, s), 9) if _is_u32(cells) else atomic.sub(cells, (8, s), 1)


@amdjit.device_function
def _is_u32(cells):
    return cells.dtype == amdjit.u32


@amdjit.device_function
def _added_by_swaps(cells, s, value):
    """Add by compare-and-swap, repeated until no other work-item came in between."""
    before = atomic.load(cells, (10, s))
    done = False
    while not done:
        found = atomic.cas(cells, (10, s), before, before + value)
        done = found == before
        before = found


@cache
def _floats() -> Any:
    @amdjit.kernel(block=_BLOCK, warnings=False)
    def floats(values, cells, old, elements, keeps):
        i = amdjit.grid(1)
        s, value = i % elements, values[i]
        first = atomic.add(cells, (0, s), value)
        second = atomic.sub(cells, (1, s), value)
        third = atomic.min(cells, (2, s), value)
        fourth = atomic.max(cells, (3, s), value)
        if keeps != 0:
            old[0, i], old[1, i], old[2, i], old[3, i] = first, second, third, fourth
            old[4, i] = atomic.exch(cells, (4, s), value)
            old[5, i] = atomic.cas(cells, (5, s), cells[5, s] if i % 2 == 0 else value, value)
        else:
            atomic.add(cells, (5, s), value, order="acq_rel")

    return floats


def _run_shared(kind: str) -> Results:
    values = _values(kind, 2 * _BLOCK, False)
    names = _operations(kind)
    out = np.zeros((2, len(names), _ROW), values.dtype)
    kernel = _shared_integers(kind) if not kind.startswith("f") else _shared_floats(kind)
    kernel[2, _BLOCK](values, out)
    return (out,)


@cache
def _shared_integers(kind: str) -> Any:
    dtype, operations = getattr(amdjit, kind), len(INTEGERS)

    @amdjit.kernel(block=_BLOCK, warnings=False)
    def integers(values, out):
        cells = shared.array((operations, _ROW), dtype)
        t, value = threadIdx.x, values[amdjit.grid(1)]
        s = t % _ROW
        for row in range(t // _ROW, operations, _BLOCK // _ROW):
            cells[row, s] = dtype(row + s)
        syncthreads()
        atomic.add(cells, (0, s), value, scope="workgroup")
        atomic.sub(cells, (1, s), value, scope="workgroup")
        atomic.min(cells, (2, s), value, scope="workgroup")
        atomic.max(cells, (3, s), value, scope="workgroup")
        atomic.and_(cells, (4, s), value | 1, scope="workgroup")
        atomic.or_(cells, (5, s), value, scope="workgroup")
        atomic.xor(cells, (6, s), value, scope="workgroup")
        _counted_up(cells, s)
        _counted_down(cells, s)
        _added_by_swaps(cells, s, value)
        syncthreads()
        for row in range(t // _ROW, operations, _BLOCK // _ROW):
            out[blockIdx.x, row, s] = cells[row, s]

    return integers


@cache
def _shared_floats(kind: str) -> Any:
    dtype, operations = getattr(amdjit, kind), len(FLOATS)

    @amdjit.kernel(block=_BLOCK, warnings=False)
    def floats(values, out):
        cells = shared.array((operations, _ROW), dtype)
        t, value = threadIdx.x, values[amdjit.grid(1)]
        s = t % _ROW
        if t // _ROW < operations:
            cells[t // _ROW, s] = dtype(s)
        syncthreads()
        atomic.add(cells, (0, s), value, scope="workgroup")
        atomic.sub(cells, (1, s), value, scope="workgroup")
        atomic.min(cells, (2, s), value, scope="workgroup")
        atomic.max(cells, (3, s), value, scope="workgroup")
        syncthreads()
        if t // _ROW < operations:
            out[blockIdx.x, t // _ROW, s] = cells[t // _ROW, s]

    return floats


def _inputs(kind: str, spread: str, result: int, element: int) -> str:
    names = _operations(kind)
    if spread == "LDS":
        return f"{names[element // _ROW % len(names)]}, element {element % _ROW}"
    block, grid, elements = _SPREADS[spread]
    row = block * grid if result else elements
    operation = names[element // row]
    what = "returned to" if result else "left in element"
    place = element % row
    return f"{operation}, {what} {'work-item ' if result else ''}{place}"
