"""A kernel in which all lanes of many workgroups update one element."""

from __future__ import annotations

import amdjit
from amdjit import atomic
from amdjit.intrinsics import memory


@amdjit.kernel
def contended(x, sums, place: amdjit.Const):
    i = amdjit.grid(1)
    if place == "buffer":
        atomic.add(memory.buffer(sums), i % 3, x[i])
        atomic.max(memory.buffer(sums), 3, x[i])
    else:
        atomic.add(sums, i % 3, x[i])
        atomic.max(sums, 3, x[i])
