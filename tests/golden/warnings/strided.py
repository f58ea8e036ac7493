"""Neighbouring lanes in different rows."""

import amdjit
from amdjit import f32


@amdjit.kernel
def row_sums(m: f32[:, :], out: f32[:]):
    row = amdjit.grid(1)
    total = f32(0)
    for column in range(m.shape[1]):
        total += m[row, column]
    out[row] = total


def run():
    row_sums.compile()
