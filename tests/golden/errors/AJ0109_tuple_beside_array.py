"""What is refused: items known when compiling beside those of an array."""

import amdjit
from amdjit import f32


@amdjit.kernel
def weighted(a: f32[:], out: f32[:]):
    for x, weight in zip(a, (1.0, 2.0)):  # noqa: B905
        out[0] += weight * x


def run():
    weighted.compile()
