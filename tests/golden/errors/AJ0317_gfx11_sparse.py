"""What is refused: a sparse A on gfx11."""

import amdjit
from amdjit import f16, f32
from amdjit.intrinsics import matrix


@amdjit.kernel
def product(d: f32[:, :]):
    a = matrix.fragment(matrix.sparse_a, 16, 16, 32, f16, matrix.row_major)
    matrix.fill_fragment(a, 1)


def run():
    product.compile(target="gfx1100")
