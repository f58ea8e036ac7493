"""What is refused: helper arguments."""

import amdjit
from amdjit import f32


def mix(x, y, ratio=0.5):
    return x * ratio + y * (1 - ratio)


@amdjit.kernel
def blend(a: f32[:]):
    a[0] = mix(a[0], ration=0.25)


def run():
    blend.compile()
