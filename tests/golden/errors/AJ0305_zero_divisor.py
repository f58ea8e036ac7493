"""What is refused: a Python constant divided by 0."""

import amdjit
from amdjit import f32


@amdjit.kernel
def kernel(out: f32[:]):
    out[0] = 10 // 0


def run():
    kernel.compile()
