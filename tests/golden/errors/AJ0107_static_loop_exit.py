"""What is refused: static loop exit."""

import amdjit
from amdjit import f32, static_range


@amdjit.kernel
def first_negative(a: f32[:], out: f32[:]):
    for i in static_range(8):
        if a[i] < 0.0:
            break
        out[i] = a[i]


def run():
    first_negative.compile()
