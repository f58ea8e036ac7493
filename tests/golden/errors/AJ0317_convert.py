"""What is refused: a fragment of 4-bit elements made of another one."""

import amdjit
from amdjit import i8
from amdjit.intrinsics import matrix


@amdjit.kernel
def convert():
    part = matrix.fragment(matrix.matrix_a, 16, 16, 32, i8, matrix.row_major)
    matrix.convert(part, matrix.i4)


def run():
    convert.compile(target="gfx1201")
