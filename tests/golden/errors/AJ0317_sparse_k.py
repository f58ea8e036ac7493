"""What is refused: a sparse A that is less than an instruction takes."""

import amdjit
from amdjit import f16
from amdjit.intrinsics import matrix


@amdjit.kernel
def product():
    a = matrix.fragment(matrix.sparse_a, 16, 16, 48, f16, matrix.row_major)
    matrix.fill_fragment(a, 1)


def run():
    product.compile(target="gfx1201")
