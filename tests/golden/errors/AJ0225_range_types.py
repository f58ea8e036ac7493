"""What is refused: range types."""

import amdjit
from amdjit import i32, u64


@amdjit.kernel
def count(out: i32[:], first: i32, last: u64):
    for i in range(first, last):
        out[i] = i


def run():
    count.compile()
