"""What is refused: annotated result."""

import amdjit
from amdjit import f32, i32


def scaled(x: i32) -> i32:
    return x * 0.5


@amdjit.kernel
def scale(a: f32[:]):
    a[0] = scaled(i32(a[0]))


def run():
    scale.compile()
