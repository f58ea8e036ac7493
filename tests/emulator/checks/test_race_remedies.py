"""What the race check advises where the code shows more than that there is a race."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import amdjit
from amdjit import f32, shared, syncthreads
from amdjit.emulator.checks.race.remedies import atomic_update
from tests.emulator.checks.seeded_kernels.race_bugs import (
    floats,
    ints,
    no_barrier_before_reading_lds,
    no_barrier_before_the_next_tile,
    plain_increment,
    reduction_without_barrier,
)
from tests.emulator.checks.seeded_kernels.seeded import reports_of

BETWEEN = "put `syncthreads()` between them"
AT_THE_END = "put `syncthreads()` at the end of the loop's body, too"
ATOMIC = "use `amdjit.atomic.add("


@amdjit.kernel
def barrier_only_at_the_end(x, out):
    box = shared.array(64, f32)
    i = amdjit.threadIdx.x
    total = f32(0)
    for tile in range(4):
        box[i] = x[tile * 64 + i]
        total += box[63 - i]
        syncthreads()
    out[i] = total


@amdjit.kernel
def counts_in_lds(x, out):
    bins = shared.array(64, amdjit.i32)
    i = amdjit.threadIdx.x
    bins[i] = 0
    syncthreads()
    bins[x[i]] += 1
    syncthreads()
    out[i] = bins[i]


@pytest.mark.parametrize(
    ("launch", "said"),
    [
        (lambda: no_barrier_before_reading_lds[1, 64](floats(64), floats(64)), BETWEEN),
        (lambda: no_barrier_before_the_next_tile[1, 64](floats(256), floats(64)), AT_THE_END),
        (lambda: barrier_only_at_the_end[1, 64](floats(256), floats(64)), BETWEEN),
        (lambda: reduction_without_barrier[1, 128](floats(128), floats(1)), BETWEEN),
        (lambda: plain_increment[2, 32](ints(1)), f"{ATOMIC}x, 0, 1)`"),
        (lambda: counts_in_lds[1, 64](ints(64), ints(64)), f"{ATOMIC}bins, x[i], 1)`"),
    ],
)
def test_the_remedy_fits_what_the_code_shows(launch: Callable[[], object], said: str) -> None:
    reports = reports_of(launch, "race")
    assert reports
    assert all(said in report.help for report in reports), [report.help for report in reports]


@pytest.mark.parametrize(
    ("line", "operation"),
    [
        ("    bins[x[i]] += 1  # counts", "amdjit.atomic.add(bins, x[i], 1)"),
        ("self.sums[row, 0] -= a - b", "amdjit.atomic.sub(self.sums, (row, 0), a - b)"),
        ("mask[k] |= 1 << i", "amdjit.atomic.or_(mask, k, 1 << i)"),
        ("bins[v] = bins[v] + 2 * w", "amdjit.atomic.add(bins, v, 2 * w)"),
        # Other elements of the array, an operation that is none, other precedence, two indices.
        ("box[i] += box[i + step]", None),
        ("box[box[i]] += 1", None),
        ("x[i] *= 2", None),
        ("x[i] = x[i + 1]", None),
        ("x[i] = x[i] + 1 if i else 0", None),
        ("x[i] = x[i] - a + b", None),
        ("x[i][j] += 1", None),
        ("for k in range(3):", None),
    ],
)
def test_an_update_of_an_element_is_told_from_other_lines(line: str, operation: str | None) -> None:
    assert atomic_update(line) == operation
