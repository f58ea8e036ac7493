"""What is refused: kernel returns."""

import amdjit
from amdjit import f32


@amdjit.kernel
def dot(a: f32[:], b: f32[:]):
    return a[0] * b[0]


def run():
    dot.compile()
