"""What is refused: a recursion of a function that is defined in the kernel."""

import amdjit
from amdjit import i32


@amdjit.kernel
def sums(n: i32, out: i32[:]):
    def total(k):
        return k if k == 0 else total(k - 1) + k

    out[0] = total(n)


def run():
    sums.compile()
