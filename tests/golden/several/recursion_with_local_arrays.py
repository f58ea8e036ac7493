"""What is refused: a recursion that returns local arrays and calls itself more than once."""

import amdjit
from amdjit import i32


def counts(n):
    own = amdjit.local.array(2, i32)
    own[0], own[1] = n, 1
    if n > 0:
        left = counts(n - 1)
        right = counts(n - 1)
        own[1] = left[1] + right[1]
    return own


@amdjit.kernel
def sums(n: i32, out: i32[:]):
    found = counts(n)
    out[0] = found[1]


def run():
    sums.compile()
