"""What is refused: a name that another namespace has."""

import amdjit
from amdjit import f32


@amdjit.kernel
def clear(a: f32[:]):
    amdjit.store(a, 0, 0.0)


def run():
    clear.compile()
