"""What is refused: an index that is not packed into bytes."""

import amdjit
from amdjit import f16, u32
from amdjit.intrinsics import matrix


@amdjit.kernel
def load(index: u32[:, :]):
    a = matrix.fragment(matrix.sparse_a, 16, 16, 32, f16, matrix.row_major)
    matrix.load_index_sync(a, index, (0, 0))


def run():
    load.compile(target="gfx1201")
