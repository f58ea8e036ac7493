"""What is refused: a layout that is none."""

import amdjit
from amdjit import f32
from amdjit.intrinsics import matrix


@amdjit.kernel
def load(a: f32[:, :]):
    total = matrix.fragment(matrix.accumulator, 16, 16, 16, f32)
    matrix.load_matrix_sync(total, a, (0, 0), layout=2)


def run():
    load.compile(target="gfx1201")
