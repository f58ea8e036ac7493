"""What is refused: return types."""

import amdjit
from amdjit import f32, f32x4


def pick(x, wide):
    if x > 0.0:
        return wide
    return (x, x)


@amdjit.kernel
def picked(a: f32[:]):
    a[0] = pick(a[0], f32x4(a[1]))[0]


def run():
    picked.compile()
