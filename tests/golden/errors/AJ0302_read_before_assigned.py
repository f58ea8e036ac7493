# ruff: noqa: F821
"""What is refused: read before assigned."""

import amdjit
from amdjit import f32


@amdjit.kernel
def total(a: f32[:], out: f32[:]):
    for i in range(4):
        sum_ += a[i]
    out[0] = sum_


def run():
    total.compile()
