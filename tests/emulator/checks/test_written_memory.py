"""Which memory counts as written when a launch is checked for undefined values."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit.emulator.checks.init.layout import PADDING
from amdjit.emulator.checks.init.written_memory import WrittenMemory
from amdjit.emulator.memory import DeviceMemory
from tests.emulator.checks.seeded_kernels.seeded import DEVICE, reports_of


@amdjit.kernel
def copy(x, out):
    i = amdjit.grid(1)
    out[i] = x[i]


@pytest.fixture(autouse=True)
def emulator() -> Any:
    with amdjit.use(DEVICE):
        yield


def found(x: amdjit.DeviceArray, out: amdjit.DeviceArray | None = None) -> int:
    target = amdjit.empty(64, x.dtype) if out is None else out
    return len(reports_of(lambda: copy[1, 64](x, target), "init"))


def test_what_the_host_writes_is_written() -> None:
    x = amdjit.empty(64, np.float32)
    assert found(x) == 1
    x.copy_from_host(np.ones(64, np.float32))
    assert found(x) == 0


@pytest.mark.parametrize("make", [amdjit.zeros, lambda n, kind: amdjit.full(n, 3, kind)])
def test_arrays_with_contents_are_written(make: Any) -> None:
    assert found(make(64, np.float32)) == 0


def test_what_a_checked_launch_writes_is_written_byte_by_byte() -> None:
    x, narrow = amdjit.empty(64, np.float32), amdjit.empty(64, np.uint8)
    copy_ones = np.ones(64, np.float32)
    assert found(amdjit.to_device(copy_ones), x) == 0
    assert found(x) == 0
    reports_of(lambda: copy[1, 63](np.ones(64, np.uint8), narrow), "init")
    assert found(narrow) == 1


def test_a_launch_without_the_check_may_have_written_anything() -> None:
    x = amdjit.empty(64, np.float32)
    copy[1, 64](np.ones(64, np.float32), amdjit.empty(64, np.float32))
    assert found(x) == 0


def test_memory_that_others_may_write_counts_as_written() -> None:
    x = amdjit.empty(64, np.float32)
    np.from_dlpack(x)
    assert found(x) == 0


def test_a_part_that_is_copied_is_written() -> None:
    x = amdjit.empty(64, np.float32)
    x[:32].copy_from_host(np.ones(32, np.float32))
    (report,) = reports_of(lambda: copy[1, 64](x, amdjit.empty(64, np.float32)), "init")
    assert (report.array, report.index, report.thread) == ("x", (32,), (32, 0, 0))
    assert "x[32] of shape (64,), which was never written" in report.message


def test_shadows_agree_with_bytes() -> None:
    for first, end in itertools.product(range(9), range(9)):
        check_shadow(first, end)


def check_shadow(first: int, end: int) -> None:
    device_memory = DeviceMemory()
    memory = device_memory.observer(WrittenMemory)
    start = device_memory.allocate(10)
    if first < end:
        device_memory.write(start + first, memoryview(bytes(end - first)))
    written = [first <= byte < end for byte in range(12)]
    shadow = memory.shadow(start)
    assert shadow is not None
    assert len(shadow) == 3 + PADDING
    assert [not shadow[byte // 4] >> byte % 4 & 1 for byte in range(12)] == written


def test_what_strided_fills_and_copies_write_is_written_and_nothing_else() -> None:
    x = amdjit.empty(64, np.float32)
    x[::2].fill(1)
    assert found(x) == 1
    x[1::2] = amdjit.ones(32)
    assert found(x) == 0


def test_memory_of_a_pool_is_new_each_time() -> None:
    with amdjit.MemoryPool():
        for _ in range(3):
            assert found(amdjit.empty(64, np.float32)) == 1
            assert found(amdjit.zeros(64, np.float32)) == 0


def test_host_memory_in_place_counts_as_written() -> None:
    for x in (amdjit.pinned_empty(64, mapped=True), amdjit.managed_empty(64)):
        assert found(x) == 0


@pytest.mark.parametrize("seed", range(10))
def test_rows_mark_the_bytes_that_they_cover(seed: int) -> None:
    random = np.random.default_rng(seed)
    memory = DeviceMemory()
    written = memory.observer(WrittenMemory)
    nbytes = int(random.integers(100, 200))
    source, start = memory.allocate(nbytes), memory.allocate(nbytes)
    expected = np.zeros(nbytes, bool)
    for _ in range(2):
        run, counts = int(random.integers(1, 6)), tuple(random.integers(1, 4, 2).tolist())
        strides = tuple((run + random.integers(0, 9, 2)).tolist())
        first = int(random.integers(0, 20))
        memory.copy_rows((start + first, strides), (source, (0, 0)), counts, run)
        for i, j in itertools.product(*map(range, counts)):
            at = first + i * strides[0] + j * strides[1]
            expected[at : at + run] = True
    shadow = written.shadow(start)
    assert shadow is not None
    bits = shadow[:-PADDING, None] >> np.arange(4, dtype=np.uint8) & 1
    assert (bits.reshape(-1)[:nbytes] == ~expected).all()
