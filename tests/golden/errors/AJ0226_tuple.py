"""What is refused: assigning a tuple to a part of an array."""

import amdjit
from amdjit import f32


@amdjit.kernel
def start(a: f32[:]):
    a[:3] = (1.0, 2.0, 3.0)


def run():
    start.compile()
