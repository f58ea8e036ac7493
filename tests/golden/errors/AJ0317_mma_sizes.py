"""What is refused: fragments of products of different sizes, in a helper."""

import amdjit
from amdjit import f16, f32
from amdjit.intrinsics import matrix


def multiply(total, a, b):
    matrix.mma_sync(total, a, b, total)


@amdjit.kernel
def product(d: f32[:, :]):
    a = matrix.fragment(matrix.matrix_a, 16, 16, 32, f16, matrix.row_major)
    b = matrix.fragment(matrix.matrix_b, 16, 16, 16, f16, matrix.row_major)
    multiply(matrix.fragment(matrix.accumulator, 16, 16, 16, f32), a, b)


def run():
    product.compile(target="gfx1201")
