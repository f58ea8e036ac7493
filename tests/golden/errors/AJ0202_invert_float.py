"""What is refused: invert float."""

import amdjit
from amdjit import f32


@amdjit.kernel
def flip(a: f32[:]):
    a[0] = ~a[0]


def run():
    flip.compile()
