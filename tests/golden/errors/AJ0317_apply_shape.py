"""What is refused: a fragment seen as one of other rows and columns."""

import amdjit
from amdjit import f16
from amdjit.intrinsics import matrix


@amdjit.kernel
def change():
    part = matrix.fragment(matrix.matrix_a, 32, 16, 16, f16, matrix.row_major)
    matrix.apply_fragment(part, matrix.matrix_b, 16, 32, 16, f16, matrix.row_major)


def run():
    change.compile(target="gfx1201")
