"""What is refused: an accumulator that waves share without being named."""

import amdjit
from amdjit import f32
from amdjit.intrinsics import matrix


@amdjit.kernel(block=(64, 1, 1))
def load(a: f32[:, :]):
    part = matrix.fragment(matrix.accumulator, 32, 16, 16, f32)
    matrix.load_matrix_coop_sync(part, a, (0, 0))


def run():
    load.compile(target="gfx1201")
