"""What is refused: runtime shape."""

import amdjit
from amdjit import f32, i32, static_range


@amdjit.kernel
def unrolled(a: f32[:], n: i32):
    for i in static_range(n):
        a[i] = 0.0


def run():
    unrolled.compile()
