"""What is refused: list."""

import amdjit
from amdjit import f32


@amdjit.kernel
def squares(out: f32[:]):
    größte = [i * i for i in range(10)]
    out[0] = größte[3]


def run():
    squares.compile()
