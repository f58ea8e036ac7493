"""What is refused: range as value."""

import amdjit
from amdjit import i32


@amdjit.kernel
def count(out: i32[:], n: i32):
    rounds = range(n)
    for i in rounds:
        out[i] = i


def run():
    count.compile()
