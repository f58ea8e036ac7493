"""What is refused: after loop."""

import amdjit
from amdjit import f32, i32


@amdjit.kernel
def find(a: f32[:], n: i32, out: i32[:]):
    for i in range(n):
        if a[i] == 0.0:
            break
    out[0] = i


def run():
    find.compile()
