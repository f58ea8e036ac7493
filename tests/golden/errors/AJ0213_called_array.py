"""What is refused: an array called in place of an index."""

import amdjit
from amdjit import f32


@amdjit.kernel
def kernel(a: f32[:]):
    a[0] = a(1)


def run():
    kernel.compile()
