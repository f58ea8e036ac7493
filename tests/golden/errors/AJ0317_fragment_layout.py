"""What is refused: a fragment of A without a layout."""

import amdjit
from amdjit import f16, f32
from amdjit.intrinsics import matrix


@amdjit.kernel
def product(d: f32[:, :]):
    a = matrix.fragment(matrix.matrix_a, 16, 16, 16, f16)
    matrix.fill_fragment(a, 1)


def run():
    product.compile(target="gfx1201")
