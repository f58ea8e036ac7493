"""What is refused: a fragment that is stored to an array of another type."""

import amdjit
from amdjit import f16, f32
from amdjit.intrinsics import matrix


@amdjit.kernel
def product(d: f16[:, :]):
    total = matrix.fragment(matrix.accumulator, 16, 16, 16, f32)
    matrix.fill_fragment(total, 0)
    matrix.store_matrix_sync(d, total, (0, 0))


def run():
    product.compile(target="gfx1201")
