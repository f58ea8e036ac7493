"""What is refused: a power of an integer with a negative constant."""

import amdjit
from amdjit import i32


@amdjit.kernel
def power(a: i32[:]):
    a[0] = a[0] ** -2


def run():
    power.compile()
