"""What is refused: a scheduler that is none."""

import amdjit
from amdjit import f16
from amdjit.intrinsics import matrix


@amdjit.kernel(block=64)
def load():
    matrix.fragment(matrix.matrix_a, 32, 16, 16, f16, matrix.row_major, 2)


def run():
    load.compile(target="gfx1201")
