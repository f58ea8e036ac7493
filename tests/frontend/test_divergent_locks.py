"""Locks that lanes of one wave take from each other are warned about, others are not; the remedy
runs."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import atomic, i32, shared
from amdjit.intrinsics import sync, wave

FREE, TAKEN = 0, 1


def take(lock, index):
    while atomic.cas(lock, index, FREE, TAKEN) != FREE:
        pass


def give_back(lock, index):
    sync.threadfence()
    atomic.exch(lock, index, FREE)


def locked_add(lock, total):
    take(lock, 0)
    total[0] += 1
    give_back(lock, 0)


def in_the_condition(lock, total):
    while atomic.cas(lock, 0, 0, 1) != 0:
        pass
    total[0] += 1
    atomic.exch(lock, 0, 0)


def by_exchange(lock, total):
    while atomic.exch(lock, 0, 1) == 1:
        sync.sleep(1)
    total[0] += 1
    lock[0] = 0


def left_by_break(lock, total):
    while True:
        old = atomic.cas(lock, 0, 0, 1)
        if old == 0:
            break
    total[0] += 1
    atomic.exch(lock, 0, 0)


def through_a_variable(lock, total):
    old = 1
    while old != 0:
        old = atomic.cas(lock, 0, 0, 1)
    total[0] += 1
    atomic.exch(lock, 0, 0)


def in_helpers(lock, total):
    if amdjit.grid(1) < total.size:
        take(lock, 0)
        total[0] += 1
        give_back(lock, 0)


def in_one_helper(lock, total):
    for _ in range(3):
        locked_add(lock, total)


def of_buckets(lock, total):
    bucket = amdjit.grid(1) % 4
    while atomic.cas(lock, bucket, 0, 1) != 0:
        pass
    total[bucket] += 1
    atomic.exch(lock, bucket, 0)


def of_a_part(lock, total):
    mine = lock[2:]
    while atomic.cas(mine, 0, 0, 1) != 0:
        pass
    total[0] += 1
    atomic.exch(mine, 0, 0)


def released_inside(lock, total):
    is_done = False
    while not is_done:
        if atomic.cas(lock, 0, 0, 1) == 0:
            total[0] += 1
            sync.threadfence()
            atomic.exch(lock, 0, 0)
            is_done = True


def released_before_break(lock, total):
    while True:
        if atomic.cas(lock, 0, 0, 1) == 0:
            total[0] += 1
            atomic.exch(lock, 0, 0)
            break


WRONG = [in_the_condition, by_exchange, left_by_break, through_a_variable]
WRONG += [in_helpers, in_one_helper, of_buckets, of_a_part]
WRONG += [released_inside, released_before_break]


def one_lane_after_the_other(lock, total):
    for turn in range(amdjit.wavefront_size):
        if amdjit.lane_id() == turn:
            while atomic.cas(lock, 0, 0, 1) != 0:
                pass
            total[0] += 1
            sync.threadfence()
            atomic.exch(lock, 0, 0)


def meeting_in_each_iteration(lock, total):
    is_done = False
    while not is_done:
        if atomic.cas(lock, 0, 0, 1) == 0:
            total[0] += 1
            sync.threadfence()
            atomic.exch(lock, 0, 0)
            is_done = True
        sync.wave_barrier()


def until_all_are_done(lock, total):
    is_going = True
    while wave.any(is_going):
        if is_going and atomic.cas(lock, 0, 0, 1) == 0:
            total[0] += 1
            sync.threadfence()
            atomic.exch(lock, 0, 0)
            is_going = False


def by_one_lane(lock, total):
    if amdjit.threadIdx.x == 0:
        take(lock, 0)
        total[0] += 1
        give_back(lock, 0)


def by_the_first_lanes_of_waves(lock, total):
    if amdjit.lane_id() != 0:
        return
    locked_add(lock, total)


def of_each_lane(lock, total):
    i = amdjit.grid(1)
    while atomic.cas(lock, i, 0, 1) != 0:
        pass
    total[i] += 1
    atomic.exch(lock, i + 0, 0)


def waiting_for_others(lock, total):
    atomic.add(lock, 0, 1)
    while atomic.load(lock, 0) < amdjit.gridDim.x:
        pass
    total[0] = 1
    atomic.exch(lock, 0, 0)


def claimed_once(lock, total):
    slot = amdjit.grid(1) % 8
    while atomic.cas(lock, slot, 0, 1) != 0:
        slot = (slot + 1) % 64
    total[slot] = slot


def largest_by_compare_and_swap(lock, total):
    old = atomic.load(total, 0)
    while old < lock[0]:
        seen = atomic.cas(total, 0, old, lock[0])
        if seen == old:
            break
        old = seen


RIGHT = [
    one_lane_after_the_other,
    meeting_in_each_iteration,
    until_all_are_done,
    by_one_lane,
    by_the_first_lanes_of_waves,
    of_each_lane,
]
RIGHT += [waiting_for_others, claimed_once, largest_by_compare_and_swap]


def warned(function: Any) -> list[str]:
    def run(lock, total):
        function(lock, total)

    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        amdjit.kernel(run).compile(i32[:], i32[:], target="gfx1201")
    return [str(warning.message) for warning in found if "[lock]" in str(warning.message)]


@pytest.mark.parametrize("function", WRONG, ids=lambda f: f.__name__)
def test_a_lock_that_lanes_of_a_wave_share_is_warned_about(function: Any) -> None:
    (text,) = warned(function)
    assert "while " in text or "take(lock, 0)" in text
    assert "one lane of the wave after the other" in text


@pytest.mark.parametrize("function", RIGHT, ids=lambda f: f.__name__)
def test_other_loops_are_not(function: Any) -> None:
    assert warned(function) == []


def test_a_lock_in_lds_is_warned_about() -> None:
    def in_lds(lock, total):
        mutex = shared.array(1, i32)
        while atomic.cas(mutex, 0, 0, 1) != 0:
            pass
        total[0] += 1
        atomic.exch(mutex, 0, 0)

    assert len(warned(in_lds)) == 1


REMEDIES = [one_lane_after_the_other, meeting_in_each_iteration, until_all_are_done]
REMEDIES += [by_the_first_lanes_of_waves]


@pytest.mark.parametrize("function", REMEDIES, ids=lambda f: f.__name__)
def test_the_remedies_run(function: Any) -> None:
    def run(lock, total):
        function(lock, total)

    lock, total = np.zeros(1, np.int32), np.zeros(1, np.int32)
    amdjit.kernel(run)[2, 64](lock, total)
    assert total[0] == (4 if function is by_the_first_lanes_of_waves else 128)
    assert lock[0] == 0
