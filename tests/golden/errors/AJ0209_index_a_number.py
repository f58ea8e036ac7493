"""What is refused: index a number."""

import amdjit
from amdjit import f32


@amdjit.kernel
def swapped(a: f32[:], n: f32):
    a[0] = n[0]


def run():
    swapped.compile()
