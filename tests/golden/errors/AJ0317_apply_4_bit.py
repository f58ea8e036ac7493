"""What is refused: lanes that exchange 4-bit elements of which half a wave holds copies."""

import amdjit
from amdjit.intrinsics import matrix


@amdjit.kernel(wave_size=64)
def change():
    part = matrix.fragment(matrix.matrix_a, 32, 16, 16, matrix.i4, matrix.row_major)
    matrix.apply_fragment(part, matrix.matrix_b, 16, 16, 32, matrix.i4, matrix.col_major)


def run():
    change.compile(target="gfx1201")
