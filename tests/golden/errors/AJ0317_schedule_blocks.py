"""What is refused: a schedule of more waves than the fragment has blocks."""

import amdjit
from amdjit import f16
from amdjit.intrinsics import matrix


@amdjit.kernel(block=(64, 2, 1))
def load():
    matrix.fragment(matrix.matrix_a, 32, 16, 16, f16, matrix.row_major, matrix.coop_row_major_2d(64, 2))


def run():
    load.compile(target="gfx1201")
