"""What is refused: one offset into an array of two axes."""

import amdjit
from amdjit import f32
from amdjit.intrinsics import matrix


@amdjit.kernel
def product(d: f32[:, :]):
    total = matrix.fragment(matrix.accumulator, 16, 16, 16, f32)
    matrix.load_matrix_sync(total, d, 16)


def run():
    product.compile(target="gfx1201")
