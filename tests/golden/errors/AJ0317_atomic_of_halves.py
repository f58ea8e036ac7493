"""What is refused: an atomic update of one half."""

import amdjit
from amdjit import atomic, f16


@amdjit.kernel
def total(x: f16[:], out: f16[:]):
    atomic.add(out, 0, x[amdjit.grid(1)])


def run():
    total.compile()
