"""What is refused: static loop length."""

import amdjit
from amdjit import f32, static_range


@amdjit.kernel
def fill(a: f32[:]):
    for i in static_range(1_000_000):
        a[i] = 0.0


def run():
    fill.compile()
