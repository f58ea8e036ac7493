"""What is refused: a range whose end is a float."""

import amdjit
from amdjit import f32, i32


@amdjit.kernel
def clear_half(a: f32[:], n: i32):
    for i in range(n / 2):
        a[i] = 0.0


def run():
    clear_half.compile()
