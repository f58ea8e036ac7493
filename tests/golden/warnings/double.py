"""f64 arithmetic that promotion alone made."""

import amdjit
from amdjit import f32, i64


@amdjit.kernel
def halves(n: i64[:], out: f32[:]):
    i = amdjit.grid(1)
    out[i] = n[i] * 0.5


def run():
    halves.compile()
