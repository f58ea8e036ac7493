"""What is refused: power."""

import amdjit
from amdjit import f32


@amdjit.kernel
def power(a: f32[:], y: f32):
    a[0] = a[0] ** y


def run():
    power.compile()
