"""What is refused: clipping at the edge of a matrix that the array does not tell."""

import amdjit
from amdjit import f32
from amdjit.intrinsics import matrix


@amdjit.kernel
def store(d: f32[:]):
    total = matrix.fragment(matrix.accumulator, 16, 16, 16, f32)
    matrix.fill_fragment(total, 1)
    matrix.store_matrix_sync(d, total, 0, 16, clip=True)


def run():
    store.compile(target="gfx1201")
