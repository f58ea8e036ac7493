"""What is refused: loop over a number."""

import amdjit
from amdjit import f32, i32


@amdjit.kernel
def total(n: i32, out: f32[:]):
    s = 0.0
    for x in n:
        s += x
    out[0] = s


def run():
    total.compile()
