"""What is refused: recursion."""

import amdjit
from amdjit import i32


def even(n):
    return True if n == 0 else odd(n - 1)


def odd(n):
    return False if n == 0 else even(n - 1)


@amdjit.kernel
def parity(n: i32, out: i32[:]):
    out[0] = 1 if even(n) else 0


def run():
    parity.compile()
