"""What is refused: two names for one index."""

import amdjit
from amdjit import f32


@amdjit.kernel
def clear(a: f32[:]):
    i, j = amdjit.grid(1)
    a[i + j] = 0.0


def run():
    clear.compile()
