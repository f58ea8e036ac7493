"""What is refused: arguments that no signature of a device function takes."""

import amdjit
from amdjit import f32


@amdjit.jit(["i32(i32)", "i64(i64)"], device=True)
def twice(x):
    return x * 2


@amdjit.kernel
def fill(a: f32[:]):
    a[0] = twice(a[1])


def run():
    fill.compile()
