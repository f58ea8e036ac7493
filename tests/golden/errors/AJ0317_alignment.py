"""What is refused: an alignment that is no power of two."""

import amdjit
from amdjit import f32, shared


@amdjit.kernel
def tile(out: f32[:]):
    values = shared.array(8, f32, alignment=48)
    out[0] = values[0]


def run():
    tile.compile()
