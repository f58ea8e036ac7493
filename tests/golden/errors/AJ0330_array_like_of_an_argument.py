"""What is refused: constant memory for what is known only at run time."""

import amdjit
from amdjit import f32


@amdjit.kernel
def weigh(a: f32[:], weights: f32[:]):
    constant = amdjit.const.array_like(weights)
    a[0] *= constant[0]


def run():
    weigh.compile()
