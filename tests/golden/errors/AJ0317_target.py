"""What is refused: fragments on a processor of another kind."""

import amdjit
from amdjit import f16, f32
from amdjit.intrinsics import matrix


@amdjit.kernel
def product(d: f32[:, :]):
    a = matrix.fragment(matrix.matrix_a, 16, 16, 16, f16, matrix.row_major)
    matrix.fill_fragment(a, 1)


def run():
    product.compile(target="gfx1030")
