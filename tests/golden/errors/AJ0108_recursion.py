"""What is refused: a recursion that never ends."""

import amdjit
from amdjit import i32


def even(n):
    return odd(n - 1)


def odd(n):
    return even(n - 1)


@amdjit.kernel
def parity(n: i32, out: i32[:]):
    out[0] = even(n)


def run():
    parity.compile()
