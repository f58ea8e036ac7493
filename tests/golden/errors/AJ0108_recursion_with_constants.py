"""What is refused: a recursion that a constant ends, beyond the limit."""

import amdjit
from amdjit import i32


def power(x, n: amdjit.Const):
    if n == 0:
        return 1
    return x * power(x, n - 1)


@amdjit.kernel(max_recursion=4)
def powers(x: i32, out: i32[:]):
    out[0] = power(x, 5)


def run():
    powers.compile()
