"""What is refused: lanes that exchange 4-bit elements."""

import amdjit
from amdjit.intrinsics import matrix


@amdjit.kernel
def change():
    part = matrix.fragment(matrix.matrix_a, 32, 16, 32, matrix.i4, matrix.row_major)
    matrix.apply_fragment(part, matrix.matrix_b, 16, 32, 32, matrix.i4, matrix.col_major)


def run():
    change.compile(target="gfx1201")
