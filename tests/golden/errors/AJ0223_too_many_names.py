"""What is refused: too many names."""

import amdjit
from amdjit import f32


def minmax(x, y):
    return min(x, y), max(x, y)


@amdjit.kernel
def order(a: f32[:]):
    low, middle, high = minmax(a[0], a[1])
    a[2] = low + middle + high


def run():
    order.compile()
