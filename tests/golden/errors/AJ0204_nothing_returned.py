"""What is refused: the result of a function without `return`."""

import amdjit
from amdjit import f32


def square(x):
    x * x


@amdjit.kernel
def squares(a: f32[:]):
    a[0] = square(a[0])


def run():
    squares.compile()
