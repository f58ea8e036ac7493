"""What is refused: compile value."""

import amdjit


@amdjit.kernel
def fill(a, value):
    a[amdjit.grid(1)] = value


def run():
    fill.compile(amdjit.f32[:], 1.0)
