"""What is refused: constant division."""

import amdjit
from amdjit import f32

TILES = 0


@amdjit.kernel
def split(a: f32[:]):
    width = 1024 // TILES
    a[0] = width


def run():
    split.compile()
