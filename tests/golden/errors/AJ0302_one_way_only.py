"""What is refused: one way only."""

import amdjit
from amdjit import f32


@amdjit.kernel
def clamp(a: f32[:]):
    i = amdjit.grid(1)
    if a[i] > 1.0:
        x = 1.0
    a[i] = x


def run():
    clamp.compile()
