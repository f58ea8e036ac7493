"""What is refused: in a helper."""

import amdjit
from amdjit import f32


def mask(x, bits):
    return x & bits


def keep_low(x):
    return mask(x, 255)


@amdjit.kernel
def masked(a: f32[:]):
    i = amdjit.grid(1)
    a[i] = keep_low(a[i]) + 1


def run():
    masked.compile()
