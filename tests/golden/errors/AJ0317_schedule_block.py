"""What is refused: a schedule for another workgroup."""

import amdjit
from amdjit import f16
from amdjit.intrinsics import matrix


@amdjit.kernel(block=(128, 1, 1))
def load():
    matrix.fragment(matrix.matrix_a, 64, 16, 16, f16, matrix.row_major, matrix.coop_row_slice_2d(64, 2))


def run():
    load.compile(target="gfx1201")
