"""What is refused: 4-bit elements that lie across k, an odd number of them."""

import amdjit
from amdjit import u8
from amdjit.intrinsics import matrix


@amdjit.kernel
def product(a: u8[:, :]):
    left = matrix.fragment(matrix.matrix_a, 5, 16, 32, matrix.i4, matrix.col_major)
    matrix.load_matrix_sync(left, a, (0, 0))


def run():
    product.compile(target="gfx1201")
