"""What is refused: registers that are read as those of a larger fragment."""

import amdjit
from amdjit import f32
from amdjit.intrinsics import matrix


@amdjit.kernel
def change():
    total = matrix.fragment(matrix.accumulator, 16, 32, 16, f32)
    file = matrix.to_register_file(total)
    matrix.from_register_file(file, matrix.accumulator, 32, 32, 16, f32)


def run():
    change.compile(target="gfx1201")
