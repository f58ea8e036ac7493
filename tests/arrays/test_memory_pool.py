"""Pools count and limit memory, and give it again without mixing up streams."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import standin

import amdjit


@amdjit.kernel(warnings=False)
def add(x, y, out):
    i = amdjit.grid(1)
    if i < out.shape[0]:
        out[i] = x[i] + y[i]


@pytest.fixture
def random_order(seed: int, on_standin: bool) -> Iterator[None]:
    """Let the stand-in do its work in a random legal order; 0 is the least favourable one."""
    if on_standin:
        standin.library().standin_set_order(seed)
    yield
    if on_standin:
        standin.library().standin_set_order(0)


def test_a_pool_counts_what_is_in_use() -> None:
    pool = amdjit.MemoryPool()
    outside = amdjit.zeros(100)
    with pool:
        first = amdjit.zeros(1000, np.uint8)
        second = amdjit.arange(500)
        assert (pool.used, pool.peak) == (5000, 5000)
        assert pool.reserved >= 5000
        del first
        assert (pool.used, pool.peak) == (4000, 5000)
        third = second.astype(np.int8)
        assert pool.used == 4500
        elsewhere = amdjit.zeros(100, device="emulator:gfx1200")
        assert pool.used == 4500
    assert outside.copy_to_host().sum() == elsewhere.copy_to_host().sum() == 0
    assert amdjit.zeros(100).size == 100
    assert pool.used == 4500
    second.free()
    assert pool.used == 500
    assert third.copy_to_host().tolist() == np.arange(500).astype(np.int8).tolist()
    del third
    pool.trim()
    assert (pool.used, pool.reserved, pool.peak) == (0, 0, 5000)
    assert repr(pool) == f"<MemoryPool on {pool.device.name}: 0 bytes in use, 0 reserved>"


def test_a_limit_is_kept() -> None:
    pool = amdjit.MemoryPool(limit=10_000)
    with pool:
        kept = amdjit.zeros(6000, np.uint8)
        with pytest.raises(
            amdjit.BackendError, match=r"6000 bytes asked for, 6000 of this pool's limit of 10000"
        ):
            amdjit.zeros(6000, np.uint8)
        del kept
        assert amdjit.zeros(10_000, np.uint8).size == 10_000
        cycle: list[Any] = [amdjit.zeros(6000, np.uint8)]
        cycle.append(cycle)
        del cycle
        assert amdjit.ones(6000, np.uint8).copy_to_host().all()  # collected garbage makes room
    with pytest.raises(amdjit.LaunchError, match="limit"):
        amdjit.MemoryPool(limit=-1)


def test_pools_nest_and_end() -> None:
    outer, inner = amdjit.MemoryPool(), amdjit.MemoryPool()
    with outer:
        with inner, inner:
            one = amdjit.empty(10, np.uint8)
        two = amdjit.empty(20, np.uint8)
    three = amdjit.empty(30, np.uint8)
    assert (outer.used, inner.used) == (20, 10)
    assert one.size + two.size + three.size == 60


@pytest.mark.parametrize("seed", range(4))
def test_memory_is_never_given_to_two_at_once(seed: int, random_order: None) -> None:
    """Random work in several streams, each of which keeps its own order."""
    random = np.random.default_rng(seed)
    streams = [amdjit.Stream() for _ in range(3)]
    pool = amdjit.MemoryPool()
    kept: list[tuple[amdjit.DeviceArray, np.ndarray[Any, Any]]] = []
    with pool:
        for _ in range(60):
            stream = streams[int(random.integers(0, 3))]
            n = int(random.choice([100, 300]))
            x, y = random.integers(0, 99, (2, n)).astype(np.int32)
            there = amdjit.to_device(x), amdjit.to_device(y)
            out = amdjit.zeros(n, np.int32)
            add[-(-n // 64), 64, stream](*there, out)  # its inputs are dropped at once
            del there
            kept.append((out, x + y))
            if random.integers(0, 2):
                array, expected = kept.pop(int(random.integers(0, len(kept))))
                np.testing.assert_array_equal(array.copy_to_host(), expected)
    for array, expected in kept:
        np.testing.assert_array_equal(array.copy_to_host(), expected)


@pytest.mark.parametrize("seed", range(4))
def test_numpy_arguments_share_temporaries_without_mixing_them_up(
    seed: int, random_order: None
) -> None:
    random = np.random.default_rng(seed)
    streams = [None, amdjit.Stream(), amdjit.Stream()]
    waiting = []
    for _ in range(40):
        stream = streams[int(random.integers(0, 3))]
        n = int(random.choice([100, 120, 300]))
        x, y = random.integers(0, 99, (2, n)).astype(np.int32)
        if random.integers(0, 3) == 0:
            out = np.zeros(n, np.int32)
            add[-(-n // 64), 64, stream](x, y, out)
            np.testing.assert_array_equal(out, x + y)
        else:  # such a launch is not waited for
            there = amdjit.empty(n, np.int32)
            add[-(-n // 64), 64, stream](x, y, there)
            waiting.append((there, x + y))
    for there, expected in waiting:
        np.testing.assert_array_equal(there.copy_to_host(), expected)


def test_launches_with_numpy_arguments_ask_for_no_new_memory(on_standin: bool) -> None:
    x, out = np.ones(1000, np.float32), np.zeros(1000, np.float32)
    add[4, 256](x, x, out)
    if not on_standin:
        assert amdjit.current_device().temporaries is None  # the emulator notices each use
        return
    standin.set_failures(hipMalloc=2, hipFree=1)
    try:
        for _ in range(5):
            add[4, 256](x, x, out)
    finally:
        standin.set_failures()
    assert out.tolist() == [2] * 1000


def test_memory_of_a_stream_that_is_gone_is_not_lost() -> None:
    gc.collect()
    temporaries: Any = amdjit.current_device().temporaries
    for _ in range(20):
        stream = amdjit.Stream()
        x, out = np.ones(5000, np.float32), np.zeros(5000, np.float32)
        add[20, 256, stream](x, x, out)
        assert out.sum() == 10_000
        del stream
    if temporaries is not None:
        gc.collect()
        temporaries.trim()
        assert temporaries.used == 0
        assert temporaries.reserved <= 3 * 20480
