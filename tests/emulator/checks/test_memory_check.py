"""The memory check finds each seeded bug at its line, and says what it is."""

from __future__ import annotations

import inspect
import weakref

import numpy as np
import pytest

import amdjit
from tests.emulator.checks.seeded_kernels.memory_bugs import CASES, after_free, freed
from tests.emulator.checks.seeded_kernels.seeded import (
    DEVICE,
    Case,
    found_lines,
    reports_of,
    text_of,
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_seeded_bugs_are_found_at_their_lines(case: Case) -> None:
    reports = reports_of(lambda: case.launch(case.kernel), "memory")
    assert found_lines(reports) == case.marks(), text_of(reports)


def test_a_report_of_freed_memory_says_where_it_was_made_and_freed() -> None:
    (report,) = reports_of(lambda: after_free[1, 64](freed()), "memory")
    freed_at = inspect.currentframe().f_lineno - 1  # type: ignore[union-attr]
    assert report.other is not None
    assert report.other.what == "freed"
    assert (report.other.file, report.other.line) == (__file__, freed_at)
    assert any("made at" in note and "memory_bugs.py" in note for note in report.notes)
    assert report.count == 64


def test_freed_memory_is_out_of_bounds_where_nothing_checks() -> None:
    with amdjit.use(DEVICE), pytest.raises(amdjit.KernelFault) as caught:
        after_free[1, 64](freed())
    assert caught.value.kind == "out-of-bounds"
    assert not isinstance(caught.value, amdjit.SanitizerError)


def test_memory_that_is_not_freed_is_told_at_the_end_of_the_block() -> None:
    with amdjit.use(DEVICE) as device:
        with amdjit.sanitize("memory", raises=False) as found:
            kept = device.allocate(400)
            given_back = device.allocate(500)
            array = amdjit.zeros(10)
            device.free(given_back)
            made_at = inspect.currentframe().f_lineno - 4  # type: ignore[union-attr]
            assert not found.reports
        device.free(kept)
        del array
    (report,) = found.reports
    assert (report.check, report.kind, report.severity, report.nbytes) == (
        "memory",
        "leak",
        "warning",
        400,
    )
    assert (report.file, report.line) == (__file__, made_at)
    assert "400 bytes of device memory are not freed" in report.render()


def test_what_one_line_allocates_is_one_report() -> None:
    with amdjit.use(DEVICE) as device:
        with amdjit.sanitize("memory", raises=False) as found:
            kept = [device.allocate(100 + number) for number in range(4)]
            other = device.allocate(50)
            device.free(kept.pop())
        for address in (*kept, other):
            device.free(address)
    assert [(each.nbytes, each.count) for each in found.reports] == [(303, 3), (50, 1)]
    assert "303 bytes of device memory in 3 allocations are not freed" in found.reports[0].render()


def test_freed_memory_that_leaks_would_name_is_given_back() -> None:
    """It is kept for a while by the quarantine, and by nothing else."""
    with amdjit.use(DEVICE) as device, amdjit.sanitize("memory"):
        address = device.allocate(100 << 20)
        memory = weakref.ref(device._memory.holding(address).storage)
        device.free(address)
        assert memory() is None


class Owner:
    itself: Owner


def test_memory_that_an_object_in_a_cycle_frees_is_no_leak() -> None:
    with amdjit.use(DEVICE) as device, amdjit.sanitize("memory", raises=False) as found:
        owner = Owner()
        owner.itself = owner
        weakref.finalize(owner, device.free, device.allocate(400))
        del owner
    assert not found.reports


def test_a_second_free_says_where_the_first_was() -> None:
    with amdjit.use(DEVICE) as device, amdjit.sanitize("memory"):
        address = device.allocate(100)
        device.free(address)
        with pytest.raises(
            amdjit.BackendError, match=r"it was freed before, at .*test_memory_check.py:\d+"
        ):
            device.free(address)


@amdjit.kernel
def four_at_a_time(x, out):
    i = amdjit.threadIdx.x
    out.store(i, x.load(i, 4))


def test_wide_accesses_that_begin_inside_reach_beyond() -> None:
    """The end of what a kernel writes is no read-only memory."""
    reports = reports_of(
        lambda: four_at_a_time[1, 32](np.zeros(40, np.float32), np.zeros(32, np.float32)), "memory"
    )
    assert [(r.kind, r.message, r.count) for r in reports] == [
        ("out-of-bounds", "store of 16 bytes at out[29], reaching beyond out of shape (32,)", 3)
    ]
    reports = reports_of(
        lambda: four_at_a_time[1, 32](np.zeros(34, np.float32), np.zeros(40, np.float32)), "memory"
    )
    assert [r.message for r in reports] == [
        "load of 16 bytes at x[31], reaching beyond x of shape (34,)"
    ]
