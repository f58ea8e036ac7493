"""What is refused: operands that cannot be broadcast to the output."""

import numpy as np

import amdjit
from amdjit import f32, local


@amdjit.kernel
def sums(x: f32[:]):
    a, b = local.array(3, f32), local.array((2, 4), f32)
    np.add(x, a, b)
    np.add(a, 1, x)
    np.negative(b, x)


def run():
    sums.compile()
