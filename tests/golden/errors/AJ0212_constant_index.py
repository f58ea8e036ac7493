"""What is refused: constant index."""

import amdjit
from amdjit import f32, shared


@amdjit.kernel
def tile(out: f32[:]):
    cells = shared.array((4, 8), f32)
    out[0] = cells[3, 8]


def run():
    tile.compile()
