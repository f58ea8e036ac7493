"""What is refused: a value that the array's elements do not hold."""

import amdjit
from amdjit import atomic, i32, i64


@amdjit.kernel
def total(x: i64[:], out: i32[:]):
    atomic.add(out, 0, x[amdjit.grid(1)])


def run():
    total.compile()
