"""What is refused: a call of a value."""

import amdjit
from amdjit import f32


@amdjit.kernel
def kernel(a: f32[:]):
    i = amdjit.threadIdx.x()
    a[i] = 0


def run():
    kernel.compile()
