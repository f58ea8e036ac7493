"""What is refused: an index for an A that is not sparse."""

import amdjit
from amdjit import f16, u8
from amdjit.intrinsics import matrix


@amdjit.kernel
def load(index: u8[:, :]):
    a = matrix.fragment(matrix.matrix_a, 16, 16, 32, f16, matrix.row_major)
    matrix.load_index_sync(a, index, (0, 0))


def run():
    load.compile(target="gfx1201")
