"""What is refused: a fragment that ends within a byte."""

import amdjit
from amdjit.intrinsics import matrix


@amdjit.kernel
def product():
    a = matrix.fragment(matrix.matrix_a, 16, 16, 7, matrix.i4, matrix.row_major)
    matrix.fill_fragment(a, 1)


def run():
    product.compile(target="gfx1201")
