"""What is refused: a launch of a kernel in a kernel."""

import amdjit
from amdjit import f32


@amdjit.kernel
def inner(a: f32[:]):
    a[0] = 1.0


@amdjit.kernel
def outer(a: f32[:]):
    inner[1, 64](a)


def run():
    outer.compile()
