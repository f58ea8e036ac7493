"""What is refused: a step of a slice that is known at run time only."""

import amdjit
from amdjit import f32, i32


@amdjit.kernel
def strided(a: f32[:], n: i32):
    part = a[::n]
    part[0] = 0.0


def run():
    strided.compile()
