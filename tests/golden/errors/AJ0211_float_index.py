"""What is refused: float index."""

import amdjit
from amdjit import f32


@amdjit.kernel
def half(a: f32[:], n: f32):
    a[n / 2] = 0.0


def run():
    half.compile()
