"""What is refused: private array."""

import amdjit
from amdjit import f32, local


@amdjit.kernel
def tabulate(out: f32[:]):
    table = local.array((1024, 1024), f32)
    out[0] = table[0, 0]


def run():
    tabulate.compile()
