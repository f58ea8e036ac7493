"""What is refused: assigning a part of an array at once."""

import amdjit
from amdjit import f32


@amdjit.kernel
def clear(a: f32[:, :]):
    a[amdjit.grid(1), 1:] = 0.0


def run():
    clear.compile()
