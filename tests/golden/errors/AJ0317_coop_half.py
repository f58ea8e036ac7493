"""What is refused: a number of waves without the wave's own."""

import amdjit
from amdjit import f16
from amdjit.intrinsics import matrix


@amdjit.kernel(block=(64, 1, 1))
def load(a: f16[:, :]):
    part = matrix.fragment(matrix.matrix_a, 32, 16, 16, f16, matrix.row_major)
    matrix.load_matrix_coop_sync(part, a, (0, 0), wave_count=2)


def run():
    load.compile(target="gfx1201")
