"""What is refused: not callable."""

import amdjit
from amdjit import f32


@amdjit.kernel
def called(a: f32[:], n: f32):
    a[0] = n(3)


def run():
    called.compile()
