"""What is refused: products of fp8 on gfx11."""

import amdjit
from amdjit import f32, fp8
from amdjit.intrinsics import matrix


@amdjit.kernel(block=32)
def product(d: f32[:, :]):
    a = matrix.fragment(matrix.matrix_a, 16, 16, 16, fp8, matrix.row_major)
    b = matrix.fragment(matrix.matrix_b, 16, 16, 16, fp8, matrix.row_major)
    total = matrix.fragment(matrix.accumulator, 16, 16, 16, f32)
    matrix.mma_sync(total, a, b, total)
    matrix.store_matrix_sync(d, total)


def run():
    product.compile(target="gfx1100")
