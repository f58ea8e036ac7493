"""What is refused: waves named for a fragment that has a schedule."""

import amdjit
from amdjit import f16
from amdjit.intrinsics import matrix, wave


@amdjit.kernel(block=(64, 1, 1))
def load(a: f16[:, :]):
    part = matrix.fragment(matrix.matrix_a, 32, 16, 16, f16, matrix.row_major, matrix.coop_row_major_2d(64, 1))
    matrix.load_matrix_coop_sync(part, a, (0, 0), wave.wave_id(), 2)


def run():
    load.compile(target="gfx1201")
