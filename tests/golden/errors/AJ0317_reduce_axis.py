"""What is refused: a reduction along an axis that there is not."""

import amdjit
from amdjit import f32
from amdjit.intrinsics import matrix


@amdjit.kernel
def total():
    part = matrix.fragment(matrix.accumulator, 16, 16, 16, f32)
    matrix.reduce(part, 2)


def run():
    total.compile(target="gfx1201")
