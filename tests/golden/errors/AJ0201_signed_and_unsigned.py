"""What is refused: signed and unsigned."""

import amdjit
from amdjit import i32, u32


@amdjit.kernel
def add(a: i32[:], b: u32[:], out: i32[:]):
    i = amdjit.grid(1)
    out[i] = a[i] + b[i]


def run():
    add.compile()
