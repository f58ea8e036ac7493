"""What is refused: a sparse product of types that no instruction has."""

import amdjit
from amdjit import f32, i8
from amdjit.intrinsics import matrix


@amdjit.kernel
def product():
    a = matrix.fragment(matrix.sparse_a, 16, 16, 32, i8, matrix.row_major)
    b = matrix.fragment(matrix.matrix_b, 16, 16, 32, i8, matrix.row_major)
    total = matrix.fragment(matrix.accumulator, 16, 16, 32, f32)
    matrix.mma_sync(total, a, b, total)


def run():
    product.compile(target="gfx1201")
