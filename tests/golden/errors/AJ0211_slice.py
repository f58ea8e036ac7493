"""What is refused: slice."""

import amdjit
from amdjit import f32


@amdjit.kernel
def window(a: f32[:], out: f32[:]):
    out[0] = a[1:3.5]


def run():
    window.compile()
