"""What a launch and a code object say costs most: each kernel has one reason, which comes first."""

from __future__ import annotations

from collections.abc import Callable
from inspect import getsourcelines
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import f32, i32, local, threadIdx
from tests.profiling import profiled_kernels as kernels

GROUPS, THREADS = 64, 64
COUNT = GROUPS * THREADS


@amdjit.kernel
def rows(x, out):
    row = amdjit.grid(1)
    total = f32(0)
    for column in range(x.shape[1]):
        total += x[row, column]
    out[row] = total


@amdjit.kernel
def few_lanes(x, out):
    i = amdjit.grid(1)
    value = x[i]
    if threadIdx.x % 32 == 0:
        for _ in range(200):
            value = value * value + f32(1)
    out[i] = value


@amdjit.kernel
def table(indices, out):
    i = amdjit.grid(1)
    places = local.array(64, i32)
    for k in range(64):
        places[k] = k * i
    total = i32(0)
    for k in range(indices.shape[0]):
        total += places[indices[k]]
    out[i] = total


@amdjit.kernel(block=256)
def many(x, out):
    i = amdjit.grid(1)
    values = tuple(x[i + k * 4096] for k in range(300))
    total = f32(0)
    for _ in range(20):
        for k in amdjit.static_range(300):
            total = total * values[k] + f32(1)
    out[i] = total


def launched(run: Callable[[], Any]) -> amdjit.LaunchProfile:
    """Return the profile of the only launch."""
    with amdjit.profile() as p:
        run()
    (launch,) = p.launches
    return launch


def line_of(kernel: amdjit.Kernel, text: str) -> int:
    """Return the number of the only line of a kernel's source with a text."""
    lines, first = getsourcelines(kernel.function)
    [number] = [n for n, line in enumerate(lines, first) if text in line]
    return number


def spread() -> amdjit.LaunchProfile:
    x = np.ones((COUNT, 40), np.float32)
    return launched(lambda: rows[GROUPS, THREADS](x, np.zeros(COUNT, np.float32)))


def idle_lanes() -> amdjit.LaunchProfile:
    x = np.ones(COUNT, np.float32)
    return launched(lambda: few_lanes[GROUPS, THREADS](x, np.zeros(COUNT, np.float32)))


def scratch() -> amdjit.LaunchProfile:
    indices = (np.arange(40, dtype=np.int32) * 7) % 64
    return launched(lambda: table[GROUPS, THREADS](indices, np.zeros(COUNT, np.int32)))


@pytest.mark.parametrize(
    ("launch", "kind", "kernel", "text", "figure"),
    [
        (spread, "spread accesses", rows, "x[row, column]", "32 cache lines a request"),
        (scratch, "scratch memory", table, "places[indices[k]]", "accesses to scratch memory"),
        (idle_lanes, "inactive lanes", few_lanes, "value * value", "1 of 32 lanes active"),
    ],
)
def test_the_first_cause_is_what_the_kernel_is_slow_by(
    launch: Callable[[], amdjit.LaunchProfile],
    kind: str,
    kernel: amdjit.Kernel,
    text: str,
    figure: str,
) -> None:
    first = launch().causes[0]
    assert (first.kind, first.basis, first.line) == (kind, "model", line_of(kernel, text))
    assert figure in first.sentence
    assert first.share is not None
    assert 0.1 < first.share < 1


def test_causes_are_ordered_by_their_share_and_none_is_small() -> None:
    for launch in (spread(), idle_lanes()):
        shares = [cause.share or 0 for cause in launch.causes]
        assert shares == sorted(shares, reverse=True)
        assert min(shares) >= 0.05
        assert sum(shares) <= 1


def test_a_launch_of_two_workgroups_is_too_small_to_tell() -> None:
    x, out = np.ones((COUNT, 40), np.float32), np.zeros(COUNT, np.float32)
    launch = launched(lambda: rows[2, THREADS](x, out))
    first, second = launch.causes[:2]
    assert (first.kind, second.kind) == ("small launch", "spread accesses")
    assert "2 workgroups on 32 workgroup processors" in first.sentence
    assert launch.roofline is not None
    assert launch.roofline.bound == "size"
    assert "bound by" not in str(launch)
    assert "too small to tell" in str(launch)


def test_conflicts_and_their_barrier_are_named_by_their_lines() -> None:
    a = np.zeros((32, 32), np.int32)
    launch = launched(lambda: kernels.turn[1, (32, 8)](a, a.copy(), 32))
    by_kind = {cause.kind: cause for cause in launch.causes}
    conflicts, barrier = by_kind["bank conflicts"], by_kind["barrier"]
    assert conflicts.line == line_of(kernels.turn, "tile[x, y + part * 8]")
    assert "97 % of the 1,024 LDS cycles" in conflicts.sentence
    assert barrier.line == line_of(kernels.turn, "syncthreads()")
    padded = launched(lambda: kernels.turn[1, (32, 8)](a, a.copy(), 33))
    assert "bank conflicts" not in {cause.kind for cause in padded.causes}


def test_without_an_estimate_the_code_alone_is_asked() -> None:
    a = np.zeros((32, 32), np.int32)
    with amdjit.profile(workgroups=0) as p:
        kernels.turn[40, (32, 8)](a, a.copy(), 32)
    [cause] = p.launches[0].causes
    assert (cause.kind, cause.basis, cause.share) == ("bank conflicts", "code", None)
    assert cause == p.launches[0].inspection.causes[0]
    assert "add 62 cycles to each load of LDS" in str(cause)


def test_the_code_alone_shows_spills_before_few_waves() -> None:
    compiled = many.compile(f32[:], f32[:], target="gfx1201")
    first, *others = compiled.inspect().causes
    assert first.kind == "spills"
    assert f"spills {compiled.resources.vgpr_spills} VGPRs" in first.sentence
    assert [cause.kind for cause in others] == ["few waves"]
    assert rows.compile(f32[:, ::1], f32[:], target="gfx1201").inspect().causes == ()
