"""What is refused: a constant of a type by another that is 0."""

import amdjit
from amdjit import f32, i32


@amdjit.kernel
def kernel(out: f32[:]):
    out[0] = i32(1) / i32(0)


def run():
    kernel.compile()
