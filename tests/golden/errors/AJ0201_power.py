"""What is refused: power."""

import amdjit
from amdjit import i32


@amdjit.kernel
def power(a: i32[:], y: i32):
    a[0] = a[0] ** y


def run():
    power.compile()
