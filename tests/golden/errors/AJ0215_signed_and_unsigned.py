"""What is refused: a value that is a u64 on one path and signed on another."""

import amdjit
from amdjit import i32, u64


@amdjit.kernel
def mix(a: u64[:], b: i32[:], out: u64[:]):
    i = amdjit.grid(1)
    state = b[i]
    for k in range(4):
        state ^= a[k]
    out[i] = state


def run():
    mix.compile()
