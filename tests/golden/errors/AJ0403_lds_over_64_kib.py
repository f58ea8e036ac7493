"""What is refused: lds over 64 kib."""

import amdjit
from amdjit import f32, shared


def tile():
    return shared.array((128, 128), f32)


@amdjit.kernel
def transpose(out: f32[:]):
    flags = shared.array(32, f32)
    cells = tile()
    out[0] = cells[0, 0] + flags[0]


def run():
    transpose.compile()
