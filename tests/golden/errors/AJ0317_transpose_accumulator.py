"""What is refused: a transpose of an accumulator, which would move elements."""

import amdjit
from amdjit import f32
from amdjit.intrinsics import matrix


@amdjit.kernel
def turn():
    total = matrix.fragment(matrix.accumulator, 16, 16, 16, f32)
    matrix.apply_transpose(total)


def run():
    turn.compile(target="gfx1201")
