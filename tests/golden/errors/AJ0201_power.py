"""What is refused: power."""

import amdjit
from amdjit import f64


@amdjit.kernel
def power(a: f64[:], y: f64):
    a[0] = a[0] ** y


def run():
    power.compile()
