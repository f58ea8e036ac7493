"""`amdjit.profile` counts launches whose numbers are known in closed form."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import amdjit
from amdjit import f32

GROUPS, THREADS = 6, 64
WAVES = GROUPS * THREADS // 32


@pytest.fixture(autouse=True)
def emulator() -> Iterator[None]:
    with amdjit.use("emulator:gfx1201"):
        yield


@amdjit.kernel
def half_of_the_lanes(x, out):
    i = amdjit.grid(1)
    if i % 2 == 0:
        out[i] = x[i] * f32(3)


def test_half_of_the_lanes_are_active_in_a_branch_that_even_lanes_take() -> None:
    out = np.zeros(GROUPS * THREADS, np.float32)
    with amdjit.profile() as p:
        half_of_the_lanes[GROUPS, THREADS](np.ones_like(out), out)
    (launch,) = p.launches
    stores = [i for i in launch.instructions if i.text.startswith("global_store")]
    assert [(i.executions, i.active_lanes) for i in stores] == [(WAVES, WAVES * 16)]
    ends = [i for i in launch.instructions if i.text.startswith("s_endpgm")]
    assert sum(i.executions for i in ends) == WAVES == launch.waves
    assert (launch.grid, launch.block) == ((GROUPS, 1, 1), (THREADS, 1, 1))
    assert np.array_equal(out, np.tile([3, 0], len(out) // 2))
