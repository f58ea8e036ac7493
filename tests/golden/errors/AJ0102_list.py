"""What is refused: list."""

import amdjit
from amdjit import f32


@amdjit.kernel
def squares(out: f32[:]):
    größte = [1.0, 2.0, 3.0, 4.0]
    out[0] = größte[3]


def run():
    squares.compile()
