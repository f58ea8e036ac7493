"""What is refused: bitcast."""

import amdjit
from amdjit import bitcast, f32, i64


@amdjit.kernel
def bits(a: f32[:], out: i64[:]):
    out[0] = bitcast(a[0], i64)


def run():
    bits.compile()
