"""Atomics that LLVM writes as loops of compare-and-swap are no races with themselves; what looks
alike still is one."""

from __future__ import annotations

import numpy as np
import pytest

import amdjit
from amdjit import atomic, f64, shared, syncthreads
from tests.emulator.checks.seeded_kernels.seeded import Case, found_lines, reports_of, text_of

CHECKS = ("memory", "race", "init", "sync")


@amdjit.kernel
def add_in_one_place(x, y):
    atomic.add(x, 0, y[amdjit.grid(1)])


@amdjit.kernel
def add_in_places(x, y):
    i = amdjit.grid(1)
    atomic.add(x, i & 3, y[i])


@amdjit.kernel
def sub_in_places(x, y):
    i = amdjit.grid(1)
    atomic.sub(x, i & 3, y[i])


@amdjit.kernel
def max_in_one_place(x, y):
    atomic.max(x, 1, y[amdjit.grid(1)])


@amdjit.kernel
def min_in_places(x, y):
    i = amdjit.grid(1)
    atomic.min(x, (i + 1) & 3, y[i])


@amdjit.kernel
def add_in_lds(x, y):
    box = shared.array(4, f64)
    i = amdjit.threadIdx.x
    if i < 4:
        box[i] = 0.0
    syncthreads()
    atomic.add(box, i & 3, y[i])
    atomic.max(box, i & 1, y[i])
    syncthreads()
    if i < 4:
        atomic.add(x, i, box[i])


@amdjit.kernel(wave_size=64)
def add_in_waves_of_64(x, y):
    i = amdjit.grid(1)
    atomic.add(x, i & 1, y[i])


ADDERS = (
    *(add_in_one_place, add_in_places, sub_in_places, max_in_one_place, min_in_places),
    *(add_in_lds, add_in_waves_of_64),
)


@pytest.mark.sample(3)
@pytest.mark.parametrize("kernel", ADDERS, ids=lambda kernel: kernel.__name__)
def test_atomics_of_doubles_are_no_races(kernel: amdjit.Kernel) -> None:
    reports = reports_of(lambda: kernel[4, 64](np.zeros(4), np.arange(256.0)), *CHECKS)
    assert not reports, text_of(reports)


@amdjit.kernel
def guess_read_elsewhere(x, y):
    i = amdjit.grid(1)
    atomic.cas(x, i & 3, y[0], i)  # BUG race/global
    atomic.add(y, 0, 1)  # BUG race/global


@amdjit.kernel
def plain_load_of_a_sum(x, y):
    i = amdjit.grid(1)
    atomic.add(x, 0, 1.0)  # BUG race/global
    y[i] = x[0]  # OTHER


RACES = (
    Case(guess_read_elsewhere, lambda k: k[4, 64](np.zeros(4, np.int32), np.zeros(1, np.int32))),
    Case(plain_load_of_a_sum, lambda k: k[4, 64](np.zeros(4), np.zeros(256))),
)


@pytest.mark.parametrize("case", RACES, ids=lambda case: case.name)
def test_loads_that_no_swap_checks_are_races(case: Case) -> None:
    reports = reports_of(lambda: case.launch(case.kernel), "race")
    assert found_lines(reports) == case.marks(), text_of(reports)
