"""What is refused: to divide among the lanes what all groups of 16 lanes hold."""

import amdjit
from amdjit import f16
from amdjit.intrinsics import matrix


@amdjit.kernel(block=32)
def copy(a: f16[:, :], d: f16[:, :]):
    held = matrix.fragment(matrix.matrix_b, 16, 16, 16, f16, matrix.row_major)
    matrix.load_matrix_sync(held, a)
    total = matrix.apply_fragment(held, matrix.accumulator, 16, 16, 16, f16)
    matrix.store_matrix_sync(d, total)


def run():
    copy.compile(target="gfx1100")
