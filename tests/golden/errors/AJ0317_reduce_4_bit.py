"""What is refused: elements that share an item of `x`, one by one."""

import amdjit
from amdjit.intrinsics import matrix


@amdjit.kernel
def total():
    part = matrix.fragment(matrix.matrix_a, 16, 16, 32, matrix.i4, matrix.row_major)
    matrix.reduce(part, 1)


def run():
    total.compile(target="gfx1201")
