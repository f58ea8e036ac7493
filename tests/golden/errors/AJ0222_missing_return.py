"""What is refused: missing return."""

import amdjit
from amdjit import f32


def sign(x):
    if x > 0.0:
        return 1.0
    elif x < 0.0:
        return -1.0


@amdjit.kernel
def signs(a: f32[:]):
    i = amdjit.grid(1)
    a[i] = sign(a[i])


def run():
    signs.compile()
