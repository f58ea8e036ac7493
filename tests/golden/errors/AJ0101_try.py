"""What is refused: try."""

import amdjit
from amdjit import f32


@amdjit.kernel
def guarded(out: f32[:]):
    i = amdjit.grid(1)
    try:
        out[i] = 1.0 / out[i]
    except ZeroDivisionError:
        out[i] = 0.0


def run():
    guarded.compile()
