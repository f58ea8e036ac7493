"""Atomics of buffers: their orders, accesses outside of the buffer, and refusals."""

from __future__ import annotations

import inspect
import re
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import atomic, threadIdx
from amdjit.intrinsics import memory, sync
from tests.intrinsics.atomic_contention import contended


@amdjit.kernel
def ordered(x, out, order: amdjit.Const, scope: amdjit.Const):
    lane = threadIdx.x
    out[lane] = atomic.add(memory.buffer(x), lane, out[lane], order, scope)


@pytest.mark.parametrize("scope", ["workgroup", "agent", "system"])
def test_orders_of_buffers_wait_and_invalidate_as_those_of_arrays(scope: str) -> None:
    name = {"workgroup": "SCOPE_SE", "agent": "SCOPE_DEV", "system": "SCOPE_SYS"}[scope]
    text = {
        order: ordered.compile(amdjit.u32[:], amdjit.u32[:], order, scope).asm_full
        for order in ("relaxed", "acq_rel")
    }
    for assembly in text.values():
        assert re.search(rf"buffer_atomic_add_u32 .* th:TH_ATOMIC_RETURN scope:{name}", assembly)
    assert "global_inv" not in text["relaxed"]
    behind = text["acq_rel"].split("buffer_atomic_add_u32")[1]
    assert f"global_inv scope:{name}" in behind


@amdjit.kernel
def handed_over(x, flag, out):
    ready, data = memory.buffer(flag), memory.buffer(x)
    if amdjit.blockIdx.x == 0:
        memory.buffer_store(data, threadIdx.x, amdjit.u32(7) + amdjit.u32(threadIdx.x))
        sync.syncthreads()
        if threadIdx.x == 0:
            atomic.store(ready, 0, amdjit.u32(1), "release")
    else:
        while atomic.load(ready, 0, "acquire", dtype=amdjit.u32) == 0:
            sync.sleep(1)
        out[threadIdx.x] = memory.buffer_load(data, threadIdx.x, amdjit.u32)


def test_loads_and_stores_of_buffers_hand_data_over() -> None:
    x, flag, out = np.zeros(64, "u4"), np.zeros(1, "u4"), np.zeros(64, "u4")
    with amdjit.sanitize("race"):
        handed_over[2, 64](x, flag, out)
    np.testing.assert_array_equal(out, 7 + np.arange(64))


def test_outside_of_a_buffer_nothing_happens() -> None:
    x, sums = np.ones(96, "u4"), np.zeros(2, "u4")
    contended[1, 96](x, sums, "buffer")
    np.testing.assert_array_equal(sums, [32, 32])


@amdjit.kernel
def wrong_number(out):
    atomic.add(memory.buffer(out), 0, 1)


@amdjit.kernel
def wrong_type(out):
    atomic.add(memory.buffer(out), 0, amdjit.f64(1))


@amdjit.kernel
def wrong_index(out):
    atomic.add(memory.buffer(out), (0, 1), amdjit.u32(1))


@amdjit.kernel
def wrong_index_of_records(out):
    atomic.add(memory.records(out, 4), 1, amdjit.u32(1))


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (wrong_number, "write u32"),
        (wrong_type, "f64"),
        (wrong_index, "raw buffer has one index"),
        (wrong_index_of_records, "two indices"),
    ],
)
def test_what_buffers_lack_is_refused_at_the_line(kernel: Any, message: str) -> None:
    with pytest.raises(amdjit.CompileError, match=message) as error:
        kernel.compile(amdjit.u32[:])
    line = inspect.getsource(kernel.function).splitlines()[-1].strip()
    assert line in str(error.value)
