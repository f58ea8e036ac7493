"""What is refused: store float to integer."""

import amdjit
from amdjit import f32, i32


@amdjit.kernel
def store(a: f32[:], out: i32[:]):
    i = amdjit.grid(1)
    out[i] = a[i] * 0.5


def run():
    store.compile()
