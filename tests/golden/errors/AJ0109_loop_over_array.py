"""What is refused: loop over array."""

import amdjit
from amdjit import f32


@amdjit.kernel
def total(a: f32[:], out: f32[:]):
    s = 0.0
    for x in a:
        s += x
    out[0] = s


def run():
    total.compile()
