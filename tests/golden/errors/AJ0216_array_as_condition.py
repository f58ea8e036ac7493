"""What is refused: array as condition."""

import amdjit
from amdjit import f32


@amdjit.kernel
def nonempty(a: f32[:]):
    if a:
        a[0] = 1.0


def run():
    nonempty.compile()
