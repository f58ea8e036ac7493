"""What is refused: an edge that is neither an array's nor a pair."""

import amdjit
from amdjit import f16
from amdjit.intrinsics import matrix


@amdjit.kernel
def load(a: f16[:, :]):
    part = matrix.fragment(matrix.matrix_a, 16, 16, 16, f16, matrix.row_major)
    matrix.load_matrix_sync(part, a, (0, 0), clip=a.shape[0])


def run():
    load.compile(target="gfx1201")
