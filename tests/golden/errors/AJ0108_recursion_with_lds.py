"""What is refused: a recursion whose calls have arrays in LDS."""

import amdjit
from amdjit import i32


def total(n):
    if n == 0:
        return n
    seen = amdjit.shared.array(32, i32)
    seen[amdjit.grid(1)] = n
    return total(n - 1) + seen[0]


@amdjit.kernel
def sums(n: i32, out: i32[:]):
    out[0] = total(n)


def run():
    sums.compile()
