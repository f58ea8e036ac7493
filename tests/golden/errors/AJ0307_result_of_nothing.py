"""What is refused: computing with what a function without `return` gives."""

import amdjit
from amdjit import f32


def increase(x, i):
    x[i] += 1


@amdjit.kernel
def twice(x: f32[:]):
    i = amdjit.grid(1)
    x[i] = increase(x, i) + 1


def run():
    twice.compile()
