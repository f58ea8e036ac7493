# fmt: off
"""What is refused: whole arrays."""

import amdjit
from amdjit import f32


@amdjit.kernel
def add(a: f32[:], b: f32[:], out: f32[:]):
    c = (
        a
        + b
    )
    out[0] = c[0]


def run():
    add.compile()
