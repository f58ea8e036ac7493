"""What is refused: a number of waves that is none."""

import amdjit
from amdjit import f16
from amdjit.intrinsics import matrix, wave


@amdjit.kernel
def load(a: f16[:, :]):
    part = matrix.fragment(matrix.matrix_a, 64, 64, 16, f16, matrix.row_major)
    matrix.load_matrix_coop_sync(part, a, (0, 0), wave.wave_id(), 0)


def run():
    load.compile(target="gfx1201")
