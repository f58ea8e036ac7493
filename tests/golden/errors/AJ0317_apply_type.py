"""What is refused: a fragment seen as one of another type."""

import amdjit
from amdjit import f16, f32
from amdjit.intrinsics import matrix


@amdjit.kernel
def change():
    total = matrix.fragment(matrix.accumulator, 16, 16, 16, f32)
    matrix.apply_fragment(total, matrix.matrix_b, 16, 16, 16, f16, matrix.row_major)


def run():
    change.compile(target="gfx1201")
