"""What is refused: a schedule whose sizes are not known when compiling."""

import amdjit
from amdjit import f16, i32
from amdjit.intrinsics import matrix


@amdjit.kernel(block=64)
def load(n: i32):
    matrix.fragment(matrix.matrix_a, 32, 16, 16, f16, matrix.row_major, matrix.coop_col_slice_2d(n, 1))


def run():
    load.compile(target="gfx1201")
