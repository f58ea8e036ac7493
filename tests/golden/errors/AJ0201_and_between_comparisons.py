"""What is refused: `&` between comparisons without parentheses."""

import amdjit
from amdjit import f32


@amdjit.kernel
def kernel(a: f32[:]):
    i = amdjit.grid(1)
    if a[i] > 1 & a[i] < 5:
        a[i] = 0


def run():
    kernel.compile()
