"""What is refused: `//` of an integer by the constant 0."""

import amdjit
from amdjit import f32, i32


@amdjit.kernel
def kernel(a: i32[:], out: f32[:]):
    out[0] = a[0] // 0


def run():
    kernel.compile()
