"""What is refused: assigning an array of another shape."""

import amdjit
from amdjit import f32, local


@amdjit.kernel
def widen(a: f32[:]):
    tile = local.array((2, 3), f32)
    row = local.array(2, f32)
    row[:] = a[:2]
    tile[1] = row


def run():
    widen.compile()
