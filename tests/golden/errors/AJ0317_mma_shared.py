"""What is refused: a product of fragments that waves share."""

import amdjit
from amdjit import f16, f32
from amdjit.intrinsics import matrix


@amdjit.kernel(block=(64, 2, 1))
def product():
    a = matrix.fragment(matrix.matrix_a, 64, 16, 16, f16, matrix.row_major, matrix.coop_row_major_2d(64, 2))
    b = matrix.fragment(matrix.matrix_b, 64, 16, 16, f16, matrix.row_major)
    total = matrix.fragment(matrix.accumulator, 64, 16, 16, f32)
    matrix.mma_sync(total, a, b, total)


def run():
    product.compile(target="gfx1201")
