"""Races between the lanes of a wave are found on request, on every family; `wave_barrier()`, fences
and barriers order lanes."""

from __future__ import annotations

import numpy as np
import pytest

import amdjit
import amdjit.numba_cuda as cuda
from amdjit import f32, shared, syncthreads
from amdjit.intrinsics.sync import threadfence_block, wave_barrier
from amdjit.options import OptionError
from tests.emulator.checks.seeded_kernels import correct
from tests.emulator.checks.seeded_kernels.seeded import Case, reports_of, text_of

FAMILIES = ("gfx1201", "gfx1100", "gfx942", "gfx908")


@amdjit.kernel
def neighbour(x, out):
    box = shared.array(64, f32)
    i = amdjit.threadIdx.x
    box[i] = x[i]  # OTHER
    out[i] = box[i ^ 1]  # BUG race/wave


@amdjit.kernel
def overwrites(x, out):
    box = shared.array(64, f32)
    i = amdjit.threadIdx.x
    box[i] = x[i]
    syncthreads()
    value = box[i ^ 1]  # OTHER
    box[i] = value + 1  # BUG race/wave
    syncthreads()
    out[i] = box[i]


@amdjit.kernel
def two_stores(x, out):
    box = shared.array(64, f32)
    i = amdjit.threadIdx.x
    box[i] = x[i]  # OTHER
    box[i ^ 1] = 2 * x[i] + 1  # BUG race/wave
    syncthreads()
    out[i] = box[i]


@amdjit.kernel
def in_branches(x, out):
    box = shared.array(64, f32)
    i = amdjit.threadIdx.x
    if i % 2:
        box[i] = x[i]  # OTHER
    else:
        out[i] = box[i + 1]  # BUG race/wave


@amdjit.kernel
def in_global_memory(x, out):
    i = amdjit.threadIdx.x
    out[i] = x[i]  # OTHER
    x[i] = out[i ^ 1]  # BUG race/wave


@amdjit.kernel
def narrow(x, out):
    box = shared.array(64, amdjit.u8)
    i = amdjit.threadIdx.x
    box[i] = amdjit.u8(i)  # OTHER
    out[i] = f32(box[i ^ 1])  # BUG race/wave


@amdjit.kernel
def ordered(x, out):
    box = shared.array(64, f32)
    i = amdjit.threadIdx.x
    box[i] = x[i]
    wave_barrier()
    value = box[i ^ 1]
    threadfence_block()
    box[i] = value
    syncthreads()
    out[i] = box[i ^ 2] + box[i]
    x[i] = out[i]


@cuda.jit
def of_numba(x, out):
    box = cuda.shared.array(64, amdjit.f32)
    i = cuda.threadIdx.x
    box[i] = x[i]
    cuda.syncwarp()
    out[i] = box[i ^ 1]


BUGS = (neighbour, overwrites, two_stores, in_branches, in_global_memory, narrow)


def launch(kernel: amdjit.Kernel) -> None:
    kernel[1, 64](np.arange(64, dtype=np.float32), np.zeros(64, np.float32))


@pytest.mark.covering(1)
@pytest.mark.parametrize("kernel", BUGS, ids=lambda kernel: kernel.function.__name__)
@pytest.mark.parametrize("family", FAMILIES)
def test_lanes_that_nothing_orders_are_found_on_request(family: str, kernel: amdjit.Kernel) -> None:
    case = Case(kernel, launch)
    device = f"emulator:{family}"
    found = reports_of(lambda: launch(kernel), "race", "lanes", device=device)
    # The compiler moves some loads before the stores, as it may: then the second place comes first.
    (report,) = found
    assert report.other is not None, text_of(found)
    ((_, bug),) = case.marks()
    assert report.kind == "wave"
    assert {report.line, report.other.line} == {bug, *case.others()}, text_of(found)
    assert not reports_of(lambda: launch(kernel), "race", device=device)


@pytest.mark.parametrize("family", FAMILIES)
def test_lanes_that_something_orders_are_no_race(family: str) -> None:
    # Numba's masks name the lanes of waves of 32.
    for kernel in (ordered,) if family.startswith("gfx9") else (ordered, of_numba):
        found = reports_of(
            lambda kernel=kernel: launch(kernel), "lanes", device=f"emulator:{family}"
        )
        assert not found, text_of(found)


@pytest.mark.sample(9)
@pytest.mark.parametrize("case", correct.CASES, ids=lambda case: case.name)
def test_correct_kernels_have_no_races_of_lanes(case: Case) -> None:
    found = reports_of(lambda: case.launch(case.kernel), "lanes")
    assert not found, text_of(found)


def test_the_keyword_means_the_name() -> None:
    with amdjit.use("emulator:gfx1201"), amdjit.sanitize("race", lanes=True, raises=False) as found:
        launch(neighbour)
    assert [report.kind for report in found.reports] == ["wave"]
    assert amdjit.sanitize(lanes=True).own_checks == {"memory", "race", "init", "sync", "lanes"}
    assert amdjit.sanitize().own_checks == {"memory", "race", "init", "sync"}
    with pytest.raises(OptionError, match="sync, lanes"):
        amdjit.sanitize("lane")
