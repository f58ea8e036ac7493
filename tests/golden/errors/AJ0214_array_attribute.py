"""What is refused: array attribute."""

import amdjit
from amdjit import f32


@amdjit.kernel
def total(a: f32[:], out: f32[:]):
    out[0] = a.cumsum()


def run():
    total.compile()
