"""What is refused: argument type."""

import amdjit


@amdjit.kernel
def fill(a, value):
    a[amdjit.grid(1)] = value


def run():
    fill[1, 32]([0.0] * 32, 1.0)
