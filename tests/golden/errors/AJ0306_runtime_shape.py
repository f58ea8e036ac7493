"""What is refused: runtime shape."""

import amdjit
from amdjit import f32, i32, shared


@amdjit.kernel
def tile(a: f32[:], n: i32):
    cells = shared.array((n, 16), f32)
    a[0] = cells[0, 0]


def run():
    tile.compile()
