"""A local array that is indexed at run time."""

import amdjit
from amdjit import f32, i32, local


@amdjit.kernel
def histogram(values: i32[:], out: f32[:, :]):
    i = amdjit.grid(1)
    counts = local.array(64, f32)
    counts[:] = 0
    for value in values:
        counts[value & 63] += 1
    out[:, i] = counts


def run():
    histogram.compile()
