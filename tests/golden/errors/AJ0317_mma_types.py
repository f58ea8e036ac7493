"""What is refused: a product of types that no instruction has."""

import amdjit
from amdjit import f16, f32
from amdjit.intrinsics import matrix


@amdjit.kernel
def product(d: f32[:, :]):
    a = matrix.fragment(matrix.matrix_a, 16, 16, 16, f16, matrix.row_major)
    b = matrix.fragment(matrix.matrix_b, 16, 16, 16, amdjit.bf16, matrix.row_major)
    total = matrix.fragment(matrix.accumulator, 16, 16, 16, f32)
    matrix.mma_sync(total, a, b, total)


def run():
    product.compile(target="gfx1201")
